// Skeleton of a unit under test: d = c + a[0]*b[0] + ... + a[L-1]*b[L-1]. Keep the ports, replace the datapath.
//
// a and b hold L elements of 16 bits each, element 0 in the low bits. One test vector enters with every clock in which
// valid_in is 1. Results leave in the same order, each with valid_out at 1; any latency up to 1,000 clocks will do.
module my_unit #(
    parameter int L = 16
) (
    input  logic            clk,
    input  logic            rst,
    input  logic            valid_in,
    input  logic [L*16-1:0] a,
    input  logic [L*16-1:0] b,
    input  logic [31:0]     c,
    output logic            valid_out,
    output logic [31:0]     d
);
  // A stand-in with a mistake: it retains 24 fraction bits, and an H100 retains 25.
  t_fdpa #(.L(L), .F(24)) datapath (
      .clk(clk), .rst(rst), .valid_in(valid_in), .a(a), .b(b), .c(c), .valid_out(valid_out), .d(d));
endmodule
