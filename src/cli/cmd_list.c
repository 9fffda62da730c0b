/* softmma list: prints instructions, GPUs, formats, experiments or facts. */
#include <string.h>

#include "cli/describe.h"
#include "cli/target.h"
#include "isa/find.h"
#include "isa/formats.h"

/* Reports whether two instructions differ only in N, so that they share a line of the table. */
static bool same_but_for_n(const smma_instruction *x, const smma_instruction *y) {
  return x->arch == y->arch && x->family == y->family && x->m == y->m && x->n < y->n && smma_same_operation(x, y) &&
         (x->family == SMMA_FAMILY_WGMMA || x->family == SMMA_FAMILY_TCGEN05);
}

/* Prints the line of the table for the instructions first .. last. */
static void print_row(const smma_instruction *first, const smma_instruction *last, size_t count) {
  char sizes[32] = "", parameters[SMMA_MAXIMUM_STEPS * SMMA_PARAMETER_SIZE];
  if (count > 1) snprintf(sizes, sizeof sizes, "N=%d..%d step %d", first->n, last->n, (first + 1)->n - first->n);
  smma_shown_parameters(first, parameters, sizeof parameters);
  printf("%-13s  %-50s  %-19s  %-11s  %s\n", smma_architectures[first->arch].name, first->name, sizes,
         smma_model_name(&first->rule->rule), parameters);
}

/* Prints the instructions that the GPU has (NULL: all), adds their number to `*instructions`, and returns the number of
   lines. */
static size_t print_table(const smma_instruction_table *table, const char *gpu, bool every_n, size_t *instructions) {
  size_t rows = 0, next;
  for (size_t i = 0; i < table->count; i = next) {
    next = i + 1;
    if (gpu && !smma_gpu_has(gpu, table->row[i].name)) continue;
    while (!every_n && next < table->count && same_but_for_n(&table->row[next - 1], &table->row[next])) next++;
    print_row(&table->row[i], &table->row[next - 1], next - i);
    *instructions += next - i;
    rows++;
  }
  return rows;
}

static void print_gpu(const smma_datum *gpu, int width) {
  (void)width;
  printf("%-13s  %s\n", smma_text_at(gpu, "arch"), smma_text_at(gpu, "name"));
}

/* Writes the number of a key as text, or "-" for null. */
static const char *number_at(const smma_datum *record, const char *key, char text[16]) {
  const smma_datum *number = smma_datum_get(record, key);
  snprintf(text, 16, "%d", (int)smma_datum_integer_of(number));
  return smma_datum_kind_of(number) == SMMA_DATUM_NULL ? "-" : text;
}

static void print_format(const smma_datum *format, int width) {
  char bits[16], exponent[16], fraction[16], bias[16];
  printf("%-*s  %4s  %8s  %8s  %4s\n", width, smma_text_at(format, "name"), number_at(format, "bits", bits),
         number_at(format, "exponent_bits", exponent), number_at(format, "fraction_bits", fraction),
         number_at(format, "bias", bias));
}

static void print_question(const smma_datum *question, int width) {
  const smma_datum *candidates = smma_datum_get(question, "candidates");
  (void)width;
  printf("%s: %s\n", smma_text_at(question, "name"), smma_text_at(question, "question"));
  for (size_t c = 0; c < smma_datum_size(candidates); c++)
    printf("  %s\n", smma_datum_text_of(smma_datum_at(candidates, c)));
}

/* Prints a list as JSON, or calls `print` for each record, and frees the list. */
static int print_list(smma_datum *list, bool json, void (*print)(const smma_datum *record, int width), int width) {
  if (json) {
    smma_print_datum(list);
    return smma_finish_output(SMMA_EXIT_EQUAL);
  }
  if (!smma_datum_is_complete(list)) smma_die("out of memory");
  for (size_t i = 0; i < smma_datum_size(list); i++) print(smma_datum_at(list, i), width);
  smma_datum_free(list);
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

static void print_block_formats(void) {
  printf("\n%-10s  %-8s  %s\n", "in blocks", "element", "scale factor");
  for (size_t i = 0; i < smma_block_format_count; i++) {
    const smma_block_format *f = &smma_block_formats[i];
    printf("%-10s  %-8s  %s, shared by %d elements\n", f->name, smma_format_text(f->element),
           smma_format_text(f->scale), f->block);
  }
}

/* Lists the named formats, or all formats of the table if there are no names. */
static int list_formats(const char **names, bool json) {
  smma_datum *list = *names ? smma_datum_list() : smma_formats_datum();
  smma_error error;
  int width = 10;
  for (const char **name = names; *name; name++) {
    const smma_format format = smma_format_of_option(*name, "--formats", &error);
    smma_require(format != SMMA_NO_FORMAT, &error);
    width = smma_maximum(width, (int)strlen(smma_format_text(format)));
    smma_datum_append(list, smma_format_datum(format));
  }
  if (!json) printf("%-*s  %4s  %8s  %8s  %4s\n", width, "format", "bits", "exponent", "fraction", "bias");
  print_list(list, json, print_format, width);
  if (!json && !*names) print_block_formats();
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

/* Lists the instructions of a GPU or architecture, or of all listed architectures if `gpu` is NULL. */
static int list_instructions(const char *gpu, bool every_n) {
  const smma_arch_id only = gpu ? smma_find_arch(gpu) : SMMA_ARCH_COUNT;
  size_t rows = 0, instructions = 0;
  printf("%-13s  %-50s  %-19s  %-11s  %s\n", "architecture", "instruction", "", "model", "parameters");
  for (int a = 0; a < SMMA_ARCH_COUNT; a++) {
    const smma_instruction_table *table = smma_architectures[a].table;
    if (gpu ? a != (int)only : !smma_architectures[a].listed) continue;
    rows += print_table(table, gpu, every_n, &instructions);
  }
  printf("%zu instruction%s in %zu row%s\n", instructions, instructions == 1 ? "" : "s", rows, rows == 1 ? "" : "s");
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

int smma_command_list(int argc, const char **argv) {
  const char *on = NULL;
  int json = 0, all = 0, list_of_gpus = 0, list_of_formats = 0, experiments = 0, facts = 0, instructions = 0, status;
  smma_target target;
  smma_arch_id only;
  smma_error error;
  struct poptOption options[] = {
      {"on", 0, POPT_ARG_STRING, &on, 0, "only this GPU or architecture (default: all)", "GPU"},
      {NULL, 'a', POPT_ARG_STRING | POPT_ARGFLAG_DOC_HIDDEN, &on, 0, "--on", NULL},
      {"instructions", 0, POPT_ARG_NONE | POPT_ARGFLAG_DOC_HIDDEN, &instructions, 0, "what list does anyway", NULL},
      {"all", 0, POPT_ARG_NONE, &all, 0, "a line for every N of wgmma and tcgen05", NULL},
      {"gpus", 0, POPT_ARG_NONE, &list_of_gpus, 0, "list the names of GPUs and targets that --on accepts", NULL},
      {"formats", 0, POPT_ARG_NONE, &list_of_formats, 0, "list the number formats: all of the table, or those named",
       NULL},
      {"experiments", 0, POPT_ARG_NONE, &experiments, 0, "list the experiments of 'softmma test --open'", NULL},
      {"facts", 0, POPT_ARG_NONE, &facts, 0,
       "print everything, with rules, evidence and recordings, as one JSON document", NULL},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON: every instruction with aliases and evidence", NULL},
      POPT_TABLEEND};
  const char **names =
      smma_parse_options(argc, argv, options, 0, argc,
                         "The first published model of CDNA 3 is listed only if you name it: 'softmma list cdna3-r1'.\n"
                         "--formats also takes formats: names of the table, sN and uN for integers of N bits, and\n"
                         "[u]eXmY[-biasN][-ieee|-nan|-fnuz|-finite] for X exponent bits and Y fraction bits.\n",
                         &status);
  if (!names) return status;
  if (*names && !list_of_formats) on = *names;
  smma_require(smma_read_target_or_none(on, &target, &error), &error);
  if (target.custom || target.more)
    smma_die("list takes a GPU, and not '%s'; 'softmma show %s' shows that instruction", on, on);
  only = target.arch;
  if (list_of_gpus + list_of_formats + experiments + facts > 1)
    smma_die("--gpus, --formats, --experiments and --facts are different lists; give only one");
  if (facts) smma_require(smma_check_options("--facts", "facts json", &error), &error);
  if (list_of_gpus) smma_require(smma_check_options("--gpus", "gpus on json", &error), &error);
  if (list_of_formats) smma_require(smma_check_options("--formats", "formats json", &error), &error);
  if (experiments) smma_require(smma_check_options("--experiments", "experiments json", &error), &error);
  if (facts) return print_list(smma_facts_datum(), true, NULL, 0);
  if (list_of_gpus) return print_list(smma_gpus_datum(only), json, print_gpu, 0);
  if (list_of_formats) return list_formats(names, json);
  if (experiments) return print_list(smma_questions_datum(), json, print_question, 0);
  if (json) return print_list(smma_instructions_datum(on ? target.gpu : NULL), true, NULL, 0);
  return list_instructions(on ? target.gpu : NULL, all);
}
