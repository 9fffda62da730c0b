#include "rows/replay.h"

#include <string.h>

#include "isa/catalogue.h"
#include "isa/key.h"
#include "rows/datum.h"
#include "rows/vectors.h"

enum { LONGEST_WORD = 4 * sizeof((smma_vector_header *)NULL)->arch }; /* a path of which every byte is quoted */

static void print_vector(FILE *stream, const char *option, smma_format format, const uint64_t *x, int count) {
  char text[24];
  fprintf(stream, " %s '", option);
  for (int i = 0; i < count; i++) fprintf(stream, "%s%s", i ? " " : "", smma_hex_text(format, x[i], text));
  fputc('\'', stream);
}

const char *smma_shell_word(const char *text, char *to, size_t size) {
  static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%";
  const bool is_plain = *text && text[strspn(text, plain)] == '\0';
  to[0] = '\0';
  if (!is_plain) smma_append_text(to, size, "'");
  for (const char *c = text; *c; c++)
    if (*c == '\'')
      smma_append_text(to, size, "'\\''");
    else
      smma_append_text(to, size, "%c", *c);
  if (!is_plain) smma_append_text(to, size, "'");
  return to;
}

void smma_print_dot_command(FILE *stream, const smma_instruction *i, const smma_row *row) {
  int scales = smma_scale_count(i->k, i->scale_block);
  char on[LONGEST_WORD];
  fprintf(stream, "softmma dot --on %s --instr %s --hex --explain", smma_shell_word(smma_arch_name(i), on, sizeof on),
          i->name);
  print_vector(stream, "--a", i->a, row->a, i->k);
  print_vector(stream, "--b", i->b, row->b, i->k);
  print_vector(stream, "--c", i->c, &row->c, 1);
  if (!scales) return;
  print_vector(stream, "--scale-a", i->scale, row->scale_a, scales);
  print_vector(stream, "--scale-b", i->scale, row->scale_b, scales);
}

void smma_print_value(FILE *stream, int indent, int width, const char *label, smma_format format, uint64_t d) {
  char hex[24], value[40];
  fprintf(stream, "%*s%-*s %s  %s\n", indent, "", width, label, smma_hex_text(format, d, hex),
          smma_value_text(format, d, value));
}
