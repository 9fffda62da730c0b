/* Examines products and their sum before the result is formed: rounding, normalisation, carries. */
#include "probe/probe.h"
#include "probe/triple.h"

/* Sets `*kept` to whether X - X + (the last bit retained below X) gives that bit, with X = 2^large at term i, -X at j
   and the bit at k. If not, terms are aligned to an exponent greater than that of X. */
static bool ask_last_bit(smma_examination *x, int i, int j, int k, int large, bool *kept) {
  smma_subject *s = &x->subject;
  smma_row row;
  *kept = smma_place_triple(s, &row, i, j, k, large, 1, large - x->alignment.bits);
  if (!*kept) return true;
  if (!smma_ask_subject(s, &row, 1)) return false;
  *kept = smma_is_exactly(smma_result(s, &row), 1, large - x->alignment.bits);
  return true;
}

static const char out_of_reach[] = "the last retained bit is out of the formats' range";

/* Adds the products 2.25 and -2.25 and a small product at the last bit that is retained below 1. The small product is
   retained if 2.25 is aligned by the sum of its factors' exponents, and lost if it is aligned by the exponent of its
   leading bit. */
bool smma_probe_products_normalised(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  int terms[SMMA_MAXIMUM_ROUNDED_K + 1], products = 0;
  smma_row row = smma_blank_row(s);
  bool kept;
  if (!x->first.known || !x->first.fused)
    return smma_cannot_tell(f, "no terms are known to be aligned to a common exponent");
  if (!x->alignment.known) return smma_cannot_tell(f, "the number of bits that alignment retains is not known");
  if (x->alignment.bits < 3) return smma_cannot_tell(f, "alignment retains too few bits of 2.25");
  for (int k = 0; k < s->instruction->k && products < 3; k++)
    if (x->first.product[k]) terms[products++] = k;
  if (products < 3) return smma_cannot_tell(f, "the test needs three products in a block");
  const int large = smma_span_of(s, terms[1], terms[2], terms[0]).large - 2;
  if (!smma_place_product(s, &row, terms[1], 3, 3, large - 2) ||
      !smma_place_product(s, &row, terms[2], -3, 3, large - 2) ||
      !smma_place(s, &row, terms[0], 1, large - x->alignment.bits))
    return smma_cannot_tell(f, "the formats have no products that this test needs");
  if (!ask_last_bit(x, terms[1], terms[2], terms[0], large, &kept)) return false;
  if (!kept) return smma_cannot_tell(f, out_of_reach);
  if (!smma_ask_subject(s, &row, 1)) return false;
  if (smma_is_exactly(smma_result(s, &row), 1, large - x->alignment.bits)) return smma_tell(f, &row, "not normalised");
  return smma_tell(f, &row, "normalised");
}

/* Adds 1 + 1 - 1 - 1 and the last bit that is retained below 1. If the partial sum 2 were normalised, this bit would be
   lost. */
bool smma_probe_normalisation(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  int terms[SMMA_MAXIMUM_ROUNDED_K + 1];
  const int count = smma_first_terms(x, terms);
  smma_row row = smma_blank_row(s);
  bool placed = true, kept;
  if (!x->first.known || !x->first.fused)
    return smma_cannot_tell(f, "no terms are known to be aligned to a common exponent");
  if (!x->alignment.known) return smma_cannot_tell(f, "the number of bits that alignment retains is not known");
  if (count < 5) return smma_cannot_tell(f, "the test needs five terms in a block");
  const int large = smma_span_of(s, terms[1], terms[count - 1], terms[4]).large - 1;
  for (int i = 0; i < 4; i++)
    placed = placed && smma_place(s, &row, terms[i < 3 ? i + 1 : count - 1], i < 2 ? 1 : -1, large);
  placed = placed && smma_place(s, &row, terms[0], 1, large - x->alignment.bits);
  if (!placed) return smma_cannot_tell(f, out_of_reach);
  if (!ask_last_bit(x, terms[1], terms[count - 1], terms[0], large, &kept)) return false;
  if (!kept) return smma_cannot_tell(f, out_of_reach);
  if (!smma_ask_subject(s, &row, 1)) return false;
  if (smma_is_exactly(smma_result(s, &row), 1, large - x->alignment.bits))
    return smma_tell(f, &row, "once, at the end");
  return smma_tell(f, &row, "early");
}

/* Adds 2^n equal terms, with the greatest n for which the sum has enough terms. */
bool smma_probe_carry_bits(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  int terms[SMMA_MAXIMUM_ROUNDED_K + 1], carries = 0;
  const int count = smma_first_terms(x, terms);
  smma_row row = smma_blank_row(s), alone = row;
  if (!x->first.known || !x->first.fused)
    return smma_cannot_tell(f, "no terms are known to be aligned to a common exponent");
  while (2 << carries <= count) carries++;
  int exponent = smma_range_of_d(s).greatest - carries - 1;
  for (int i = 0; i < 1 << carries; i++) exponent = smma_minimum(exponent, smma_range_of(s, terms[i]).greatest);
  for (int i = 0; i < 1 << carries; i++)
    if (!smma_place(s, &row, terms[i], 1, exponent)) return smma_cannot_tell(f, "the terms have no common range");
  smma_place(s, &alone, terms[0], 1, exponent);
  if (!smma_ask_subject(s, &row, 1) || !smma_ask_subject(s, &alone, 1)) return false;
  if (!smma_is_exactly(smma_result(s, &alone), 1, exponent)) return smma_cannot_tell(f, "a term alone is not returned");
  if (!smma_is_exactly(smma_result(s, &row), 1, exponent + carries))
    return smma_tell(f, &row, "too few for %d equal terms", 1 << carries);
  return smma_tell(f, &row, "at least %d", carries);
}

/* ---- Long significands ---- */

enum { MOST_WIDTHS = 6, PATTERNS = 3, MOST_PRODUCTS = 2 * MOST_WIDTHS * MOST_WIDTHS * PATTERNS * PATTERNS };

/* Returns one of three significands with this width in bits: ones only at both ends, all ones, or ones at every second
   bit. */
static uint64_t pattern(int width, int number) {
  const uint64_t all = ((uint64_t)1 << width) - 1;
  if (width == 1) return 1;
  return number == 0 ? ((uint64_t)1 << (width - 1)) + 1 : number == 1 ? all : (all / 3) << (width % 2) | 1;
}

/* Lists widths of significands up to a format's: the least, the greatest, and some in between. */
static int list_widths(smma_format format, bool few, int width[MOST_WIDTHS]) {
  const int most = smma_encoding_of(format).fraction_bits + 1,
            step = few ? most : (most + MOST_WIDTHS - 3) / (MOST_WIDTHS - 2);
  int count = 0;
  if (most > 1) width[count++] = 2;
  for (int w = 2 + step; w < most && count < MOST_WIDTHS - 1; w += step) width[count++] = w;
  if (most > 2) width[count++] = most;
  return count;
}

/* The value of a product of long significands. A second vector has the same value as a single product with a short
   factor, or as the sum of two products. */
typedef struct {
  int64_t significand;
  int exponent;
} long_product;

/* Places the number p at product k, if the format of a has enough bits. Otherwise places the leading bits of p at
   product `other` and the rest at k. Does not split p between c and a product, because alignment may differ if c is not
   zero. */
static bool place_parts(const smma_subject *s, smma_row *row, int k, int other, long_product p) {
  const int bits = smma_encoding_of(s->instruction->a).fraction_bits + 1;
  const int below = smma_maximum(0, smma_bit_length(smma_magnitude(p.significand)) - bits);
  const int64_t leading = p.significand / ((int64_t)1 << below), rest = p.significand - leading * ((int64_t)1 << below);
  if (rest == 0) return smma_place(s, row, k, leading, p.exponent + below);
  return other < s->instruction->k && smma_place(s, row, other, leading, p.exponent + below) &&
         smma_place(s, row, k, rest, p.exponent);
}

/* Makes the two vectors for the significands a and b: with their product, and with the same value in parts. Sets `*p`
   to the value. Returns false if d has too few bits, or the formats have no such numbers. */
static bool place_long_product(const smma_examination *x, int k, int other, uint64_t a, uint64_t b, bool negative,
                               long_product *p, smma_row *product, smma_row *parts) {
  const smma_subject *s = &x->subject;
  const smma_range d = smma_range_of_d(s), own = smma_range_of(s, k);
  const int bits = smma_bit_length(a) + smma_bit_length(b), sign = negative ? -1 : 1;
  const int middle = (smma_minimum(d.greatest, own.greatest) + smma_maximum(d.least, own.least)) / 2;
  *p = (long_product){sign * (int64_t)(a * b), middle - bits / 2};
  *product = *parts = smma_blank_row(s);
  return bits <= smma_encoding_of(s->instruction->d).fraction_bits + 1 &&
         smma_place_product(s, product, k, sign * (int64_t)a, (int64_t)b, p->exponent) &&
         place_parts(s, parts, k, other, *p);
}

/* Makes the vectors for all pairs of patterns, with both signs. Returns the number of products. */
static size_t place_long_products(const smma_examination *x, int k, int other, long_product *list, smma_row *product,
                                  smma_row *parts) {
  const smma_instruction *i = x->subject.instruction;
  int width_a[MOST_WIDTHS], width_b[MOST_WIDTHS];
  const int count_a = list_widths(i->a, x->moved, width_a), count_b = list_widths(i->b, x->moved, width_b);
  const int pairs = PATTERNS * PATTERNS;
  size_t count = 0;
  for (int n = 0; n < count_a * count_b * pairs; n++) {
    const uint64_t a = pattern(width_a[n / (count_b * pairs)], n / PATTERNS % PATTERNS);
    const uint64_t b = pattern(width_b[n / pairs % count_b], n % PATTERNS);
    bool placed = true;
    for (int sign = 0; sign < 2; sign++)
      placed = placed && place_long_product(x, k, other, a, b, sign, &list[count + sign], &product[count + sign],
                                            &parts[count + sign]);
    if (placed) count += 2;
  }
  return count;
}

static bool is_product(const smma_subject *s, const smma_row *row, const long_product *p) {
  return smma_is_exactly(smma_result(s, row), p->significand, p->exponent);
}

/* Lets the unit compute each value as a product and in parts. If the parts give the value exactly with both signs, the
   product must give it exactly, too; otherwise sets x->inexact, and x->inexact_row to the first product that does
   not. */
static bool ask_long_products(smma_examination *x, smma_finding *f, smma_row *rows) {
  smma_subject *s = &x->subject;
  static _Thread_local long_product list[MOST_PRODUCTS];
  smma_row *product = rows, *parts = rows + MOST_PRODUCTS;
  int terms[SMMA_MAXIMUM_ROUNDED_K + 1];
  const int k = smma_first_product(x), count_terms = smma_first_terms(x, terms);
  const int other = count_terms > 1 && terms[1] != k ? terms[1] : s->instruction->k;
  const size_t count = place_long_products(x, k, other, list, product, parts);
  (void)f;
  x->long_products = 0;
  x->inexact = false;
  if (count == 0) return true;
  if (!smma_ask_subject(s, product, count) || !smma_ask_subject(s, parts, count)) return false;
  for (size_t n = 0; n < count; n++) {
    const size_t other_sign = n ^ 1;
    if (!is_product(s, &parts[n], &list[n]) || !is_product(s, &parts[other_sign], &list[other_sign])) continue;
    x->long_products++;
    if (x->inexact || is_product(s, &product[n], &list[n])) continue;
    x->inexact = true;
    x->inexact_row = product[n];
  }
  return true;
}

bool smma_ask_long_products(smma_examination *x) {
  return smma_with_rows(x, NULL, 2 * MOST_PRODUCTS, ask_long_products);
}

/* Computes (1 + u)^2 - (1 + 2 u), where u is the last bit of 1 and c = -(1 + 2 u). The result is u^2 if the product was
   neither rounded nor truncated before c was added. */
static bool ask_whether_rounded(smma_examination *x, smma_finding *f) {
  smma_subject *s = &x->subject;
  const smma_instruction *i = s->instruction;
  const int bits = smma_encoding_of(i->a).fraction_bits;
  const int shift = smma_maximum(0, (smma_range_of_d(s).least + 2 * bits + 1) / 2);
  const int64_t significand = ((int64_t)1 << bits) + 1;
  smma_row row = smma_blank_row(s);
  if (!x->first.known || !x->first.has_c)
    return smma_cannot_tell(f, "c is not known to be added with the first products");
  if (i->a != i->b) return smma_cannot_tell(f, "a and b differ in format");
  if (shift > smma_range_of_format(i->a).greatest ||
      !smma_place_product(s, &row, smma_first_product(x), significand, significand, 2 * (shift - bits)) ||
      !smma_place(s, &row, i->k, -(((int64_t)1 << bits) + 2), 2 * shift - bits))
    return smma_cannot_tell(f, "c cannot hold the leading bits");
  if (!smma_ask_subject(s, &row, 1)) return false;
  if (smma_is_exactly(smma_result(s, &row), 1, 2 * (shift - bits))) return smma_tell(f, &row, "not rounded");
  if (!smma_is_exactly(smma_result(s, &row), 0, 0))
    return smma_cannot_tell(f, "the result is neither the rest of the product nor zero");
  if (!x->first.fused || !(x->alignment.exact || (x->alignment.known && x->alignment.bits >= 2 * bits)))
    return smma_cannot_tell(f, "alignment may have truncated the product");
  return smma_tell(f, &row, "rounded before addition");
}

bool smma_probe_product_rounding(smma_examination *x, smma_finding *f) {
  const smma_instruction *i = x->subject.instruction;
  if (!smma_ask_long_products(x)) return false;
  if (x->inexact) return smma_tell(f, &x->inexact_row, "not exact: products of long significands lose bits");
  if (smma_encoding_of(i->a).fraction_bits + smma_encoding_of(i->b).fraction_bits >=
      smma_encoding_of(i->d).fraction_bits)
    return ask_whether_rounded(x, f);
  if (x->long_products == 0) return smma_cannot_tell(f, "no long product is known to fit into the sum");
  return smma_tell(f, NULL, "exact");
}
