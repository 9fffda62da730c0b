/* What the explorer's pages call: one row, computed and drawn by one unit or two. A page has one explorer, whose state
   is here. Texts that are returned stay until the same function is called again; those that say what is wrong are one
   line, empty where nothing is. */
#ifndef SMMA_SITE_EXPLORER_H
#define SMMA_SITE_EXPLORER_H

#include <stddef.h>
#include <stdint.h>

/* {"version", "architectures": [{"name", "title", "vendor", "gpus": [...]}], "instructions": [{"arch", "name", "k",
   "a", "b", "c", "d", "scale", "model", "parameters", "sparse"}], "kinds": [...]}; of names that differ in N alone the
   first. */
const char *site_catalogue(void);

/* Sets unit `slot`, 0 or 1, to an instruction of a GPU or architecture; to a custom unit, as JSON
   (docs/custom-units.md). */
const char *site_choose(int slot, const char *gpu, const char *name);
const char *site_customise(int slot, const char *text);

/* {"label", "arch", "name", "m", "n", "k", "a", "b", "c", "d", "scale", "model", "parameters", "evidence", "questions",
   "custom": the instruction as a custom unit}. */
const char *site_about(int slot);

/* The first `count` units take the same rows: of their greatest K, where another's is less several calls in a row, each
   with the result of the one before as c. Says why not if they cannot. The row is then theirs, and where its formats or
   K are others it is zero, with scale factors of one. */
const char *site_pair(int count);

/* {"k", "d", "parts": [{"name", "format", "count", "bits", "sign", "exponent", "fraction", "integer"}]}: a, b, c, and
   scale_a and scale_b where units have them; of an encoding the bits that count are the upper ones. */
const char *site_layout(void);

/* An element as hexadecimal digits and as a value: {"hex", "value"}. */
const char *site_element(int part, int index);

/* Sets an element to raw hexadecimal digits, or to a value ("0.1", "0x1p-3", "inf", "nan") rounded to nearest even:
   0, 1 if it was rounded, or -1, with nothing set, if it is not one. */
int site_set_hex(int part, int index, const char *digits);
int site_set_value(int part, int index, const char *text);

/* Turns one bit over, 0 the lowest. */
void site_flip(int part, int index, int bit);

/* Operands as smma_make_rows makes them: a kind, or zeros with scale factors of one for "none". */
void site_make(const char *kind, unsigned seed);

/* Computes the row on the first `count` units of site_pair: {"difference": where they part, "results": [{"label",
   "hex", "value", "bits"}], "exact": the same, or null}. */
const char *site_explain(int count);

/* Of what was explained: the picture of a unit, or of both under one axis for `slot` 2, as SVG; the drawing as text. */
const char *site_picture(int slot);
const char *site_words(void);

/* Opens a vector file as text: {"arch", "instruction", "rows": how many, "recorded_on"}, or {"error"}; then takes row
   `index`, from 0 on, whose units must have been chosen. */
const char *site_open(const char *text);
const char *site_take(int index);

/* The keys of an algorithm as custom units have it: [{"key", "kind", "least", "most", "word", "choices", "default"}].
 */
const char *site_keys(const char *algorithm);

/* D = A*B of M x K and K x N numbers, row-major, rounded to the formats of unit `slot` (to nearest, 8 bits and less
   saturating), by one chain of calls from +0; K is filled with zeros. `d` gets values, `codes` encodings. */
const char *site_product(int slot, int m, int n, int k, const double *a, const double *b, double *d, uint64_t *codes);

#endif
