#include <string.h>

#include "cli/describe.h"
#include "question/question.h"

/* Rows that differ in N only stand in the table together. */
static bool same_but_for_n(const smma_instruction *x, const smma_instruction *y) {
  return x->arch == y->arch && x->family == y->family && x->m == y->m && x->n < y->n && smma_same_operation(x, y) &&
         (x->family == SMMA_FAMILY_WGMMA || x->family == SMMA_FAMILY_TCGEN05);
}

/* One line of the table: instructions first .. last. */
static void print_row(const smma_instruction *first, const smma_instruction *last, size_t count) {
  char sizes[32] = "", parameters[96];
  if (count > 1) snprintf(sizes, sizeof sizes, "N=%d..%d step %d", first->n, last->n, (first + 1)->n - first->n);
  smma_instruction_parameters(first, parameters, sizeof parameters);
  printf("%-13s  %-50s  %-19s  %-11s  %s\n", smma_architectures[first->arch].name, first->name, sizes,
         smma_model_name(&first->rule->rule), parameters);
}

static size_t print_table(const smma_instruction_table *table, bool every_n) {
  size_t rows = 0;
  for (size_t i = 0; i < table->count; rows++) {
    size_t next = i + 1;
    while (!every_n && next < table->count && same_but_for_n(&table->row[next - 1], &table->row[next])) next++;
    print_row(&table->row[i], &table->row[next - 1], next - i);
    i = next;
  }
  return rows;
}

/* The names besides the architectures' own that --on takes. */
static int list_gpus(int only, bool json) {
  json_t *array = json_array();
  for (size_t g = 0; g < smma_gpu_count; g++) {
    const char *arch = smma_architectures[smma_gpus[g].arch].name;
    if (only >= 0 && (int)smma_gpus[g].arch != only) continue;
    if (!json) printf("%-13s  %s\n", arch, smma_gpus[g].name);
    json_array_append_new(array, json_pack("{s:s, s:s}", "arch", arch, "name", smma_gpus[g].name));
  }
  if (json)
    smma_print_json(array);
  else
    json_decref(array);
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

/* A number of bits, or what else only floating-point formats have. */
static json_t *floating(smma_encoding f, int number) {
  return f.specials == SMMA_SPECIALS_INTEGER ? json_null() : json_integer(number);
}

/* `width`: of names. */
static void list_format(smma_format format, int width, bool json, json_t *array) {
  const char *name = smma_format_text(format);
  const smma_encoding f = smma_encoding_of(format);
  if (!json && f.specials == SMMA_SPECIALS_INTEGER)
    printf("%-*s  %4d  %8s  %8s  %4s\n", width, name, f.bits, "-", "-", "-");
  else if (!json)
    printf("%-*s  %4d  %8d  %8d  %4d\n", width, name, f.bits, f.exponent_bits, f.fraction_bits, f.bias);
  json_array_append_new(array, json_pack("{s:s, s:i, s:o, s:o, s:o}", "name", name, "bits", f.bits, "exponent_bits",
                                         floating(f, f.exponent_bits), "fraction_bits", floating(f, f.fraction_bits),
                                         "bias", floating(f, f.bias)));
}

/* Those that are named; without names those of the table. */
static int list_formats(const char **names, bool json) {
  json_t *array = json_array();
  const bool all = !*names;
  int width = 10;
  for (const char **name = names; *name; name++)
    width = smma_maximum(width, (int)strlen(smma_format_text(smma_require_format(*name, "--formats"))));
  if (!json) printf("%-*s  %4s  %8s  %8s  %4s\n", width, "format", "bits", "exponent", "fraction", "bias");
  for (; *names; names++) list_format(smma_format_from_text(*names), width, json, array);
  for (int format = 0; all && format < SMMA_FORMAT_COUNT; format++)
    if (smma_is_operand_format((smma_format)format)) list_format((smma_format)format, width, json, array);
  if (json)
    smma_print_json(array);
  else
    json_decref(array);
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

/* What `campaign --open` asks. */
static int list_experiments(bool json) {
  json_t *array = json_array();
  for (size_t n = 0; n < SMMA_QUESTION_COUNT; n++) {
    const smma_question *e = smma_questions[n];
    json_t *candidates = json_array();
    if (!json) printf("%s: %s\n", e->name, e->text);
    for (const smma_candidate *c = e->candidates; c->text; c++) {
      if (!json) printf("  %s\n", c->text);
      json_array_append_new(candidates, json_string(c->text));
    }
    json_array_append_new(array,
                          json_pack("{s:s, s:s, s:o}", "name", e->name, "question", e->text, "candidates", candidates));
  }
  if (json)
    smma_print_json(array);
  else
    json_decref(array);
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

static int list_instructions(int only, bool every_n, bool json) {
  json_t *array = json_array();
  size_t rows = 0, instructions = 0;
  if (!json) printf("%-13s  %-50s  %-19s  %-11s  %s\n", "architecture", "instruction", "", "model", "parameters");
  for (int a = 0; a < SMMA_ARCH_COUNT; a++) {
    const smma_instruction_table *table = smma_architectures[a].table;
    if (only >= 0 ? a != only : !smma_architectures[a].listed) continue;
    instructions += table->count;
    if (!json) rows += print_table(table, every_n);
    for (size_t i = 0; json && i < table->count; i++)
      json_array_append_new(array, smma_instruction_json(&table->row[i]));
  }
  if (json)
    smma_print_json(array);
  else {
    json_decref(array);
    printf("%zu instruction%s in %zu row%s\n", instructions, instructions == 1 ? "" : "s", rows, rows == 1 ? "" : "s");
  }
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

int smma_command_list(int argc, const char **argv) {
  const char *arch_name = NULL;
  int json = 0, all = 0, list_of_gpus = 0, list_of_formats = 0, experiments = 0, only;
  struct poptOption options[] = {
      {"arch", 'a', POPT_ARG_STRING, &arch_name, 0, "only this architecture or GPU", "ARCH"},
      {"on", 0, POPT_ARG_STRING | POPT_ARGFLAG_DOC_HIDDEN, &arch_name, 0, NULL, NULL},
      {"all", 0, POPT_ARG_NONE, &all, 0, "a line for every N of wgmma and tcgen05", NULL},
      {"gpus", 0, POPT_ARG_NONE, &list_of_gpus, 0, "the names of GPUs and targets that --on takes instead", NULL},
      {"formats", 0, POPT_ARG_NONE, &list_of_formats, 0, "the number formats instead: all of the table, or these",
       NULL},
      {"experiments", 0, POPT_ARG_NONE, &experiments, 0, "what 'softmma campaign --open' asks instead", NULL},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON: every instruction with aliases and evidence", NULL},
      POPT_TABLEEND};
  const char **names =
      smma_parse_options(argc, argv, options, 0, argc,
                         "cdna3-r1, the first published model of CDNA 3, is listed when asked for by name.\n"
                         "Behind --formats may stand names of formats, also of those that are spelled out:\n"
                         "[u]eXmY[-biasN][-ieee|-nan|-fnuz|-finite] of X exponent and Y fraction bits, sN and uN.\n");
  if (*names && !list_of_formats) smma_die("unexpected argument '%s'", *names);
  only = arch_name ? (int)smma_require_arch(arch_name, "--arch") : -1;
  if (list_of_gpus + list_of_formats + experiments > 1)
    smma_die("--gpus, --formats and --experiments are lists of their own; ask for one");
  if (list_of_gpus) return list_gpus(only, json);
  if (list_of_formats) return list_formats(names, json);
  if (experiments) return list_experiments(json);
  return list_instructions(only, all, json);
}
