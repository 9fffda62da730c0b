#include "gemm/device/choice.h"

#define COUNT(x) (sizeof(x) / sizeof *(x))

/* Reports whether a format's significands are so short that binary32 holds products of two of them. */
static bool is_factor(smma_format format) {
  return !smma_is_integer(format) && smma_encoding_of(format).fraction_bits <= 10;
}

/* Reports whether fast kernels can multiply the formats of a and b: significands must be short, and both formats must
   have narrow exponents or both wide ones (see smma_has_narrow_exponents). */
static bool are_factors_alike(const smma_operation *o) {
  const bool narrow[] = {smma_encoding_of(o->a).exponent_bits <= 5, smma_encoding_of(o->b).exponent_bits <= 5};
  return is_factor(o->a) && is_factor(o->b) && narrow[0] == narrow[1];
}

/* Reports whether binary32 holds all results of a format. */
static bool is_short_sum(smma_format format) {
  const smma_encoding f = smma_encoding_of(format);
  return f.specials == SMMA_SPECIALS_IEEE && f.bits <= 32 && f.exponent_bits <= 8;
}

/* Reports whether the parameters of T-FDPA or ST-FDPA are in the ranges of the fast kernel. The core computes sums with
   other parameters. The kernel adds a block in parts of 2^n products, so the block's length must be a power of two. */
static bool is_known_sum(const smma_operation *o) {
  const smma_t_fdpa *p = &o->rule.with.t_fdpa;
  const int block = smma_block_of(o);
  const smma_rounding rounding = p->output == SMMA_F16 ? SMMA_ROUND_NEAREST_EVEN : SMMA_ROUND_TOWARD_ZERO;
  const bool aligned = p->alignment_bits == 13 || (p->alignment_bits >= 23 && p->alignment_bits <= 25);
  return aligned && p->rounding == rounding && p->zero_exponent <= -20 && p->zero_exponent >= -133 &&
         (block & (block - 1)) == 0;
}

static bool takes_t_fdpa(const smma_operation *o) {
  const bool plain = o->rule.algorithm == SMMA_T_FDPA || o->rule.algorithm == SMMA_FP8_BY_FP16;
  return plain && are_factors_alike(o) && is_short_sum(o->d) && is_known_sum(o);
}

/* The fast kernel requires that each block has one pair of scale factors, and that these are powers of two. */
static bool takes_st_fdpa(const smma_operation *o) {
  const bool scaled = o->rule.algorithm == SMMA_ST_FDPA && o->scale == SMMA_UE8M0;
  return scaled && o->scale_block % smma_block_of(o) == 0 && smma_encoding_of(o->a).exponent_bits <= 5 &&
         smma_encoding_of(o->b).exponent_bits <= 5 && is_short_sum(o->d) && is_known_sum(o);
}

/* The sum of 16 truncated products must fit in 31 bits, so that its sum with c fits in binary64. */
static bool takes_tr_fdpa(const smma_operation *o) {
  const smma_tr_fdpa *p = &o->rule.with.tr_fdpa;
  const bool truncates = o->rule.algorithm == SMMA_TR_FDPA || o->rule.algorithm == SMMA_GTR_FDPA;
  return truncates && are_factors_alike(o) && p->alignment_bits == 24 && p->sum_bits == 31 && p->block <= 16;
}

/* Reports whether the fast kernels can compute GST-FDPA. They need FP4 groups whose flags of nonzero elements fit in
   one word, and whose sums with two scale factors fit in binary32. */
static bool takes_gst_fdpa(const smma_operation *o) {
  const smma_gst_fdpa *p = &o->rule.with.gst_fdpa;
  return o->rule.algorithm == SMMA_GST_FDPA && o->a == SMMA_E2M1 && o->b == SMMA_E2M1 && p->group == 16 &&
         (o->scale == SMMA_UE8M0 || o->scale == SMMA_UE4M3) && o->d == SMMA_F32 && p->fused.alignment_bits == 35 &&
         p->fused.rounding == SMMA_ROUND_TOWARD_ZERO && p->fused.zero_exponent == -139;
}

static bool takes_integer(const smma_operation *o) {
  return o->rule.algorithm == SMMA_INTEGER && !o->rule.with.integer.two_stages && smma_encoding_of(o->a).bits <= 8 &&
         smma_encoding_of(o->b).bits <= 8;
}

static bool takes_ftz_addmul(const smma_operation *o) {
  return o->rule.algorithm == SMMA_FTZ_ADDMUL && is_factor(o->a) && is_factor(o->b);
}

static bool takes_ftz_fma(const smma_operation *o) {
  return o->rule.algorithm == SMMA_FTZ_FMA && is_factor(o->a) && is_factor(o->b);
}

static bool takes_e_fdpa(const smma_operation *o) {
  const bool narrow = smma_encoding_of(o->a).exponent_bits <= 5 && smma_encoding_of(o->b).exponent_bits <= 5;
  const int length = smma_block_of(o);
  return o->rule.algorithm == SMMA_E_FDPA && is_factor(o->a) && is_factor(o->b) &&
         (length == 2 || (length == 4 && narrow));
}

/* A device's native arithmetic rounds to nearest. */
static bool takes_fma(const smma_operation *o, smma_format format) {
  return o->rule.algorithm == SMMA_FMA && o->rule.with.fma.rounding == SMMA_ROUND_NEAREST_EVEN && o->a == format &&
         o->b == format && o->d == format;
}

static bool takes_fma_f32(const smma_operation *o) { return takes_fma(o, SMMA_F32); }
static bool takes_fma_f64(const smma_operation *o) { return takes_fma(o, SMMA_F64); }

static const struct {
  bool (*takes)(const smma_operation *);
  const char *kernel;
} families[] = {{takes_t_fdpa, "smma_kernel_t_fdpa"},   {takes_st_fdpa, "smma_kernel_t_fdpa"},
                {takes_tr_fdpa, "smma_kernel_tr_fdpa"}, {takes_gst_fdpa, "smma_kernel_gst_fdpa"},
                {takes_integer, "smma_kernel_integer"}, {takes_ftz_addmul, "smma_kernel_ftz_addmul"},
                {takes_ftz_fma, "smma_kernel_ftz_fma"}, {takes_e_fdpa, "smma_kernel_e_fdpa"},
                {takes_fma_f32, "smma_kernel_fma_f32"}, {takes_fma_f64, "smma_kernel_fma_f64"}};

static bool takes_panels(const smma_device_description *device, const smma_operation *o, smma_panels *panels) {
  return device->shared && smma_panels_of(o, device->fast_f64, panels) && (size_t)panels->shared <= device->shared;
}

smma_device_choice smma_device_choose(const smma_device_description *device, const smma_operation *o) {
  smma_device_choice choice = {0};
  if (!smma_has_usual_formats(o)) return choice;
  choice.in_panels = takes_panels(device, o, &choice.panels);
  if (choice.in_panels) choice.kernel = choice.panels.name;
  for (size_t i = 0; i < COUNT(families) && device->has_f64 && !choice.kernel; i++)
    if (families[i].takes(o)) choice.kernel = families[i].kernel;
  return choice;
}
