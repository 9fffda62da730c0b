// Unpacks an encoding of IEEE 754's form: (-1)^negative * significand * 2^(exponent - MAN). Subnormals have the least
// exponent and are not normalised. With IEEE = 0 the greatest exponent is that of numbers, too, and only an encoding of
// ones is NaN, as in E4M3.
module decode #(
    parameter int EXP = 5,
    parameter int MAN = 10,
    parameter bit IEEE = 1
) (
    input  logic [EXP+MAN:0]   code,
    output logic               negative,
    output logic signed [11:0] exponent,
    output logic [MAN:0]       significand,
    output logic               zero,
    output logic               infinite,
    output logic               nan
);
  localparam int BIAS = 2 ** (EXP - 1) - 1;

  logic [EXP-1:0] field;
  logic [MAN-1:0] fraction;

  assign {negative, field, fraction} = code;
  assign exponent = 12'(field) + 12'(field == 0) - 12'(BIAS);
  assign significand = {field != 0, fraction};
  assign zero = field == 0 && fraction == 0;
  assign infinite = IEEE && &field && fraction == 0;
  assign nan = &field && (IEEE ? fraction != 0 : &fraction);
endmodule
