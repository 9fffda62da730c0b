// Reads a vector file on standard input and writes the unit's result for each row, one a line, as the unit
// `pipe:COMMAND` of softmma requires. No DPI: any simulator runs it. +in=FILE and +out=FILE name other files.
`ifndef PARAMETERS
`define PARAMETERS
`endif
module answer #(
    parameter int K = 16,
    parameter int BITS = 16,
    parameter int BUG = 0
);
  reg clk = 0, rst = 1, valid_in = 0;
  wire valid_out;
  reg [K*BITS-1:0] a_in, b_in;
  reg [31:0] c_in;
  wire [31:0] d_out;

  `UNIT #(.L(K), .BUG(BUG) `PARAMETERS) unit (
      .clk(clk), .rst(rst), .valid_in(valid_in), .a(a_in), .b(b_in), .c(c_in), .valid_out(valid_out), .d(d_out));

  integer in, out, letter, k, sent = 0, got = 0;
  reg more = 1;
  reg [63:0] x;
  reg [8*1024-1:0] header, path;

  // Reads one number of a row; fails at the end of the input.
  task read(output reg [63:0] number);
    if (more && $fscanf(in, "%h", number) != 1) more = 0;
  endtask

  initial begin
    if (!$value$plusargs("in=%s", path)) path = "/dev/stdin";
    in = $fopen(path, "r");
    if (!$value$plusargs("out=%s", path)) path = "/dev/stdout";
    out = $fopen(path, "w");
    letter = $fgetc(in);
    while (letter == "#") begin // "# key: value"
      k = $fgets(header, in);
      letter = $fgetc(in);
    end
    if (letter >= 0) k = $ungetc(letter, in);
    forever #1 clk = !clk;
  end

  always @(posedge clk) begin
    rst <= 0;
    if (!rst) begin
      for (k = 0; k < 2 * K; k = k + 1) begin
        read(x);
        if (k < K) a_in[k*BITS+:BITS] <= x[BITS-1:0];
        else b_in[(k-K)*BITS+:BITS] <= x[BITS-1:0];
      end
      read(x);
      c_in <= x[31:0];
      valid_in <= more;
      if (more) sent = sent + 1;
    end
    if (valid_out) begin
      $fdisplay(out, "%h", d_out);
      got = got + 1;
    end
    if (!more && got == sent) begin
      $fclose(out);
      $finish(0);
    end
  end
endmodule
