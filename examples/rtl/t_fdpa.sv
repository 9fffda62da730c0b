// T-FDPA (docs/algorithms/t-fdpa.md): d = c + sum a[k]*b[k], k < L. Exact products and c are truncated F bits below
// the greatest exponent among them, added, and rounded once to FP32; a negative sum that rounds to zero is +0. The unit
// takes a row every clock; its latency is three clocks.
//
// formal/t_fdpa.points names signals for a proof.
//
// BUG inserts a fault: 1: products are truncated one bit too early; 2: a zero c brings FP32's least exponent, not
// E_ZERO.
module t_fdpa #(
    parameter int L = 16,
    parameter int EXP = 8,
    parameter int MAN = 7,
    parameter int F = 25,
    parameter int E_ZERO = -133,
    parameter bit IEEE = 1, // whether the format has infinities (decode.sv)
    parameter bit NEAREST = 0,
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
  localparam int W = F + 3 + $clog2(L + 1);    // and of the sum, with a sign

  // ---- 1: products ----

  logic [L-1:0] negative, infinite, nan;
  logic [L*12-1:0] exponent;
  logic [L*P-1:0] significand;
  logic c_negative, c_zero, c_infinite, c_nan, valid1;
  logic signed [11:0] c_exponent;
  logic [23:0] c_significand;

  products #(.L(L), .EXP(EXP), .MAN(MAN), .IEEE(IEEE)) products (
      .clk(clk), .a(a), .b(b), .c(c), .negative(negative), .infinite(infinite), .nan(nan), .exponent(exponent),
      .significand(significand), .c_negative(c_negative), .c_zero(c_zero), .c_infinite(c_infinite), .c_nan(c_nan),
      .c_exponent(c_exponent), .c_significand(c_significand));

  always_ff @(posedge clk) valid1 <= valid_in && !rst;

  // ---- 2: alignment and sum ----

  logic signed [11:0] greatest;
  logic signed [W-1:0] sum;
  logic [L*(F+P)-1:0] aligned;
  logic [F+23:0] aligned_c;

  always_comb begin
    greatest = c_zero ? 12'(BUG == 2 ? -126 : E_ZERO) : c_exponent;
    for (int k = 0; k < L; k++) begin
      if (significand[k*P+:P] == 0) begin
        if (greatest < 12'(E_ZERO)) greatest = 12'(E_ZERO);
      end else if ($signed(exponent[k*12+:12]) > greatest) begin
        greatest = $signed(exponent[k*12+:12]);
      end
    end
    aligned_c = {c_significand, {F{1'b0}}} >> (12'sd23 + greatest - c_exponent);
    sum = c_negative ? -(W'(aligned_c)) : W'(aligned_c);
    for (int k = 0; k < L; k++) begin
      aligned[k*(F+P)+:F+P] =
          {significand[k*P+:P], {F{1'b0}}} >> (12'(2 * MAN) + greatest - $signed(exponent[k*12+:12]));
      if (BUG == 1) aligned[k*(F+P)] = 0;
      sum = negative[k] ? sum - W'(aligned[k*(F+P)+:F+P]) : sum + W'(aligned[k*(F+P)+:F+P]);
    end
  end

  logic valid2, nan2, infinite2, negative2;
  logic signed [11:0] greatest2;
  logic signed [W-1:0] sum2;
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
  end

  // ---- 3: rounding ----

  logic [31:0] rounded;
  logic [W-1:0] magnitude;

  assign magnitude = sum2 < 0 ? -sum2 : sum2;

  round_f32 #(.W(W), .NEAREST(NEAREST)) round (
      .negative(sum2 < 0), .magnitude(magnitude), .exponent(greatest2 - 12'(F)), .d(rounded));

  always_ff @(posedge clk) begin
    valid_out <= valid2 && !rst;
    d <= nan2 ? 32'h7fffffff : infinite2 ? {negative2, 31'h7f800000} : rounded[30:0] == 0 ? '0 : rounded;
  end
endmodule
