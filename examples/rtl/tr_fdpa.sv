// TR-FDPA, revision 2 (docs/algorithms/tr-fdpa.md): d = c + sum a[k]*b[k], k < L, in two stages, as in CDNA 3.
// Products are truncated F bits below their greatest exponent and added. That sum and c are rounded down below the
// greater of their exponents, added, rounded down to F2 bits, and then to nearest to FP32. The unit takes a row every
// clock; its latency is four clocks.
//
// BUG inserts a fault: 1: c is truncated toward zero, not rounded down; 2: products of 2^128 and more are not detected.
module tr_fdpa #(
    parameter int L = 8,
    parameter int EXP = 8,
    parameter int MAN = 7,
    parameter int F = 24,  // at least 23
    parameter int F2 = 31,
    parameter int BUG = 0
) (
    input  logic                       clk,
    input  logic                       rst,
    input  logic                       valid_in,
    input  logic [L*(1+EXP+MAN)-1:0]   a,
    input  logic [L*(1+EXP+MAN)-1:0]   b,
    input  logic [31:0]                c,
    output logic                       valid_out,
    output logic [31:0]                d
);
  localparam int P = 2 * MAN + 2;              // bits of a product's significand
  localparam int W = F + 3 + $clog2(L + 1);    // bits of the sum of products, with a sign
  localparam int T = W + F2 + 1 - F;           // bits of the sum of all terms
  localparam logic signed [11:0] NONE = -2048; // the exponent if there is no product

  // ---- 1: products ----

  logic [L-1:0] negative, of_infinity, infinite, nan;
  logic [L*12-1:0] exponent;
  logic [L*P-1:0] significand;
  logic c_negative, c_zero, c_infinite, c_nan, valid1;
  logic signed [11:0] c_exponent;
  logic [23:0] c_significand;

  products #(.L(L), .EXP(EXP), .MAN(MAN)) products (
      .clk(clk), .a(a), .b(b), .c(c), .negative(negative), .infinite(of_infinity), .nan(nan), .exponent(exponent),
      .significand(significand), .c_negative(c_negative), .c_zero(c_zero), .c_infinite(c_infinite), .c_nan(c_nan),
      .c_exponent(c_exponent), .c_significand(c_significand));

  always_ff @(posedge clk) valid1 <= valid_in && !rst;

  // Products of 2^128 and more are infinite.
  for (genvar k = 0; k < L; k++) begin : overflow
    assign infinite[k] = of_infinity[k] || (BUG != 2 && !nan[k] &&
                         $signed(exponent[k*12+:12]) >= (significand[k*P+P-1] ? 12'sd127 : 12'sd128));
  end

  // ---- 2: the sum of products ----

  logic signed [11:0] greatest;
  logic signed [W-1:0] sum;
  logic [L*(F+P)-1:0] aligned;

  always_comb begin
    greatest = NONE;
    for (int k = 0; k < L; k++)
      if (significand[k*P+:P] != 0 && $signed(exponent[k*12+:12]) > greatest) greatest = $signed(exponent[k*12+:12]);
    sum = '0;
    for (int k = 0; k < L; k++) begin
      aligned[k*(F+P)+:F+P] =
          {significand[k*P+:P], {F{1'b0}}} >> (12'(2 * MAN) + greatest - $signed(exponent[k*12+:12]));
      sum = negative[k] ? sum - W'(aligned[k*(F+P)+:F+P]) : sum + W'(aligned[k*(F+P)+:F+P]);
    end
  end

  logic valid2, nan2, infinite2, negative2, c2_negative;
  logic signed [11:0] greatest2, c2_exponent;
  logic signed [W-1:0] sum2;
  logic [23:0] c2_significand;
  logic plus, minus;

  assign plus = |(infinite & ~negative) || (c_infinite && !c_negative);
  assign minus = |(infinite & negative) || (c_infinite && c_negative);

  always_ff @(posedge clk) begin
    valid2 <= valid1 && !rst;
    nan2 <= |nan || c_nan || (plus && minus);
    infinite2 <= plus || minus;
    negative2 <= minus;
    greatest2 <= greatest;
    sum2 <= sum;
    c2_negative <= c_negative;
    c2_exponent <= c_exponent;
    c2_significand <= c_significand;
  end

  // ---- 3: and c ----

  logic signed [11:0] common;
  logic signed [T-1:0] wide, wide_c, total;

  always_comb begin
    common = greatest2 > c2_exponent ? greatest2 : c2_exponent;
    wide = T'(sum2) <<< (F2 + 1 - F);
    wide = wide >>> (common - greatest2);
    wide_c = $signed(T'({c2_significand, {(F - 23) {1'b0}}}));
    if (BUG == 1) wide_c = wide_c >>> (common - c2_exponent);
    if (c2_negative) wide_c = -wide_c;
    if (BUG != 1) wide_c = wide_c >>> (common - c2_exponent);
    total = wide + (wide_c <<< (F2 + 1 - F));
  end

  logic valid3, nan3, infinite3, negative3;
  logic signed [11:0] common3;
  logic signed [T-1:0] total3;

  always_ff @(posedge clk) begin
    valid3 <= valid2 && !rst;
    nan3 <= nan2;
    infinite3 <= infinite2;
    negative3 <= negative2;
    common3 <= common;
    total3 <= total;
  end

  // ---- 4: rounding down to F2 bits, then to nearest ----

  logic [T-1:0] magnitude;
  logic signed [11:0] bottom, top, shift;
  logic [T-1:0] whole, cut, kept;
  logic [31:0] rounded;

  assign magnitude = total3 < 0 ? -total3 : total3;
  assign bottom = common3 - 12'(F2 + 1);

  always_comb begin
    top = -12'sd126;
    for (int i = 0; i < T; i++) if (magnitude[i] && bottom + 12'(i) > top) top = bottom + 12'(i);
  end

  assign shift = top - 12'(F2) - bottom;
  assign {whole, cut} = shift >= 0 ? {magnitude, {T{1'b0}}} >> shift : {magnitude, {T{1'b0}}} << -shift;
  assign kept = whole + T'(total3 < 0 && cut != 0);

  round_f32 #(.W(T), .NEAREST(1)) round (
      .negative(total3 < 0), .magnitude(kept), .exponent(top - 12'(F2)), .d(rounded));

  always_ff @(posedge clk) begin
    valid_out <= valid3 && !rst;
    d <= nan3 ? 32'h7fc00000 : infinite3 ? {negative3, 31'h7f800000} : rounded;
  end
endmodule
