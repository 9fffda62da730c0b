#include "cli/operands.h"

#include "cli/values.h"

static void read_scales(const smma_instruction *i, const smma_operand_options *o, smma_row *x) {
  char example[32];
  if (!i->scale_block) {
    if (o->scale_a || o->scale_b)
      smma_die("%s: %s takes no scale factors; leave it out", o->scale_a ? "--scale-a" : "--scale-b", i->name);
    return;
  }
  snprintf(example, sizeof example, "'1*%d'", i->k / i->scale_block);
  smma_read_list(smma_require_option(o->scale_a, "--scale-a", example), "--scale-a", i->scale, SMMA_ROUND_NEAREST_EVEN,
                 o->hex, i->k / i->scale_block, false, x->scale_a);
  smma_read_list(smma_require_option(o->scale_b, "--scale-b", example), "--scale-b", i->scale, SMMA_ROUND_NEAREST_EVEN,
                 o->hex, i->k / i->scale_block, false, x->scale_b);
}

smma_target_rounding smma_operands_rounding(const smma_instruction *i, const smma_operand_options *o,
                                            const smma_target_plan *plan) {
  const smma_target_plan none = {.plan = NULL};
  smma_target_rounding rounding;
  if (o->round_in && o->hex) smma_die("--round-in: --hex gives encodings, which are not rounded; leave one out");
  smma_require_roundings(o->round_in, &i, plan ? plan : &none, 1, &rounding);
  return rounding;
}

void smma_read_operands(const smma_instruction *i, const smma_operand_options *o, smma_row *x) {
  const smma_target_rounding rounding = smma_operands_rounding(i, o, NULL);
  smma_read_list(smma_require_option(o->a, "--a", "'1.5 0*15'"), "--a", i->a, rounding.a, o->hex, i->k, true, x->a);
  smma_read_list(smma_require_option(o->b, "--b", "'1.5 0*15'"), "--b", i->b, rounding.b, o->hex, i->k, true, x->b);
  smma_read_list(o->c ? o->c : "0", "--c", i->c, SMMA_ROUND_NEAREST_EVEN, o->hex, 1, false, &x->c);
  read_scales(i, o, x);
}
