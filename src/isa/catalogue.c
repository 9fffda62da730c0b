#include "isa/catalogue.h"

const smma_architecture smma_architectures[SMMA_ARCH_COUNT] = {
#define SMMA_ARCHITECTURE(symbol, name, title, vendor, listed) {name, title, vendor, listed, &smma_table_##symbol},
#include "isa/architectures.def"
#undef SMMA_ARCHITECTURE
};

size_t smma_catalogue_count(void) {
  size_t count = 0;
  for (int i = 0; i < SMMA_ARCH_COUNT; i++) count += smma_architectures[i].table->count;
  return count;
}

const smma_instruction *smma_catalogue_at(size_t index) {
  for (int i = 0; i < SMMA_ARCH_COUNT; i++) {
    const smma_instruction_table *table = smma_architectures[i].table;
    if (index < table->count) return &table->row[index];
    index -= table->count;
  }
  return NULL;
}

const char *smma_arch_name(const smma_instruction *i) {
  return i->origin ? i->origin : smma_architectures[i->arch].name;
}

smma_operation smma_operation_of(const smma_instruction *i) {
  smma_operation o = {i->rule->rule, i->a, i->b, i->c, i->d, i->scale, i->k, i->scale_block};
  return o;
}

static bool same_fused(const smma_t_fdpa *x, const smma_t_fdpa *y) {
  return x->alignment_bits == y->alignment_bits && x->block == y->block && x->zero_exponent == y->zero_exponent &&
         x->output == y->output && x->rounding == y->rounding;
}

static bool same_general(const smma_g_fdpa *x, const smma_g_fdpa *y) {
  return x->block == y->block && x->interleave == y->interleave && x->alignment_bits == y->alignment_bits &&
         x->alignment_rounding == y->alignment_rounding && x->sticky_bit == y->sticky_bit &&
         x->product_exponent == y->product_exponent && x->zero_exponent == y->zero_exponent &&
         x->c_joins == y->c_joins && x->c_rounding == y->c_rounding && x->output == y->output &&
         x->rounding == y->rounding && x->overflow == y->overflow && x->subnormal_inputs == y->subnormal_inputs &&
         x->subnormal_outputs == y->subnormal_outputs && x->zero_sign == y->zero_sign;
}

static bool same_rule(const smma_rule *x, const smma_rule *y) {
  if (x->algorithm != y->algorithm || x->nan != y->nan) return false;
  switch (x->algorithm) {
    case SMMA_T_FDPA:
    case SMMA_ST_FDPA:
    case SMMA_FP8_BY_FP16: return same_fused(&x->with.t_fdpa, &y->with.t_fdpa);
    case SMMA_GST_FDPA:
      return x->with.gst_fdpa.group == y->with.gst_fdpa.group &&
             same_fused(&x->with.gst_fdpa.fused, &y->with.gst_fdpa.fused);
    case SMMA_E_FDPA: return x->with.e_fdpa.block == y->with.e_fdpa.block;
    case SMMA_FTZ_ADDMUL: return x->with.ftz_addmul.pairwise == y->with.ftz_addmul.pairwise;
    case SMMA_TR_FDPA:
    case SMMA_GTR_FDPA:
      return x->with.tr_fdpa.alignment_bits == y->with.tr_fdpa.alignment_bits &&
             x->with.tr_fdpa.sum_bits == y->with.tr_fdpa.sum_bits && x->with.tr_fdpa.block == y->with.tr_fdpa.block &&
             x->with.tr_fdpa.revision == y->with.tr_fdpa.revision;
    case SMMA_INTEGER: return x->with.integer.overflow == y->with.integer.overflow;
    case SMMA_G_FDPA: return same_general(&x->with.g_fdpa, &y->with.g_fdpa);
    case SMMA_FMA:
    case SMMA_FTZ_FMA: return true;
  }
  return false;
}

bool smma_same_operation(const smma_instruction *x, const smma_instruction *y) {
  return x->a == y->a && x->b == y->b && x->c == y->c && x->d == y->d && x->scale == y->scale && x->k == y->k &&
         x->scale_block == y->scale_block && same_rule(&x->rule->rule, &y->rule->rule);
}

const smma_instruction *smma_catalogue_twin(const smma_instruction *instruction) {
  const smma_instruction *i;
  for (size_t index = 0; (i = smma_catalogue_at(index)); index++)
    if (smma_same_operation(i, instruction)) return i;
  return NULL;
}
