#include "cli/operands.h"

#include <stdlib.h>
#include <unistd.h>

smma_list_form smma_operand_form(const smma_operand_options *o, const char *option, smma_format format,
                                 smma_rounding rounding) {
  return (smma_list_form){option, format, rounding, o->hex, &smma_notes_printed, "--hex"};
}

static bool read_one(const smma_operand_options *o, const char *text, const char *example, const char *option,
                     smma_format format, smma_rounding rounding, int count, bool pads, uint64_t *out,
                     smma_error *error) {
  const smma_list_form form = smma_operand_form(o, option, format, rounding);
  return smma_is_given(text, option, example, error) && smma_list_read(text, &form, count, pads, out, error);
}

static bool read_scales(const smma_instruction *i, const smma_operand_options *o, smma_row *x, smma_error *error) {
  const int scales = smma_scale_count(i->k, i->scale_block);
  char example[32];
  if (!scales)
    return (!o->scale_a && !o->scale_b) || smma_fail(error, "%s: %s takes no scale factors; leave it out",
                                                     o->scale_a ? "--scale-a" : "--scale-b", i->name);
  snprintf(example, sizeof example, "'1*%d'", scales);
  return read_one(o, o->scale_a, example, "--scale-a", i->scale, SMMA_ROUND_NEAREST_EVEN, scales, false, x->scale_a,
                  error) &&
         read_one(o, o->scale_b, example, "--scale-b", i->scale, SMMA_ROUND_NEAREST_EVEN, scales, false, x->scale_b,
                  error);
}

bool smma_take_operand_arguments(const char **arguments, smma_operand_options *o, smma_error *error) {
  const char **operand[] = {&o->a, &o->b, &o->c};
  for (int n = 0; arguments[n]; n++) {
    const char *text = arguments[n];
    char *end;
    strtod(text, &end);
    if (access(text, F_OK) == 0 && (smma_ends_with(text, ".npy") || smma_ends_with(text, ".safetensors")))
      return smma_fail(error, "'%s' is a matrix: 'softmma trace TARGET A.npy B.npy --at 3,5' follows an element", text);
    if (access(text, F_OK) == 0)
      return smma_fail(error, "'%s' is a file: 'softmma explain %s --row 1' explains a test vector", text, text);
    if (end == text && !o->hex && smma_resolve_arch(text, error) == SMMA_ARCH_COUNT) return false;
    if (n == 3 || *operand[n] || (n == 0 && o->b))
      return smma_fail(error, "unexpected argument '%s': quote a list with blanks, as in -a '1.5 2'", text);
    *operand[n] = text;
  }
  return true;
}

bool smma_operands_rounding(const smma_instruction *i, const smma_operand_options *o, const smma_target_plan *plan,
                            smma_target_rounding *rounding, smma_error *error) {
  const smma_target_plan none = {.plan = NULL};
  if (o->round_in && o->hex)
    return smma_fail(error, "--round-in: --hex gives encodings, which are not rounded; leave one out");
  return smma_target_roundings(o->round_in, &i, plan ? plan : &none, 1, rounding, error);
}

bool smma_read_operands(const smma_instruction *i, const smma_operand_options *o, smma_row *x, smma_error *error) {
  smma_target_rounding rounding;
  return smma_operands_rounding(i, o, NULL, &rounding, error) &&
         read_one(o, o->a, "'1.5 0*15'", "--a", i->a, rounding.a, i->k, true, x->a, error) &&
         read_one(o, o->b, "'1.5 0*15'", "--b", i->b, rounding.b, i->k, true, x->b, error) &&
         read_one(o, o->c ? o->c : "0", "0", "--c", i->c, SMMA_ROUND_NEAREST_EVEN, 1, false, &x->c, error) &&
         read_scales(i, o, x, error);
}
