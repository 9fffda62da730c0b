/* Bounds of nodes, and where the fields of a node are. */
#include <string.h>

#include "rtl/unit.h"

void smma_rtl_reach(smma_rtl_unit *u, int least, int most) {
  u->reach = smma_maximum(u->reach, smma_maximum(most, -least));
}

smma_rtl_words smma_rtl_exponent(const smma_rtl_unit *u, int value) { return smma_rtl_signed(u->exponent_bits, value); }

bool smma_rtl_has_beyond(const smma_rtl_unit *u) { return u->p.product_limit != SMMA_NONE && u->p.limit_joins; }

int smma_rtl_flags_at(const smma_rtl_unit *u, smma_rtl_shape s) { return s.width + u->exponent_bits; }
int smma_rtl_beyond_at(const smma_rtl_unit *u, smma_rtl_shape s) { return smma_rtl_flags_at(u, s) + 4; }
int smma_rtl_invalid_at(const smma_rtl_unit *u, smma_rtl_shape s) {
  return smma_rtl_beyond_at(u, s) + (smma_rtl_has_beyond(u) ? 2 : 0);
}
int smma_rtl_payload_at(const smma_rtl_unit *u, smma_rtl_shape s) { return smma_rtl_invalid_at(u, s) + 2; }

int smma_rtl_node_bits(const smma_rtl_unit *u, smma_rtl_shape s) {
  return smma_rtl_invalid_at(u, s) + (u->payload_bits ? 2 + u->payload_bits : 0);
}

bool smma_rtl_has_only_numbers(const smma_rtl_unit *u) { return u->o.rule.nan == SMMA_NAN_NUMBERS; }

smma_encoding smma_rtl_encoding_of(const smma_rtl_unit *u, smma_format format) {
  return smma_readable_encoding(u->o.rule.nan, smma_encoding_of(format));
}

smma_rtl_shape smma_rtl_shape_of(const smma_rtl_unit *u, smma_format format) {
  const smma_encoding f = smma_rtl_encoding_of(u, format);
  const uint64_t largest = smma_largest_fields(f);
  smma_rtl_shape s = {.fraction = f.fraction_bits, .width = f.fraction_bits + 1};
  s.least = s.zero_least = smma_minimum_exponent(f);
  s.most = f.exponent_bits ? (int)(largest >> f.fraction_bits) - f.bias : s.least;
  s.most = smma_maximum(s.most, s.least);
  s.special =
      !smma_rtl_has_only_numbers(u) && f.specials != SMMA_SPECIALS_FINITE && f.specials != SMMA_SPECIALS_INTEGER;
  return s;
}

smma_rtl_shape smma_rtl_union(smma_rtl_shape x, smma_rtl_shape y) {
  smma_rtl_shape s = {.fraction = smma_maximum(x.fraction, y.fraction)};
  s.width = s.fraction + smma_maximum(x.width - x.fraction, y.width - y.fraction);
  s.least = smma_minimum(x.least, y.least);
  s.zero_least = smma_minimum(x.zero_least, y.zero_least);
  s.most = smma_maximum(x.most, y.most);
  s.special = x.special || y.special;
  return s;
}

int smma_rtl_leading(smma_rtl_shape s) { return s.most + s.width - 1 - s.fraction; }

const char *smma_rtl_step(const smma_rtl_unit *u, const char *name) { return name + strlen(u->name) + 1; }

bool smma_rtl_begin(smma_rtl_unit *u, const char *name, const char *comment) {
  const smma_rtl_words line = smma_rtl_print("\nmodule %s (", name);
  if (strstr(smma_rtl_text_of(&u->modules), line.text)) return false;
  smma_rtl_put(&u->modules, "\n%s\nmodule %s (\n", comment, name);
  return true;
}
