// Computes an exact product, not normalised: (-1)^negative * significand * 2^(exponent - 2 MAN).
module multiply #(
    parameter int EXP = 5,
    parameter int MAN = 10,
    parameter bit IEEE = 1
) (
    input  logic [EXP+MAN:0]   a,
    input  logic [EXP+MAN:0]   b,
    output logic               negative,
    output logic signed [11:0] exponent,
    output logic [2*MAN+1:0]   significand,
    output logic               infinite,
    output logic               nan
);
  logic a_negative, a_zero, a_infinite, a_nan, b_negative, b_zero, b_infinite, b_nan;
  logic signed [11:0] a_exponent, b_exponent;
  logic [MAN:0] a_significand, b_significand;

  decode #(.EXP(EXP), .MAN(MAN), .IEEE(IEEE)) decode_a (
      .code(a), .negative(a_negative), .exponent(a_exponent), .significand(a_significand), .zero(a_zero),
      .infinite(a_infinite), .nan(a_nan));
  decode #(.EXP(EXP), .MAN(MAN), .IEEE(IEEE)) decode_b (
      .code(b), .negative(b_negative), .exponent(b_exponent), .significand(b_significand), .zero(b_zero),
      .infinite(b_infinite), .nan(b_nan));

  assign negative = a_negative ^ b_negative;
  assign exponent = a_exponent + b_exponent;
  assign significand = (2 * MAN + 2)'(a_significand) * (2 * MAN + 2)'(b_significand);
  assign infinite = (a_infinite && !b_zero && !b_nan) || (b_infinite && !a_zero && !a_nan);
  assign nan = a_nan || b_nan || (a_infinite && b_zero) || (a_zero && b_infinite);
endmodule
