/* Prints C initialisers of the catalogue's operations: one of each function. The analysis in eva/ reads them. */
#include <stdio.h>
#include <string.h>

#include "isa/instruction.h"
#include "softmma/softmma.h"

static void print_t_fdpa(const smma_t_fdpa *p) {
  printf("{%d, %d, %d, %d, %d}", p->alignment_bits, p->block, p->zero_exponent, (int)p->output, (int)p->rounding);
}

static void print_cut(const smma_cut *c) {
  printf("{%d, %d, %d, %d, %d, %d, %d, %d}, ", (int)c->brings, c->offset, c->least, c->zero_exponent, c->bits,
         (int)c->rounding, c->drop, c->again);
}

static void print_step(const smma_step *s) {
  printf("{%d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, ", s->take, s->turn, s->window, (int)s->join, (int)s->start,
         s->chains, s->stride, s->descending, s->reference, s->reference_multiple, s->least_reference);
  print_cut(&s->term), print_cut(&s->accumulator);
  printf("%d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d}, ", (int)s->opposing, s->minus_one_shift, s->width,
         (int)s->width_overflow, s->narrow_bits, (int)s->narrow_rounding, s->narrow_subnormals, (int)s->output,
         (int)s->rounding, (int)s->overflow, (int)s->subnormal_outputs, s->early_underflow, (int)s->zero_sign,
         s->cancelled_is_zero);
}

static void print_composition(const smma_composition *p) {
  printf("{%d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, %d, {", (int)p->subnormal_a,
         (int)p->subnormal_b, (int)p->subnormal_c, (int)p->widen, p->product_limit, p->limit_joins, p->scaled_step,
         (int)p->product, p->slice_a, p->slice_b, p->slices_b, p->block_bits_a, p->block_bits_b, p->block_elements,
         (int)p->block_rounding, p->first_phase, p->phases, p->zero_product, p->steps);
  for (int i = 0; i < p->steps; i++) print_step(&p->step[i]);
  printf("}}");
}

/* Prints the name of the union's member and its parameters. */
static void print_parameters(const smma_rule *r) {
  const smma_c_fdpa *c = &r->with.c_fdpa;
  const smma_tr_fdpa *t = &r->with.tr_fdpa;
  const smma_integer *i = &r->with.integer;
  switch (r->algorithm) {
    case SMMA_FMA: printf(".fma = {%d}", (int)r->with.fma.rounding); break;
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA:
    case SMMA_FP8_BY_FP16: printf(".t_fdpa = "), print_t_fdpa(&r->with.t_fdpa); break;
    case SMMA_GST_FDPA:
      printf(".gst_fdpa = {%d, ", r->with.gst_fdpa.group), print_t_fdpa(&r->with.gst_fdpa.fused), printf("}");
      break;
    case SMMA_E_FDPA: printf(".e_fdpa = {%d}", r->with.e_fdpa.block); break;
    case SMMA_FTZ_ADDMUL: printf(".ftz_addmul = {%d}", r->with.ftz_addmul.pairwise); break;
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA:
      printf(".tr_fdpa = {%d, %d, %d, %d}", t->alignment_bits, t->sum_bits, t->block, t->revision);
      break;
    case SMMA_INTEGER: printf(".integer = {%d, %d, %d}", (int)i->overflow, i->two_stages, (int)i->product); break;
    case SMMA_C_FDPA:
    case SMMA_GD_FDPA:
      printf(".c_fdpa = {%d, %d, %d, %d, %d, %d, %d}", c->alignment_bits, c->c_bits, c->block, c->stride,
             (int)c->output, (int)c->overflow, c->group);
      break;
    case SMMA_COMPOSITION: printf(".composition = "), print_composition(&r->with.composition); break;
    case SMMA_FTZ_FMA: printf(".fma = {0}"); break;
  }
}

static void print_operation(const smma_instruction *instruction) {
  const smma_operation o = smma_operation_of(instruction);
  printf("    {{%d, %d, {", (int)o.rule.algorithm, (int)o.rule.nan);
  print_parameters(&o.rule);
  printf("}}, %d, %d, %d, %d, %d, %d, %d}, /* %s */\n", (int)o.a, (int)o.b, (int)o.c, (int)o.d, (int)o.scale, o.k,
         o.scale_block, instruction->name);
}

static bool is_first(size_t at) {
  for (size_t i = 0; i < at; i++)
    if (smma_same_operation(smma_instruction_at(i), smma_instruction_at(at))) return false;
  return true;
}

int main(int argc, char **argv) {
  int algorithm;
  if (argc != 2 || sscanf(argv[1], "%d", &algorithm) != 1) return 2;
  printf("static const smma_operation operations[] = {\n");
  for (size_t i = 0; i < smma_instruction_count(); i++)
    if ((int)smma_operation_of(smma_instruction_at(i)).rule.algorithm == algorithm && is_first(i))
      print_operation(smma_instruction_at(i));
  printf("};\n");
  return 0;
}
