/* Fetches the elements of A or B that a family packs: reads them by the steps of the view, applies the view's factor,
   and returns encodings in 32 bits. */
#include "gemm/pack.h"

/* Fetches the encodings with the indices k[0], k[1], ... of `vectors` rows or columns, of which the first `present` are
   inside the matrix. `bytes`, the size of an encoding, is a constant in the inlined copies; so is `vectors` in most. */
static inline __attribute__((always_inline)) void smma_fetch_as(const smma_fetch *f, size_t bytes, size_t vectors,
                                                                const size_t *k, size_t present, uint32_t *code) {
  const smma_view *x = f->view;
  const unsigned char *from = (const unsigned char *)x->data;
  if (present) from += smma_element(x, f->first, x->k) * bytes;
  for (int i = 0; i < f->length; i++) {
    uint32_t *restrict out = code + (size_t)i * vectors;
    const unsigned char *line = k[i] < x->count ? from + (k[i] - x->k) * x->k_step * bytes : from;
    const size_t there = k[i] < x->count ? present : 0;
    if (x->line_step == 1) smma_prefetch_ahead(x, line, 1, 0, vectors * bytes);
    if (there == vectors && x->line_step == 1) {
      for (size_t v = 0; v < vectors; v++) out[v] = (uint32_t)smma_load(bytes, line, v);
    } else {
      memset(out, 0, vectors * sizeof *out);
      for (size_t v = 0; v < there; v++) out[v] = (uint32_t)smma_load(bytes, line, v * x->line_step);
    }
  }
}

static inline __attribute__((always_inline)) void smma_fetch_vectors(const smma_fetch *f, size_t bytes, const size_t *k,
                                                                     size_t present, uint32_t *code) {
  switch (f->vectors) {
    case 64: smma_fetch_as(f, bytes, 64, k, present, code); break;
    case 32: smma_fetch_as(f, bytes, 32, k, present, code); break;
    case 16: smma_fetch_as(f, bytes, 16, k, present, code); break;
    default: smma_fetch_as(f, bytes, f->vectors, k, present, code); break;
  }
}

/* Applies the view's factor to elements inside the matrix. Elements outside stay +0, whatever the factor's sign. */
static inline void smma_scale_codes(const smma_fetch *f, const size_t *k, size_t present, uint32_t *code) {
  const smma_view *x = f->view;
  for (int i = 0; i < f->length; i++)
    for (size_t v = 0; k[i] < x->count && v < present; v++) {
      uint32_t *element = &code[(size_t)i * f->vectors + v];
      *element = (uint32_t)smma_scaled(x->format, *element, x->factor);
    }
}

/* Stores the index k of each product of the fetch. */
static inline void smma_fetch_indices(const smma_fetch *f, size_t *k) {
  const smma_operation *o = &f->multiplier->operation;
  const size_t first = f->step * (size_t)o->k;
  const bool dealt = f->length == smma_block_of(o) && smma_dealt_products(o) != f->length;
  const int block = f->length == smma_block_of(o) ? smma_block_in_order(o, f->block) : f->block;
  for (int i = 0; i < f->length; i++)
    k[i] = first + (size_t)(dealt ? smma_product_index(o, f->block, i) : block * f->length + i);
}

void smma_fetch_codes(const smma_fetch *f, uint32_t *code) {
  const smma_view *x = f->view;
  size_t present = smma_lines_present(x, f->first, f->vectors), k[SMMA_MOST_PRODUCTS];
  smma_fetch_indices(f, k);
  switch (smma_bytes_of(x->format)) {
    case 1: smma_fetch_vectors(f, 1, k, present, code); break;
    case 2: smma_fetch_vectors(f, 2, k, present, code); break;
    default: smma_fetch_vectors(f, 4, k, present, code); break;
  }
  if (x->factor != 1) smma_scale_codes(f, k, present, code);
}
