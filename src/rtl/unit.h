/* A composition as SystemVerilog: the parts that all writers of modules share.

   A node (core/composition.h) is a vector. Its fields, from the low bits: the significand, the exponent in two's
   complement, then flags: negative, zero, infinite, NaN; if products can be beyond a limit that joins, two bits with
   their signs; if the unit returns NaN of operands, the flags `invalid` and `of_a` and the left-aligned payload. */
#ifndef SMMA_RTL_UNIT_H
#define SMMA_RTL_UNIT_H

#include "core/rule.h"
#include "rtl/writer.h"
#include "softmma/status.h"

/* The static bounds of a node's fields. */
typedef struct {
  int fraction;    /* fraction bits of the significand */
  int width;       /* bits of the significand */
  int least, most; /* range of the own exponent */
  int zero_least;  /* the least exponent of a node that is zero; SMMA_NO_EXPONENT if such a node may lack an exponent */
  bool special;    /* the node may be infinite or NaN */
} smma_rtl_shape;

/* The vector that a sum passes to its rounding: {special, special code, negative zero, negative, exponent, magnitude}.
   The exponent is that of the magnitude's last bit. */
typedef struct {
  int width;       /* bits of the magnitude */
  int least, most; /* range of the exponent */
  bool special;    /* if false, the first two fields are absent */
} smma_rtl_total;

typedef struct {
  smma_operation o;
  smma_composition p;
  char name[128]; /* of the module */
  int exponent_bits;
  int reach;              /* the greatest magnitude of an exponent, or of a difference of exponents, so far */
  int payload_bits;       /* 0: the unit returns only one NaN */
  int register_positions; /* positions where registers may be, from the first pass */
  bool no_exponent;       /* SMMA_NO_EXPONENT is a value of exponents, because the exponents of zeros matter */
  smma_rtl_writer body, modules;
} smma_rtl_unit;

/* Notes the range of an exponent, so that exponents get enough bits. */
void smma_rtl_reach(smma_rtl_unit *u, int least, int most);

/* Returns a signed constant of the width of exponents. */
smma_rtl_words smma_rtl_exponent(const smma_rtl_unit *u, int value);

/* ---- Nodes ---- */

/* Returns the number of bits of a node, and the places of its fields above the significand. */
int smma_rtl_node_bits(const smma_rtl_unit *u, smma_rtl_shape s);
int smma_rtl_flags_at(const smma_rtl_unit *u, smma_rtl_shape s);   /* flags: negative, then zero, infinite, NaN */
int smma_rtl_beyond_at(const smma_rtl_unit *u, smma_rtl_shape s);  /* only for a limit that joins */
int smma_rtl_invalid_at(const smma_rtl_unit *u, smma_rtl_shape s); /* flags: invalid, of_a; only with payloads */
int smma_rtl_payload_at(const smma_rtl_unit *u, smma_rtl_shape s);

bool smma_rtl_has_beyond(const smma_rtl_unit *u);

/* Reports whether the unit has no special values: their encodings are numbers, too. */
bool smma_rtl_has_only_numbers(const smma_rtl_unit *u);

/* Returns an encoding as the unit reads it. */
smma_encoding smma_rtl_encoding_of(const smma_rtl_unit *u, smma_format format);

/* Returns the shape of a format's numbers, and the least shape that holds both. */
smma_rtl_shape smma_rtl_shape_of(const smma_rtl_unit *u, smma_format format);
smma_rtl_shape smma_rtl_union(smma_rtl_shape x, smma_rtl_shape y);

/* Returns the greatest exponent of a leading bit. */
int smma_rtl_leading(smma_rtl_shape s);

/* ---- Modules. Each function writes a module, unless it is already written, and returns its name. ---- */

/* Returns a module's name without the unit's name at its beginning, for example "step1". */
const char *smma_rtl_step(const smma_rtl_unit *u, const char *name);

/* Begins a module. Returns false if the module is already written. */
bool smma_rtl_begin(smma_rtl_unit *u, const char *name, const char *comment);

/* Returns the condition that an encoding, the vector `code`, is a NaN; an empty text if the format has no NaN. */
smma_rtl_words smma_rtl_is_nan(smma_encoding f, const char *code);

/* Unpacks an encoding to a node of the shape `to`; port `code`, port `x`. */
smma_rtl_words smma_rtl_decode(smma_rtl_unit *u, smma_format format, smma_subnormal_policy flush, smma_rtl_shape to);

/* Converts c to the format of d; ports `c` and `code`. */
smma_rtl_words smma_rtl_convert_c(smma_rtl_unit *u);

/* What the rule does with the factors of a (side 0) or b (side 1). */
typedef struct {
  char letter; /* 'a' or 'b' */
  smma_format format;
  smma_subnormal_policy flush;
  int block_bits;              /* 0: factors are not aligned in blocks */
  int slice_bits;              /* 0: factors are whole */
  int first_slice, last_slice; /* of all phases */
} smma_rtl_side;

smma_rtl_side smma_rtl_side_of(const smma_rtl_unit *u, int side);

/* Unpacks an element of a or b to a factor, and converts it if the rule widens factors; ports `code` and `x`. */
smma_rtl_words smma_rtl_factor(smma_rtl_unit *u, int side, smma_rtl_shape *shape);

/* Aligns the factors of a block to its greatest exponent; ports `factors` and `aligned`. */
smma_rtl_words smma_rtl_block(smma_rtl_unit *u, int side, smma_rtl_shape factor, smma_rtl_shape *aligned);

/* Takes slice number INDEX, a parameter, of a factor; ports `x` and `slice`. */
smma_rtl_words smma_rtl_slice(smma_rtl_unit *u, int side, smma_rtl_shape factor, smma_rtl_shape *slice);

/* Returns the number of factors in a block. */
int smma_rtl_block_elements(const smma_rtl_unit *u);

/* Reports whether products multiply slices of factors. */
bool smma_rtl_has_slices(const smma_rtl_unit *u);

/* Multiplies two elements; ports `a`, `b` and `product`. */
smma_rtl_words smma_rtl_product(smma_rtl_unit *u, smma_rtl_shape *product);

/* Multiplies two factors or, in phase number PHASE, a parameter, their slices; ports `a`, `b` and `product`. */
smma_rtl_words smma_rtl_product_of_factors(smma_rtl_unit *u, const smma_rtl_shape factor[2], smma_rtl_shape *product);

/* Multiplies a node by scale factors; ports `x`, `scale_a`, `scale_b` and `scaled`. */
smma_rtl_words smma_rtl_scale(smma_rtl_unit *u, smma_rtl_shape x, smma_rtl_shape *scaled);

/* Returns the shape of a sum's node, for a step that does not round. */
smma_rtl_shape smma_rtl_sum_shape(smma_rtl_unit *u, const smma_step *s, smma_rtl_shape term,
                                  const smma_rtl_shape *accumulator);

/* Writes the module that aligns and adds the terms of one group, and the accumulator if there is one. Its ports are
   `terms`, `accumulator` and `sum`. If the step does not round, the sum is a node of the shape `node`; otherwise
   `*total` describes it. */
smma_rtl_words smma_rtl_sum(smma_rtl_unit *u, const char *name, int step, smma_rtl_shape term,
                            const smma_rtl_shape *accumulator, smma_rtl_shape node, smma_rtl_total *total);

/* Writes the module that rounds a sum. Its ports are `sum` and `code`. */
smma_rtl_words smma_rtl_round(smma_rtl_unit *u, const char *name, int step, smma_rtl_total total);

int smma_rtl_total_bits(const smma_rtl_unit *u, smma_format output, smma_rtl_total total);

/* ---- Parts of modules ---- */

/* How a magnitude becomes an encoding. */
typedef struct {
  smma_format format;
  smma_rounding rounding;
  smma_sum_overflow overflow;
  smma_subnormal_policy flush;
  bool early_underflow;
  smma_zero_sign zero_sign;
} smma_rtl_rounding;

/* Writes statements that round `significand`, of `from` bits with `zeros` zeros appended, after a shift to the right by
   `right` bits; `negative` is its sign. Declares `rounded`, of from + zeros + 1 bits. */
void smma_rtl_put_shift(smma_rtl_unit *u, smma_rounding rounding, int from, int zeros);

/* Writes statements that encode (-1)^negative * magnitude * 2^exponent: reads `negative`, `exponent` and `magnitude` of
   `width` bits, declares and assigns `finite_code`. */
void smma_rtl_put_encode(smma_rtl_unit *u, const smma_rtl_rounding *r, int width, int least, int most);

/* Writes statements that round `magnitude` to narrow_bits and assign `narrowed` and `narrowed_exponent`. Returns the
   bounds of these two. */
smma_rtl_total smma_rtl_put_narrow(smma_rtl_unit *u, const smma_step *s, smma_rtl_total total);

/* Returns the condition under which rounding adds a unit: of the signals `negative`, and, with the prefix, `odd` (the
   last bit), `half` and `rest`. */
smma_rtl_words smma_rtl_rounds_up(smma_rounding direction, const char *prefix);

/* ---- The unit ---- */

/* Writes the body of the unit's module into u->body. `stages` registers; returns how many there may be. */
int smma_rtl_put_unit(smma_rtl_unit *u, int stages);

#endif
