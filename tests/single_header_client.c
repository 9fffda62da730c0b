/* A client of the single header (single_header_client.h). */
#include "softmma_core.h"
/* The first include, so that the header must include everything it needs. */
#include "single_header_client.h"

static void describe(const smma_core_instruction *i, described *x) {
  memset(x, 0, sizeof *x);
  strncpy(x->arch, i->arch, sizeof x->arch - 1);
  strncpy(x->rule, i->rule, sizeof x->rule - 1);
  memcpy(x->name, i->name, sizeof x->name);
  x->m = i->m, x->n = i->n, x->k = i->k;
  x->a = i->a, x->b = i->b, x->c = i->c, x->d = i->d, x->scale = i->scale;
  x->scale_block = i->scale_block, x->sparse_group = i->sparse_group;
}

static int find(const char *gpu, const char *name, described *found) {
  smma_core_instruction i;
  const smma_core_status status = smma_core_find(gpu, name, &i);
  if (status == SMMA_CORE_FOUND) describe(&i, found);
  return (int)status;
}

static bool at(size_t index, described *found) {
  smma_core_instruction i;
  if (!smma_core_at(index, &i)) return false;
  describe(&i, found);
  return true;
}

static uint64_t dot(size_t index, const uint64_t *a, const uint64_t *b, uint64_t c, const uint64_t *scale_a,
                    const uint64_t *scale_b) {
  smma_core_instruction i;
  return smma_core_at(index, &i) ? smma_core_dot(&i, a, b, c, scale_a, scale_b) : 0;
}

static bool same(size_t index, uint64_t d, uint64_t other) {
  smma_core_instruction i;
  return smma_core_at(index, &i) && smma_core_same(&i, d, other);
}

static const char *arch_of(const char *gpu) {
  const smma_arch_id arch = smma_find_arch(gpu);
  return arch == SMMA_ARCH_COUNT ? NULL : smma_architectures[arch].name;
}

static const char *format_name(int format) { return smma_core_format_name((smma_format)format); }

static int format_bits(int format) { return smma_core_format_bits((smma_format)format); }

static double value(int format, uint64_t encoding) { return smma_core_value((smma_format)format, encoding); }

static uint64_t encode(int format, double number, int rounding, int overflow) {
  return smma_core_encode((smma_format)format, number, (smma_rounding)rounding, (smma_overflow)overflow);
}

static uint64_t convert(int from, uint64_t encoding, int to, int rounding, int overflow) {
  return smma_core_convert((smma_format)from, encoding, (smma_format)to, (smma_rounding)rounding,
                           (smma_overflow)overflow);
}

#ifdef __cplusplus
const client client_in_cpp = {"C++17",
#else
const client client_in_c = {"C11",
#endif
                              SMMA_CORE_VERSION, find,        at,    dot,    same,   arch_of,
                              format_name,       format_bits, value, encode, convert};
