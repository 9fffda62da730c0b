// Rounds (-1)^negative * magnitude * 2^exponent once to FP32: toward zero, or to nearest, ties to even. Overflow gives
// infinity; zero gives +0.
module round_f32 #(
    parameter int W = 32,
    parameter bit NEAREST = 0
) (
    input  logic               negative,
    input  logic [W-1:0]       magnitude,
    input  logic signed [11:0] exponent,
    output logic [31:0]        d
);
  logic signed [11:0] top;    // the exponent of the leading bit, or of the least normal number
  logic signed [11:0] shift;  // number of truncated bits
  logic [W+24:0] whole;       // 24 bits, followed by the truncated bits
  logic [W:0] cut;
  logic up;
  logic [11:0] field;
  logic [33:0] fields;

  always_comb begin
    top = -12'sd126;
    for (int i = 0; i < W; i++) if (magnitude[i] && exponent + 12'(i) > top) top = exponent + 12'(i);
  end

  assign shift = top - 12'sd23 - exponent;
  assign {whole, cut} = shift >= 0 ? {25'b0, magnitude, {(W + 1) {1'b0}}} >> shift
                                   : {25'b0, magnitude, {(W + 1) {1'b0}}} << -shift;
  assign up = NEAREST && cut[W] && (whole[0] || cut[W-1:0] != 0);
  // The leading bit adds one to the exponent's field, and so does a carry out of the fraction.
  assign field = top + 12'sd126;
  assign fields = (34'(field) << 23) + 34'(whole[33:0]) + 34'(up);
  assign d = magnitude == 0 ? '0 : {negative, fields >= 34'h7f800000 ? 31'h7f800000 : fields[30:0]};
endmodule
