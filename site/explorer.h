/* Interface of the explorer's pages: one row, computed and drawn by one or two units. A page has one explorer, whose
   state is here. A returned text is valid until the same function is called again. An error text is one line; it is
   empty if there is no error. */
#ifndef SMMA_SITE_EXPLORER_H
#define SMMA_SITE_EXPLORER_H

#include <stddef.h>
#include <stdint.h>

/* Returns {"version", "architectures": [{"name", "title", "vendor", "gpus": [...], "basis"}], "instructions": [{"arch",
   "name", "k", "a", "b", "c", "d", "scale", "model", "parameters", "sparse"}], "kinds": [...]}. An instruction that
   exists for many N has its least N alone. The basis is the best of the architecture's instructions. */
const char *site_catalogue(void);

/* Set unit `slot`, 0 or 1: site_choose to an instruction of a GPU or architecture, site_customise to a custom unit, as
   JSON (docs/custom-units.md). Return an error text. */
const char *site_choose(int slot, const char *gpu, const char *name);
const char *site_customise(int slot, const char *text);

/* Returns {"label", "arch", "name", "k", "a", "b", "c", "d", "scale", "model", "parameters", "sum": the sum in words,
   "custom": the instruction as a custom unit}. */
const char *site_about(int slot);

/* Gives the first `count` units the same row, whose K is the greatest of their K. A unit with a smaller K computes the
   row in several calls, each with the previous result as c. Returns an error text if the units cannot share a row. If
   its formats or K change, the row becomes zero, with scale factors of one. */
const char *site_pair(int count);

/* Returns {"k", "d", "parts": [{"name", "format", "count", "bits", "sign", "exponent", "fraction", "integer"}]}: a, b,
   c, and, if the units have scale factors, scale_a and scale_b. The upper bits of an encoding are the used ones. */
const char *site_layout(void);

/* Returns an element as hexadecimal digits and as a value: {"hex", "value"}. */
const char *site_element(int part, int index);

/* Returns {"exact": all decimal digits, "hexfloat", "up", "down"}. "up" and "down" are the distances to the next
   greater and the next smaller magnitude of the format, or null if the format has no such magnitude. */
const char *site_details(int part, int index);

/* Set an element to raw hexadecimal digits, or to a value ("0.1", "0x1p-3", "inf", "nan"), rounded as the command
   rounds operands of the first unit. Return 0, or 1 if the value was rounded; -1 if the text is invalid, and then
   nothing is set. */
int site_set_hex(int part, int index, const char *digits);
int site_set_value(int part, int index, const char *text);

/* Inverts one bit; bit 0 is the lowest. */
void site_flip(int part, int index, int bit);

/* Fills the row as smma_make_rows does for a kind. For "none" the elements are zero and the scale factors one. */
void site_make(const char *kind, unsigned seed);

/* Computes the row on the first `count` units of site_pair: {"difference": the first differing step, "results":
   [{"label", "hex", "value", "bits"}], "exact": as one of results, or null}. */
const char *site_explain(int count);

/* Return the explanation. site_picture returns an SVG picture of unit `slot`, or, if `slot` is 2, of both units under
   one axis. It is at most `width` pixels wide if the bits fit (0: no limit). site_words returns the explanation as
   text. */
const char *site_picture(int slot, int width);
const char *site_words(void);

/* site_open opens a vector file, passed as text, and returns {"arch", "instruction", "rows": their number,
   "recorded_on"}, or {"error"}. site_take then loads row `index`, counted from 0; the page must have chosen the units
   before. */
const char *site_open(const char *text);
const char *site_take(int index);

/* Returns the keys of an algorithm in custom units: [{"key", "kind", "least", "most", "word", "choices", "default"}].
 */
const char *site_keys(const char *algorithm);

/* Computes D = A*B of M x K and K x N numbers, row-major, rounded to the formats of unit `slot` (to nearest; formats of
   at most 8 bits saturate), by one chain of calls from +0; K is padded with zeros. `d` receives values, `codes`
   encodings. */
const char *site_product(int slot, int m, int n, int k, const double *a, const double *b, double *d, uint64_t *codes);

#endif
