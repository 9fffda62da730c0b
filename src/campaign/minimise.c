/* Minimises a vector for which the results of two units differ. */
#include <string.h>

#include "campaign/campaign.h"
#include "host/load.h"
#include "rows/check.h"
#include "rows/rows.h"

/* FORMS: greatest number of simpler forms of an element. MOST_CANDIDATES: greatest number of candidates of a round, in
   which each term is removed, c is removed, or an element is replaced by a simpler form. */
enum { FORMS = 5, MOST_CANDIDATES = (2 * SMMA_MAXIMUM_K + 1) * FORMS + SMMA_MAXIMUM_K + 1 };

typedef struct {
  const smma_instruction *instruction;
  smma_rows rows;
  size_t count;
} candidates;

static void propose(candidates *c, const smma_row *row) { smma_rows_put(&c->rows, c->count++, row); }

static bool is_zero(smma_format format, uint64_t x) {
  return smma_decode(smma_encoding_of(format), x).kind == SMMA_ZERO;
}

/* Lists simpler forms of a fixed-point number: fewer bits of the magnitude, no sign. */
static int simpler_integers(smma_encoding f, uint64_t x, uint64_t form[FORMS]) {
  const smma_number n = smma_decode(f, x);
  const uint64_t m = n.significand;
  int count = 0;
  if (m == 0) return 0;
  form[count++] = smma_sign_and_fields(f, n.negative, m & (m - 1));  /* without its last bit */
  form[count++] = smma_sign_and_fields(f, n.negative, m & (~m + 1)); /* with its last bit only */
  if (n.negative) form[count++] = smma_sign_and_fields(f, false, m);
  return count;
}

/* Lists simpler forms of a number. Each form is simpler by one measure, and not less simple by those before it
   (fewer fraction bits, the exponent of 1, no sign), so rounds come to an end. */
static int simpler_forms(smma_format format, uint64_t x, uint64_t form[FORMS]) {
  const smma_encoding f = smma_encoding_of(format);
  const uint64_t fraction = smma_low_bits(~UINT64_C(0), f.fraction_bits) << f.ignored_bits;
  const uint64_t exponents = smma_low_bits(~UINT64_C(0), f.exponent_bits) << (f.fraction_bits + f.ignored_bits);
  const uint64_t one = smma_encode_one(f, false) & exponents, as_one = (x & ~exponents) | one;
  const uint64_t sign = (uint64_t)(f.sign_bits != 0) << (f.exponent_bits + f.fraction_bits + f.ignored_bits);
  int count = 0;
  if (smma_is_fixed_point(format)) return simpler_integers(f, x, form);
  if (smma_decode(f, x).kind != SMMA_FINITE) return 0;
  if (x & fraction) {
    form[count++] = x & ~fraction;
    form[count++] = x & (x - 1);                                              /* without its last bit */
    form[count++] = (x & ~fraction) | (x & fraction & (~(x & fraction) + 1)); /* with its last bit only */
  }
  if (as_one != x && smma_decode(f, as_one).kind == SMMA_FINITE) form[count++] = as_one;
  if (x & sign) form[count++] = x & ~sign;
  return count;
}

static void propose_forms(candidates *c, smma_row *row, smma_format format, uint64_t *element) {
  const uint64_t before = *element;
  uint64_t form[FORMS];
  const int count = simpler_forms(format, before, form);
  for (int i = 0; i < count; i++) {
    if (form[i] == before) continue;
    *element = form[i];
    propose(c, row);
  }
  *element = before;
}

static void propose_all(candidates *c, const smma_row *row) {
  const smma_instruction *i = c->instruction;
  smma_row x = *row;
  c->count = 0;
  for (int k = 0; k < i->k; k++) {
    if (x.a[k] == 0 && x.b[k] == 0) continue;
    x.a[k] = x.b[k] = 0;
    propose(c, &x);
    x.a[k] = row->a[k], x.b[k] = row->b[k];
  }
  if (x.c != 0) {
    x.c = 0;
    propose(c, &x);
    x.c = row->c;
  }
  for (int k = 0; k < i->k; k++) {
    if (!is_zero(i->a, x.a[k])) propose_forms(c, &x, i->a, &x.a[k]);
    if (!is_zero(i->b, x.b[k])) propose_forms(c, &x, i->b, &x.b[k]);
  }
  if (!is_zero(i->c, x.c)) propose_forms(c, &x, i->c, &x.c);
}

bool smma_minimise_while(smma_unit *unit, smma_unit *against, const smma_instruction *i, const smma_row_judge *judge,
                         smma_row *row, uint64_t *expected, smma_error *error) {
  const smma_operation o = smma_operation_of(i);
  const size_t bytes = smma_bytes_of(i->d);
  unsigned char other[MOST_CANDIDATES * 8];
  candidates c = {.instruction = i};
  bool done = smma_rows_allocate(i, MOST_CANDIDATES, &c.rows), simpler = true;
  if (!done) return smma_fail(error, "no memory to simplify a row of %s", i->name);
  while (simpler) {
    propose_all(&c, row);
    done = smma_unit_ask(unit, &c.rows, 0, c.count, NULL, error) &&
           smma_unit_ask(against, &c.rows, 0, c.count, other, error);
    simpler = false;
    if (judge && judge->asked) *judge->asked += c.count;
    for (size_t n = 0; done && !simpler && n < c.count; n++) {
      const uint64_t second = smma_load(bytes, other, n);
      smma_row candidate;
      if (smma_same_result(&o, smma_rows_result(&c.rows, n), second)) continue;
      smma_rows_get(&c.rows, n, &candidate);
      if (judge && !judge->takes(&candidate, second, judge->context)) continue;
      *row = candidate;
      *expected = second;
      simpler = true;
    }
  }
  smma_rows_free(&c.rows);
  return done;
}

bool smma_minimise(smma_unit *unit, smma_unit *against, const smma_instruction *i, smma_row *row, uint64_t *expected,
                   smma_error *error) {
  return smma_minimise_while(unit, against, i, NULL, row, expected, error);
}

int smma_row_terms(const smma_instruction *i, const smma_row *row) {
  int terms = row->c != 0;
  for (int k = 0; k < i->k; k++) terms += row->a[k] || row->b[k];
  return terms;
}
