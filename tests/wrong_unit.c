/* Plug-ins that are wrong on purpose. The argument says how: "bit": one alignment bit too few; "place": another result
   of the same row at an odd place of a batch; "zero": a zero has the sign of c; "odd": the last bit is set; "moody":
   another result whenever asked again; "wide": results of more bits than the format has; "shuffled": products in
   another order; "failing", "silent": run fails, with and without a line; "closed": open fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/rule.h"
#include "softmma/unit.h"

typedef struct {
  char how[16];
  unsigned runs;
} wrong_unit;

/* mma.m16n8k16.f32.f16.f16.f32 of Ampere, whose F is 24. */
static smma_operation ampere(int alignment_bits) {
  smma_operation o = {.a = SMMA_F16, .b = SMMA_F16, .c = SMMA_F32, .d = SMMA_F32, .k = 16};
  o.scale = SMMA_NO_FORMAT;
  o.rule.algorithm = SMMA_T_FDPA;
  o.rule.nan = SMMA_NAN_ALL_ONES;
  o.rule.with.t_fdpa = (smma_t_fdpa){alignment_bits, 8, -132, SMMA_F32, SMMA_ROUND_TOWARD_ZERO};
  return o;
}

static int wrong_open(const char *arguments, void **unit, char *message, size_t size) {
  wrong_unit *u = calloc(1, sizeof *u);
  if (!u || (arguments && strcmp(arguments, "closed") == 0)) {
    free(u);
    snprintf(message, size, "it is closed today");
    return 1;
  }
  snprintf(u->how, sizeof u->how, "%s", arguments ? arguments : "");
  *unit = u;
  return 0;
}

static void wrong_close(void *unit) { free(unit); }

static void wrong_describe(void *unit, smma_unit_description *description) {
  (void)unit;
  snprintf(description->device, sizeof description->device, "a wrong unit");
  snprintf(description->driver, sizeof description->driver, "0");
}

static int wrong_computes(void *unit, const smma_instruction_info *i, char *message, size_t size) {
  (void)unit;
  if (strcmp(i->arch, "ampere") == 0 && strcmp(i->name, "mma.m16n8k16.f32.f16.f16.f32") == 0) return 0;
  if (i->d == SMMA_F16 && strcmp(i->arch, "ampere") == 0 && i->k == 16) return 0;
  snprintf(message, size, "it only has mma.m16n8k16 with f16 on ampere");
  return 1;
}

/* The product of place `k` in the order of additions is that of k * stride. */
static uint32_t compute(const smma_operation *o, const smma_batch *batch, size_t row, size_t stride) {
  const uint16_t *a = batch->a, *b = batch->b;
  const uint32_t *c = batch->c;
  smma_number x[16], y[16];
  for (size_t k = 0; k < 16; k++) {
    x[k] = smma_decode(smma_encoding_of(SMMA_F16), a[row * 16 + k * stride % 16]);
    y[k] = smma_decode(smma_encoding_of(SMMA_F16), b[row * 16 + k * stride % 16]);
  }
  return (uint32_t)smma_dot_add(o, (smma_operands){x, y, NULL, NULL}, c[row]);
}

static int wrong_run(void *unit, const smma_instruction_info *i, const smma_batch *batch, char *message, size_t size) {
  wrong_unit *u = unit;
  const smma_operation o = ampere(strcmp(u->how, "bit") == 0 ? 23 : 24);
  uint32_t *d = batch->d;
  u->runs++;
  if (strcmp(u->how, "failing") == 0) snprintf(message, size, "the device fell off the bus");
  if (strcmp(u->how, "failing") == 0 || strcmp(u->how, "silent") == 0) return 1;
  if (i->d == SMMA_F16) return 1;
  for (size_t row = 0; row < batch->rows; row++) {
    d[row] = compute(&o, batch, row, strcmp(u->how, "shuffled") == 0 ? 5 : 1);
    if (strcmp(u->how, "place") == 0 && row % 2) d[row] ^= 1;
    if (strcmp(u->how, "zero") == 0 && d[row] == 0) d[row] = ((const uint32_t *)batch->c)[row] & 0x80000000;
    if (strcmp(u->how, "odd") == 0) d[row] |= 1;
    if (strcmp(u->how, "moody") == 0 && u->runs % 2 == 0) d[row] ^= 1;
  }
  return 0;
}

static const smma_unit_methods methods = {
#ifdef WRONG_ABI
    .abi = SMMA_UNIT_ABI + 1,
#else
    .abi = SMMA_UNIT_ABI,
#endif
    .open = wrong_open,
    .close = wrong_close,
    .describe = wrong_describe,
    .computes = wrong_computes,
    .run = wrong_run};

const smma_unit_methods *softmma_unit(void);
const smma_unit_methods *softmma_unit(void) { return &methods; }
