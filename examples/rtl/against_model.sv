// Compares a unit with its model, one row a clock. Rows and the model's results come through DPI, a batch at a time. It
// stops at the first mismatch, with the command that explains it.
//
//     +gpu=H100 +instruction=NAME    the model (softmma_open)
//     +rows=N +seed=S +kind=KIND     the rows (default: a million rows of seed 0 and of all kinds)
//     +repeat                        repeats the first batch, to measure the time of the simulator alone
`ifndef PARAMETERS
`define PARAMETERS
`endif
module against_model #(
    parameter int K = 16,
    parameter int BITS = 16,
    parameter int BATCH = 256,
    parameter int BUG = 0
);
  import softmma_pkg::*;

  bit clk = 0;
  logic rst = 1, valid_in = 0, valid_out;
  logic [K*BITS-1:0] a_in, b_in;
  logic [31:0] c_in, d_out;

  `UNIT #(.L(K), .BUG(BUG) `PARAMETERS) unit (
      .clk(clk), .rst(rst), .valid_in(valid_in), .a(a_in), .b(b_in), .c(c_in), .valid_out(valid_out), .d(d_out));

  chandle model;
  string gpu, instruction, kind;
  longint unsigned rows = 1000000, seed = 0, first = 0;
  int batch = 0, through = 0; // number of batches received, and of batches the unit has computed
  int sent = 0, got = 0;      // rows of the batch
  bit differs = 0;            // row `got` is a mismatch; its result follows
  logic [31:0] other;
  localparam int MOST_CLOCKS = 1000; // more than the unit's latency
  int silent = 0;
  longint unsigned a[BATCH*K], b[BATCH*K], c[BATCH], d[BATCH];

  function automatic void check(int status);
    if (status != 0) $fatal(1, "%s", softmma_error());
  endfunction

  function automatic void open();
    int m, n, k, a_bits, b_bits, c_bits, d_bits, scale_bits, scale_block;
    model = softmma_open(gpu, instruction);
    if (model == null) $fatal(1, "%s", softmma_error());
    check(softmma_describe(model, m, n, k, a_bits, b_bits, c_bits, d_bits, scale_bits, scale_block));
    if (k != K || a_bits != BITS || b_bits != BITS || c_bits != 32 || d_bits != 32 || scale_block != 0)
      $fatal(1, "%s has K = %0d and %0d, %0d, %0d, %0d bits; the unit has K = %0d and %0d, %0d, 32, 32", instruction, k,
             a_bits, b_bits, c_bits, d_bits, K, BITS, BITS);
  endfunction

  initial begin
    if (!$value$plusargs("gpu=%s", gpu)) gpu = "";
    if (!$value$plusargs("instruction=%s", instruction)) instruction = "";
    if (!$value$plusargs("kind=%s", kind)) kind = "";
    void'($value$plusargs("rows=%d", rows));
    void'($value$plusargs("seed=%d", seed));
    open();
    for (first = 0; first < rows; first += 64'(BATCH)) begin
      if (first == 0 || $test$plusargs("repeat") == 0) check(softmma_make_rows(model, kind, seed, first, a, b, c, d));
      batch++;
      wait (through == batch || differs);
      if (differs) begin
        $display("row %0d of seed %0d: the unit has 0x%08x, the model 0x%08x", first + 64'(got), seed, other, d[got][31:0]);
        $display("%s", softmma_command(model, a, b, c, got));
        $fatal(1, "a result differs");
      end
    end
    $display("rows=%0d mismatches=0", rows);
    softmma_close(model);
    $finish;
  end

  initial forever #1 clk = !clk;

  // Sends a batch, one row a clock.
  always @(posedge clk) begin
    rst <= 0;
    valid_in <= !rst && through != batch && sent < BATCH;
    if (!rst && through != batch && sent < BATCH) begin
      for (int k = 0; k < K; k++) begin
        a_in[k*BITS+:BITS] <= a[sent*K+k][BITS-1:0];
        b_in[k*BITS+:BITS] <= b[sent*K+k][BITS-1:0];
      end
      c_in <= c[sent][31:0];
      sent <= sent + 1;
    end
    silent <= valid_out ? 0 : silent + 1;
    if (silent > MOST_CLOCKS) $fatal(1, "no result for %0d clocks", MOST_CLOCKS);
    if (valid_out && !differs) begin
      got <= got + 1;
      if (got + 1 == BATCH) begin
        sent <= 0;
        got <= 0;
        through <= batch;
      end
      if (64'(d_out) != d[got] && first + 64'(got) < rows) begin
        if (softmma_same(model, 64'(d_out), d[got]) == 0) begin
          differs <= 1;
          other <= d_out;
          got <= got;
        end
      end
    end
  end
endmodule
