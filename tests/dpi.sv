// Calls the functions of softmma_pkg and prints their results, and the one line that each mistake gives; tests/rtl.sh
// has the expected output.
module dpi;
  import softmma_pkg::*;

  chandle none, h100, mx, custom;
  int m, n, k, a_bits, b_bits, c_bits, d_bits, scale_bits, scale_block;
  int mismatches = 0;
  longint unsigned one, two;

  // Test vectors for h100: 16 products of f16.
  longint unsigned a[48], b[48], c[3], d[3];
  longint unsigned down[47:0], moved[100:147], d_down[2:0], d_moved[-1:1];
  longint unsigned row_a[16], row_b[16], row_c[1], row_d[1];
  // One instruction: 16 x 8 x 16.
  longint unsigned matrix_a[256], matrix_b[128], matrix_c[128], matrix_d[128];
  // Test vectors for mx: 32 products of e4m3 with a scale factor.
  longint unsigned mx_a[64], mx_b[64], mx_c[2], mx_d[2], mx_e[2], mx_sa[2], mx_sb[2], mx_row_a[32], mx_row_b[32], mx_row_s[1];
  longint unsigned mx_row_t[1];

  function automatic void says(int status);
    $display("%0d %s", status, softmma_error());
  endfunction

  task automatic check(int status, string what);
    if (status != 0) $display("FAILED %s: %s", what, softmma_error());
  endtask

  task automatic equal(longint unsigned x, longint unsigned y, string what);
    if (x != y) begin
      $display("FAILED %s: 0x%x, not 0x%x", what, x, y);
      mismatches++;
    end
  endtask

  initial begin
    $display("'%s'", softmma_error());

    // ---- Opening ----
    none = softmma_open("H1000", "wgmma");
    says(none == null ? 1 : 0);
    none = softmma_open("H100", "mma.m16n8k17.f32.f16.f16.f32");
    says(none == null ? 1 : 0);
    none = softmma_open("no/such.json", "");
    says(none == null ? 1 : 0);
    none = softmma_open("examples/custom/hopper-nearest.json", "other");
    says(none == null ? 1 : 0);
    none = softmma_open("examples/plans/linear.json", "");
    says(none == null ? 1 : 0);
    h100 = softmma_open("H100", "mma.m16n8k16.f32.f16.f16.f32");
    mx = softmma_open("B200", "tcgen05.m128n8k32.block32.f32.e4m3.e4m3.ue8m0");
    if (mx == null) $display("FAILED %s", softmma_error());
    custom = softmma_open("examples/custom/hopper-nearest.json", "hopper-nearest");
    check(softmma_describe(h100, m, n, k, a_bits, b_bits, c_bits, d_bits, scale_bits, scale_block), "describe");
    $display("%0d %0d %0d %0d %0d %0d %0d %0d %0d", m, n, k, a_bits, b_bits, c_bits, d_bits, scale_bits, scale_block);
    check(softmma_describe(mx, m, n, k, a_bits, b_bits, c_bits, d_bits, scale_bits, scale_block), "describe mx");
    $display("%0d %0d %0d %0d %0d", k, a_bits, d_bits, scale_bits, scale_block);
    none = null;
    says(softmma_describe(none, m, n, k, a_bits, b_bits, c_bits, d_bits, scale_bits, scale_block));

    // ---- Computing ----
    // 2^23 - 2^23 - 0.5 - 0.25 - 0.125
    row_a[0] = 'hf000; row_a[1] = 'hb800; row_a[2] = 'hb400; row_a[3] = 'hb000;
    row_b[0] = 'h6400; row_b[1] = 'h3c00; row_b[2] = 'h3c00; row_b[3] = 'h3c00;
    check(softmma_dot(h100, row_a, row_b, 'h4b000000, one), "dot");
    equal(one, 'hbf400000, "dot");
    check(softmma_dot(custom, row_a, row_b, 'h4b000000, one), "dot of a custom unit");
    equal(one, 'hbf400000, "dot of a custom unit");

    // The same test vectors in arrays with other bounds, and one by one.
    check(softmma_make_rows(h100, "", 1, 10, a, b, c, d), "make_rows");
    for (int i = 0; i < 48; i++) begin
      down[i] = a[i];
      moved[100+i] = b[i];
    end
    check(softmma_rows(h100, down, moved, c, d_down), "rows");
    check(softmma_rows(h100, a, b, c, d_moved), "rows");
    for (int r = 0; r < 3; r++) begin
      equal(d_down[r], d[r], "rows of a descending array");
      equal(d_moved[r-1], d[r], "rows to a moved array");
      for (int i = 0; i < 16; i++) begin
        row_a[i] = a[16*r+i];
        row_b[i] = b[16*r+i];
      end
      check(softmma_dot(h100, row_a, row_b, c[r], one), "dot");
      equal(one, d[r], "dot as rows");
      check(softmma_make_rows(h100, "", 1, 10 + 64'(r), row_a, row_b, row_c, row_d), "make_rows");
      for (int i = 0; i < 16; i++) equal(row_a[i], a[16*r+i], "row by row");
      equal(row_d[0], d[r], "row by row");
    end
    check(softmma_make_rows(h100, "zeros", 1, 10, a, b, c, d), "zeros");

    // Element (i, j) of a product is one test vector.
    for (int i = 0; i < 256; i++) matrix_a[i] = 64'(i % 64) << 9;
    for (int i = 0; i < 128; i++) begin
      matrix_b[i] = 64'(i * 7 % 96) << 9 ^ 64'('h8000 * (i % 2));
      matrix_c[i] = 'h3f800000 + 64'(i);
    end
    check(softmma_mma(h100, matrix_a, matrix_b, matrix_c, matrix_d), "mma");
    for (int i = 0; i < 16; i += 5)
      for (int j = 0; j < 8; j += 3) begin
        for (int x = 0; x < 16; x++) begin
          row_a[x] = matrix_a[16*i+x];
          row_b[x] = matrix_b[16*j+x];
        end
        check(softmma_dot(h100, row_a, row_b, matrix_c[8*i+j], one), "dot");
        equal(one, matrix_d[8*i+j], "mma");
      end

    // Scale factors.
    check(softmma_make_rows_scaled(mx, "normal", 0, 0, mx_a, mx_b, mx_c, mx_sa, mx_sb, mx_d), "make_rows_scaled");
    check(softmma_rows_scaled(mx, mx_a, mx_b, mx_c, mx_sa, mx_sb, mx_e), "rows_scaled");
    equal(mx_e[0], mx_d[0], "rows_scaled");
    equal(mx_e[1], mx_d[1], "rows_scaled");
    for (int i = 0; i < 32; i++) begin
      mx_row_a[i] = mx_a[32+i];
      mx_row_b[i] = mx_b[32+i];
    end
    mx_row_s[0] = mx_sa[1];
    mx_row_t[0] = mx_sb[1];
    check(softmma_dot_scaled(mx, mx_row_a, mx_row_b, mx_c[1], mx_row_s, mx_row_t, one), "dot_scaled");
    equal(one, mx_d[1], "dot_scaled");
    $display("%s", softmma_command_scaled(mx, mx_a, mx_b, mx_c, mx_sa, mx_sb, 1));

    // ---- NaN ----
    equal(64'(softmma_same(h100, 'h7fffffff, 'h7fc00000)), 0, "NaN of NVIDIA");
    equal(64'(softmma_same(h100, 1, 1)), 1, "equal");
    none = softmma_open("MI300X", "v_mfma_f32_32x32x8_f16");
    equal(64'(softmma_same(none, 'h7fffffff, 'h7fc00000)), 1, "NaN of AMD");
    softmma_close(none);

    // ---- Mistakes ----
    none = null;
    says(softmma_dot(none, row_a, row_b, 0, two));
    says(softmma_dot(h100, a, row_b, 0, two));
    says(softmma_dot(h100, row_a, row_b, 64'h100000000, two));
    says(softmma_rows(h100, a, b, row_c, d));
    says(softmma_rows(h100, a, b, c, row_d));
    says(softmma_mma(h100, matrix_a, matrix_a, matrix_c, matrix_d));
    moved[105] = 'h10000;
    says(softmma_rows(h100, a, moved, c, d));
    says(softmma_make_rows(h100, "stones", 0, 0, a, b, c, d));
    says(softmma_make_rows(h100, "", 0, 0, a, b, row_c, d));
    says(softmma_rows(mx, mx_a, mx_b, mx_c, mx_d));
    says(softmma_rows_scaled(h100, a, b, c, row_c, row_c, d));
    says(softmma_make_rows(mx, "", 0, 0, mx_a, mx_b, mx_c, mx_d));
    $display("'%s'", softmma_command(h100, a, b, c, 3));
    says(1);
    softmma_close(h100);
    softmma_close(mx);
    softmma_close(custom);
    softmma_close(null);
    $display("mismatches=%0d", mismatches);
    $finish;
  end
endmodule
