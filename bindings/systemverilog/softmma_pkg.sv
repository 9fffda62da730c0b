// What matrix units return for d = c + sum a[k]*b[k], for testbenches: SoftMMA through DPI-C (docs/hardware-design.md).
//
// Compile this file and softmma_dpi.c with the testbench, and link libsoftmma. An element is a longint unsigned with the
// encoding in its low bits, whatever the format: 16'h3c00 is 1 in f16. Arrays are open arrays of one dimension, of any
// bounds; their sizes must be exact. Elements lie row behind row: a and b of n rows have n*K, c and d n.
//
// Functions that return int return 0 when done, else something else, and softmma_error() says in one line what is wrong:
//
//     if (softmma_rows(unit, a, b, c, d) != 0) $fatal(1, "%s", softmma_error());
package softmma_pkg;

  // An instruction of a GPU or architecture ("H100"), by any of its names; or, where `gpu` has a slash or ends in ".json",
  // the unit that this file describes (docs/custom-units.md), with "" or the unit's name as the instruction. null if there
  // is none.
  import "DPI-C" function chandle softmma_open(input string gpu, input string instruction);

  // Does nothing with null.
  import "DPI-C" function void softmma_close(input chandle unit);

  // Of the last function that failed; "" before.
  import "DPI-C" function string softmma_error();

  // Its sizes and the bits of its encodings; scale_bits and scale_block are 0 without scale factors, of which a row has
  // k / scale_block for a and as many for b.
  import "DPI-C" function int softmma_describe(input chandle unit, output int m, output int n, output int k,
      output int a_bits, output int b_bits, output int c_bits, output int d_bits, output int scale_bits,
      output int scale_block);

  // One row: a and b have k elements.
  import "DPI-C" function int softmma_dot(input chandle unit, input longint unsigned a[], input longint unsigned b[],
      input longint unsigned c, output longint unsigned d);

  // As many rows as c has elements. Hundreds at a time take a fraction of the time of single ones.
  import "DPI-C" function int softmma_rows(input chandle unit, input longint unsigned a[], input longint unsigned b[],
      input longint unsigned c[], output longint unsigned d[]);

  // One whole instruction, D = A B + C: A is m x k, C and D are m x n, row-major; B is k x n, column behind column.
  import "DPI-C" function int softmma_mma(input chandle unit, input longint unsigned a[], input longint unsigned b[],
      input longint unsigned c[], output longint unsigned d[]);

  // Rows that reach the corners of the formats: `first`, first + 1, ... of a seed, the same on every machine. Of a kind
  // (random, normal, edge, zeros, tiny, cancellation, ill, network, schryer, aimed), or, for "", of the first eight in
  // turn; and the model's results.
  import "DPI-C" function int softmma_make_rows(input chandle unit, input string kind, input longint unsigned seed,
      input longint unsigned first, output longint unsigned a[], output longint unsigned b[],
      output longint unsigned c[], output longint unsigned d[]);

  // The same with scale factors.
  import "DPI-C" function int softmma_dot_scaled(input chandle unit, input longint unsigned a[],
      input longint unsigned b[], input longint unsigned c, input longint unsigned scale_a[],
      input longint unsigned scale_b[], output longint unsigned d);
  import "DPI-C" function int softmma_rows_scaled(input chandle unit, input longint unsigned a[],
      input longint unsigned b[], input longint unsigned c[], input longint unsigned scale_a[],
      input longint unsigned scale_b[], output longint unsigned d[]);
  import "DPI-C" function int softmma_mma_scaled(input chandle unit, input longint unsigned a[],
      input longint unsigned b[], input longint unsigned c[], input longint unsigned scale_a[],
      input longint unsigned scale_b[], output longint unsigned d[]);
  import "DPI-C" function int softmma_make_rows_scaled(input chandle unit, input string kind,
      input longint unsigned seed, input longint unsigned first, output longint unsigned a[],
      output longint unsigned b[], output longint unsigned c[], output longint unsigned scale_a[],
      output longint unsigned scale_b[], output longint unsigned d[]);

  // Whether two results are the same: 1 or 0, bit for bit, but any two NaN where the unit's payloads are not known.
  import "DPI-C" function int softmma_same(input chandle unit, input longint unsigned d, input longint unsigned other);

  // The command that explains row `row` of these, bit by bit; "" on an error.
  import "DPI-C" function string softmma_command(input chandle unit, input longint unsigned a[],
      input longint unsigned b[], input longint unsigned c[], input int unsigned row);
  import "DPI-C" function string softmma_command_scaled(input chandle unit, input longint unsigned a[],
      input longint unsigned b[], input longint unsigned c[], input longint unsigned scale_a[],
      input longint unsigned scale_b[], input int unsigned row);

endpackage
