/* Headers of vector files, and the instructions that they name. */
#include <stdio.h>
#include <string.h>

#include "io/custom_file.h"
#include "isa/catalogue.h"
#include "isa/key.h"
#include "rows/vectors.h"

/* If a format differs between header and instruction, sets the error for the first such key and returns true. Otherwise
   returns false. */
static bool formats_disagree(const smma_vector_header *h, const smma_instruction *i, const char *path,
                             smma_error *error) {
  const struct {
    const char *key;
    smma_format in_file, of_instruction;
  } keys[] = {
      {"a", h->a, i->a}, {"b", h->b, i->b}, {"c", h->c, i->c}, {"d", h->d, i->d}, {"scale", h->scale, i->scale}};
  for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++)
    if (keys[k].in_file != keys[k].of_instruction)
      return !smma_fail(error, "%s: line %llu: the header says %s: %s, but %s has %s; mend the header", path, h->line,
                        keys[k].key, smma_format_text(keys[k].in_file), i->name,
                        smma_format_text(keys[k].of_instruction));
  return false;
}

/* Writes the instruction's name with the modifiers that AMD writes separately: integer types, wave size, overflow mode,
   clamp. */
static void name_of(const smma_vector_header *h, char *name, size_t size) {
  const size_t length = strlen(h->instruction);
  const bool untyped = length > 4 && strncmp(h->instruction + length - 4, "_iu", 3) == 0;
  snprintf(name, size, "%s", h->instruction);
  if (untyped) smma_append_text(name, size, ".%s.%s", smma_format_text(h->a), smma_format_text(h->b));
  if (h->wave) smma_append_text(name, size, ".w%d", h->wave);
  if (h->fp16_ovfl) smma_append_text(name, size, ".ovfl");
  if (h->clamp) smma_append_text(name, size, ".clamp");
}

const smma_instruction *smma_instruction_of_header(const smma_vector_header *h, const char *path, smma_error *error) {
  smma_error why;
  char name[sizeof h->instruction + 64];
  const smma_instruction *i;
  name_of(h, name, sizeof name);
  i = smma_resolve_instruction(h->arch, name, &why);
  if (!i) {
    smma_fail(error, "%s: line %llu: %s", path, h->line, why.text);
    return NULL;
  }
  if (h->k != i->k) {
    smma_fail(error, "%s: line %llu: the header says k: %d, but %s has k = %d; mend the header", path, h->line, h->k,
              i->name, i->k);
    return NULL;
  }
  if (formats_disagree(h, i, path, error)) return NULL;
  if (h->scale_block != i->scale_block) {
    smma_fail(error, "%s: line %llu: the header says a scale per %d elements, but %s has one per %d; mend the header",
              path, h->line, h->scale_block, i->name, i->scale_block);
    return NULL;
  }
  return i;
}

void smma_vector_header_of(const smma_instruction *i, smma_vector_header *h) {
  *h = (smma_vector_header){
      .a = i->a, .b = i->b, .c = i->c, .d = i->d, .scale = i->scale, .k = i->k, .scale_block = i->scale_block};
  snprintf(h->arch, sizeof h->arch, "%s", smma_arch_name(i));
  snprintf(h->instruction, sizeof h->instruction, "%s", i->name);
}

smma_instruction smma_vector_shape(const smma_vector_header *h) {
  return (smma_instruction){
      .a = h->a, .b = h->b, .c = h->c, .d = h->d, .scale = h->scale, .k = h->k, .scale_block = h->scale_block};
}

smma_row_layout smma_vector_layout(const smma_vector_header *h) {
  const smma_instruction shape = smma_vector_shape(h);
  smma_row_layout layout = smma_row_layout_of(&shape);
  if (h->tininess) smma_row_layout_add_flags(&layout);
  return layout;
}
