// The first stage of both units: registers the exact products of a row, and c unpacked.
module products #(
    parameter int L = 16,
    parameter int EXP = 8,
    parameter int MAN = 7,
    parameter bit IEEE = 1
) (
    input  logic                            clk,
    input  logic [L*(1+EXP+MAN)-1:0]        a,
    input  logic [L*(1+EXP+MAN)-1:0]        b,
    input  logic [31:0]                     c,
    output logic [L-1:0]                    negative,
    output logic [L-1:0]                    infinite,
    output logic [L-1:0]                    nan,
    output logic [L*12-1:0]                 exponent,
    output logic [L*(2*MAN+2)-1:0]          significand,
    output logic                            c_negative,
    output logic                            c_zero,
    output logic                            c_infinite,
    output logic                            c_nan,
    output logic signed [11:0]              c_exponent,
    output logic [23:0]                     c_significand
);
  localparam int BITS = 1 + EXP + MAN;
  localparam int P = 2 * MAN + 2;

  logic [L-1:0] p_negative, p_infinite, p_nan;
  logic [L*12-1:0] p_exponent;
  logic [L*P-1:0] p_significand;
  logic in_negative, in_zero, in_infinite, in_nan;
  logic signed [11:0] in_exponent;
  logic [23:0] in_significand;

  for (genvar k = 0; k < L; k++) begin : g_product
    multiply #(.EXP(EXP), .MAN(MAN), .IEEE(IEEE)) product (
        .a(a[k*BITS+:BITS]), .b(b[k*BITS+:BITS]), .negative(p_negative[k]), .exponent(p_exponent[k*12+:12]),
        .significand(p_significand[k*P+:P]), .infinite(p_infinite[k]), .nan(p_nan[k]));
  end

  decode #(.EXP(8), .MAN(23)) decode_c (
      .code(c), .negative(in_negative), .exponent(in_exponent), .significand(in_significand), .zero(in_zero),
      .infinite(in_infinite), .nan(in_nan));

  always_ff @(posedge clk) begin
    {negative, infinite, nan} <= {p_negative, p_infinite, p_nan};
    exponent <= p_exponent;
    significand <= p_significand;
    {c_negative, c_zero, c_infinite, c_nan} <= {in_negative, in_zero, in_infinite, in_nan};
    c_exponent <= in_exponent;
    c_significand <= in_significand;
  end
endmodule
