/* Prints numbers that the library and the study write and read: the same bytes in every locale (locale.sh). With an
   argument, the program sets the locale of its environment, which must have this decimal point.
   Usage: locale [.|,] */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "explain/curves.h"
#include "explain/picture.h"
#include "isa/custom.h"
#include "rows/data.h"
#include "rows/row.h"
#include "softmma/softmma.h"

static void explain(const smma_instruction *i, const char *label, uint64_t c, smma_operation *o,
                    smma_explanation *explanation, smma_explained *x) {
  smma_row row = {.c = c};
  for (int k = 0; k < i->k; k++) {
    row.a[k] = smma_format_encode(i->a, 0.3 * (k + 1), SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
    row.b[k] = smma_format_encode(i->b, 1.7 - 0.5 * k, SMMA_ROUND_NEAREST_EVEN, SMMA_OVERFLOW_DEFAULT);
  }
  *o = smma_operation_of(i);
  if (!smma_explain(o, &row, explanation)) return;
  *x = (smma_explained){label, i->name, o, explanation};
}

static void print_explanations(void) {
  const smma_instruction *i[] = {smma_find("V100", "HMMA.884.F32.F32", NULL), smma_find("x86", "vdpbf16ps", NULL),
                                 smma_find("A100", "mma.m16n8k8.f32.f16.f16.f32", NULL),
                                 smma_find("H100", "mma.m16n8k8.f32.f16.f16.f32", NULL)};
  smma_operation operation[4];
  smma_explanation explanation[4];
  smma_explained unit[4];
  for (int u = 0; u < 4; u++) {
    explain(i[u], u == 2 ? "A100" : "H100", 0x41333333, &operation[u], &explanation[u], &unit[u]);
    smma_explain_print(stdout, &operation[u], &explanation[u], 100);
    smma_picture_write(stdout, &unit[u], 1, 0);
  }
  smma_explain_print_two(stdout, &unit[2], 100);
  puts(smma_find_difference(&unit[2]).text);
  for (int u = 0; u < 4; u++) smma_explanation_free(&explanation[u]);
}

static void print_curves(void) {
  const smma_point point[] = {{0.5, 0.25}, {1.5, 1.75}, {2.5, 0.125}};
  const smma_curve curve = {"a curve", point, 3};
  smma_curves_write(
      stdout,
      &(smma_curves){.title = "curves", .subtitle = "", .x_title = "x", .y_title = "y", .curve = &curve, .count = 1});
}

static void print_data(const char *text) {
  smma_data data = {.seed = 0};
  smma_error error;
  char back[32];
  puts(smma_data_from_text(text, &data, &error) ? smma_data_text(data, back) : error.text);
}

static void print_texts(void) {
  static const char unit[] =
      "{\"softmma-unit\": 1, \"name\": \"u\", \"algorithm\": \"T-FDPA\", \"k\": 4, \"a\": \"f16\","
      " \"b\": \"f16\", \"d\": \"f32\", \"block\": 4, \"alignment_bits\": 1.5}";
  char text[4096];
  smma_error error;
  puts(smma_custom_parse(NULL, unit, sizeof unit - 1, &error) ? "parsed" : error.text);
  smma_instruction_parameters(smma_find("MI300X", "v_mfma_f32_16x16x16_f16", NULL), text, sizeof text), puts(text);
  smma_custom_text(smma_find("arm", "bfmmla", NULL), text, sizeof text), puts(text);
  puts(smma_format_name(smma_format_find("E4M3-BIAS-3")));
}

int main(int argc, char **argv) {
  if (argc > 1 && (!setlocale(LC_ALL, "") || strcmp(localeconv()->decimal_point, argv[1]) != 0)) {
    fprintf(stderr, "the locale has the decimal point '%s'\n", localeconv()->decimal_point);
    return 2;
  }
  print_explanations();
  print_curves();
  print_texts();
  print_data("normal"), print_data("zeros=0.25"), print_data("zeros=0,25"), print_data("zeros=1.5");
  fprintf(stderr, "%.1f", 0.5); /* the program's own locale is unchanged */
  return 0;
}
