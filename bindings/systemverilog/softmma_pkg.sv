// The results of matrix units, d = c + sum a[k]*b[k], for testbenches: SoftMMA through DPI-C (docs/hardware-design.md).
//
// Compile this file and softmma_dpi.c with the testbench, and link libsoftmma. An element is a longint unsigned with
// the encoding in its low bits, whatever the format: 16'h3c00 is 1 in f16. Arrays are open arrays of one dimension, of
// any bounds; their sizes must be exact. n test vectors are stored one after another: a and b have n*K elements, c and
// d have n.
//
// A function with a result of type int returns 0 if it succeeds. If not, softmma_error() returns a line that says what
// is wrong:
//
//     if (softmma_rows(unit, a, b, c, d) != 0) $fatal(1, "%s", softmma_error());
package softmma_pkg;

  // Returns the instruction with this name or alias, of a GPU or architecture ("H100"). If `gpu` has a slash or ends in
  // ".json", it is the file of a custom unit (docs/custom-units.md), and `instruction` is "" or the unit's name.
  // Returns null if there is no such instruction or unit.
  import "DPI-C" function chandle softmma_open(input string gpu, input string instruction);

  // Does nothing with null.
  import "DPI-C" function void softmma_close(input chandle unit);

  // Returns the error line of the last function that failed; "" if no function has failed.
  import "DPI-C" function string softmma_error();

  // Returns the unit's sizes, and the number of bits of each operand's encodings. A test vector has k / scale_block
  // scale factors for a and as many for b. Without scale factors, scale_bits and scale_block are 0.
  import "DPI-C" function int softmma_describe(input chandle unit, output int m, output int n, output int k,
      output int a_bits, output int b_bits, output int c_bits, output int d_bits, output int scale_bits,
      output int scale_block);

  // Computes one test vector: a and b have k elements.
  import "DPI-C" function int softmma_dot(input chandle unit, input longint unsigned a[], input longint unsigned b[],
      input longint unsigned c, output longint unsigned d);

  // Computes as many test vectors as c has elements. One call for hundreds of vectors is much faster than a call for
  // each.
  import "DPI-C" function int softmma_rows(input chandle unit, input longint unsigned a[], input longint unsigned b[],
      input longint unsigned c[], output longint unsigned d[]);

  // Computes one whole instruction, D = A B + C. A is m x k, C and D are m x n, all row-major; B is k x n and
  // column-major.
  import "DPI-C" function int softmma_mma(input chandle unit, input longint unsigned a[], input longint unsigned b[],
      input longint unsigned c[], output longint unsigned d[]);

  // Generates test vectors that reach the limits of the formats, and the model's results d. They are the vectors
  // `first`, first + 1, ... of a seed, and are the same on every machine. `kind` is random, normal, edge, zeros, tiny,
  // cancellation, ill, network, schryer or aimed; "" means the first eight kinds in turn.
  import "DPI-C" function int softmma_make_rows(input chandle unit, input string kind, input longint unsigned seed,
      input longint unsigned first, output longint unsigned a[], output longint unsigned b[],
      output longint unsigned c[], output longint unsigned d[]);

  // The functions above, with scale factors.
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

  // Returns 1 if two results count as the same, otherwise 0. They must be equal bit for bit, except that any two NaN
  // are the same if the unit's NaN payloads are not known.
  import "DPI-C" function int softmma_same(input chandle unit, input longint unsigned d, input longint unsigned other);

  // Returns the command that explains test vector number `row` of these arrays, bit by bit; "" on an error.
  import "DPI-C" function string softmma_command(input chandle unit, input longint unsigned a[],
      input longint unsigned b[], input longint unsigned c[], input int unsigned row);
  import "DPI-C" function string softmma_command_scaled(input chandle unit, input longint unsigned a[],
      input longint unsigned b[], input longint unsigned c[], input longint unsigned scale_a[],
      input longint unsigned scale_b[], input int unsigned row);

endpackage
