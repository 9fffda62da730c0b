#include "device_gemm.h"

#include "softmma/device.h"

bool has_addresses(const char *kernel) {
  void *memory = NULL;
  const bool has = kernel && smma_device_allocate(kernel, 1, &memory, NULL) == SMMA_OK;
  if (has) smma_device_release(kernel, memory);
  return has;
}

static size_t extent(size_t rows, size_t columns, smma_order order, size_t leading) {
  const size_t outer = order == SMMA_ROW_MAJOR ? rows : columns, inner = order == SMMA_ROW_MAJOR ? columns : rows;
  return outer && inner ? (outer - 1) * (leading ? leading : inner) + inner : 0;
}

/* Copies a matrix from the host to the device, and replaces `*data` by its address there. */
static smma_status move(const smma_gemm_arguments *g, const void **data, size_t bytes) {
  const void *host = *data;
  void *there = NULL;
  smma_status status;
  if (!host) return SMMA_OK;
  status = smma_device_allocate(g->kernel, bytes, &there, g->error);
  *data = there;
  return status == SMMA_OK ? smma_device_write(g->kernel, there, host, bytes, g->error) : status;
}

smma_status gemm_on_device(const smma_instruction *i, const smma_gemm_arguments *g) {
  const size_t plan_k = g->plan ? smma_plan_scaled_k(g->plan) : 0;
  smma_gemm_arguments there = *g;
  smma_instruction_info is;
  smma_status status;
  const void *d = g->d;
  size_t block, scale_bytes, d_bytes;
  smma_describe(i, &is, sizeof is);
  block = plan_k ? plan_k : is.scale_block ? (size_t)is.scale_block : 1;
  scale_bytes = (g->k + block - 1) / block * (plan_k ? sizeof(float) : smma_format_bytes(is.scale));
  d_bytes = extent(g->m, g->n, g->order_d, g->ldd) * smma_format_bytes(g->plan ? smma_plan_d_format(g->plan, i) : is.d);
  there.on_device = true;
  status = move(g, &there.a, extent(g->m, g->k, g->order_a, g->lda) * smma_format_bytes(is.a));
  if (status == SMMA_OK) status = move(g, &there.b, extent(g->k, g->n, g->order_b, g->ldb) * smma_format_bytes(is.b));
  if (status == SMMA_OK) status = move(g, &there.scale_a, g->m * scale_bytes);
  if (status == SMMA_OK) status = move(g, &there.scale_b, g->n * scale_bytes);
  if (status == SMMA_OK) status = move(g, (const void **)&there.bias, g->n * sizeof(float));
  if (status == SMMA_OK) status = move(g, &d, d_bytes);
  if (status == SMMA_OK && g->c != g->d)
    status = move(g, &there.c, extent(g->m, g->n, g->order_c, g->ldc) * smma_format_bytes(is.c));
  there.d = (void *)d;
  if (g->c && g->c == g->d) there.c = d;
  if (status == SMMA_OK) status = smma_gemm(i, &there);
  if (status == SMMA_OK) status = smma_device_read(g->kernel, g->d, d, d_bytes, g->error);
  if (there.c != d && there.c != g->c) smma_device_release(g->kernel, (void *)there.c);
  if (there.a != g->a) smma_device_release(g->kernel, (void *)there.a);
  if (there.b != g->b) smma_device_release(g->kernel, (void *)there.b);
  if (there.scale_a != g->scale_a) smma_device_release(g->kernel, (void *)there.scale_a);
  if (there.scale_b != g->scale_b) smma_device_release(g->kernel, (void *)there.scale_b);
  if (there.bias != g->bias) smma_device_release(g->kernel, (void *)there.bias);
  if (d != g->d) smma_device_release(g->kernel, (void *)d);
  return status;
}
