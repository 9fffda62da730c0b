#include "gemm/arrange.h"

#include <stdlib.h>
#include <string.h>

#include "host/load.h"

/* copy_lines copies lines that are contiguous along K, in the schedule's order of k. copy_indices copies other lines:
   those elements of all lines that have the same k are contiguous. `to` contains zeros, which stay where the schedule
   has no product. */
static void copy_lines(const smma_schedule *s, const smma_view *x, size_t bytes, unsigned char *to) {
  const size_t count = s->steps * s->k_per_step;
  for (size_t line = 0; line < x->lines; line++)
    for (size_t i = 0; i < count; i++)
      if (s->k[i] != SMMA_NO_PRODUCT)
        smma_store(bytes, to, line * count + i, smma_load(bytes, x->data, smma_element(x, line, s->k[i])));
}

static void copy_indices(const smma_schedule *s, const smma_view *x, size_t bytes, unsigned char *to) {
  for (size_t i = 0; i < s->steps * s->k_per_step; i++)
    if (s->k[i] != SMMA_NO_PRODUCT)
      memcpy(to + i * x->lines * bytes, (const unsigned char *)x->data + smma_element(x, 0, s->k[i]) * bytes,
             x->lines * bytes);
}

void *smma_arrange(const smma_schedule *s, smma_view *x) {
  const size_t bytes = smma_bytes_of(x->format), count = s->steps * s->k_per_step;
  const bool along_k = smma_is_along_k(x);
  unsigned char *copy;
  if (x->lines && count > SIZE_MAX / bytes / x->lines) return NULL;
  copy = calloc(x->lines * count + 1, bytes);
  if (!copy) return NULL;
  (along_k ? copy_lines : copy_indices)(s, x, bytes, copy);
  x->data = copy, x->count = count;
  x->line_step = along_k ? count : 1, x->k_step = along_k ? 1 : x->lines;
  return copy;
}
