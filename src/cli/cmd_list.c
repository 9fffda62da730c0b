/* softmma list: prints instructions, GPUs, formats, experiments or facts. */
#include <string.h>

#include "cli/describe.h"
#include "cli/target.h"
#include "host/count.h"
#include "isa/find.h"
#include "isa/formats.h"

/* Reports whether two instructions differ only in N, so that they share a line of the table. */
static bool same_but_for_n(const smma_instruction *x, const smma_instruction *y) {
  return x->arch == y->arch && x->family == y->family && x->m == y->m && x->n < y->n && smma_same_operation(x, y) &&
         (x->family == SMMA_FAMILY_WGMMA || x->family == SMMA_FAMILY_TCGEN05);
}

static void print_head(void) {
  printf("%-13s  %-50s  %-19s  %-11s  %s\n", "architecture", "instruction", "", "model", "parameters");
}

/* Prints the line of the table for the instructions first .. last. */
static void print_row(const smma_instruction *first, const smma_instruction *last, size_t count) {
  char sizes[32] = "", parameters[SMMA_MAXIMUM_STEPS * SMMA_PARAMETER_SIZE];
  if (count > 1) snprintf(sizes, sizeof sizes, "N=%d..%d step %d", first->n, last->n, (first + 1)->n - first->n);
  smma_shown_parameters(first, parameters, sizeof parameters);
  printf("%-13s  %-50s  %-19s  %-11s  %s\n", smma_architectures[first->arch].name, first->name, sizes,
         smma_model_name(&first->rule->rule), parameters);
}

/* The instructions to list: those of a GPU (NULL: of all listed architectures) that pass the filter. */
typedef struct {
  const char *gpu;
  smma_format_filter filter;
  const char *in, *out; /* the filter as text, or NULL */
} selection;

/* Prints the instructions of the table that are selected, adds their number to `*instructions`, and returns the number
   of lines. The head of the table goes before the first of all instructions. */
static size_t print_table(const smma_instruction_table *table, const selection *of, bool every_n,
                          size_t *instructions) {
  const char *prefixes = smma_prefixes_of(of->gpu);
  size_t rows = 0, next;
  for (size_t i = 0; i < table->count; i = next) {
    next = i + 1;
    if (!smma_has_a_prefix(table->row[i].name, prefixes)) continue;
    if (!smma_passes_filter(&table->row[i], &of->filter)) continue;
    while (!every_n && next < table->count && same_but_for_n(&table->row[next - 1], &table->row[next])) next++;
    if (!*instructions) print_head();
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
static const char *number_at(const smma_datum *record, const char *key, char text[32]) {
  const smma_datum *number = smma_datum_get(record, key);
  snprintf(text, 32, "%.7g", smma_datum_real_of(number));
  return smma_datum_kind_of(number) == SMMA_DATUM_NULL ? "-" : text;
}

static const char *has_any(const smma_datum *record, const char *key) {
  return smma_datum_size(smma_datum_get(record, key)) ? "yes" : "-";
}

static void print_format(const smma_datum *format, int width) {
  char text[7][32];
  printf("%-*s  %4s  %8s  %8s  %4s  %13s  %13s  %13s  %3s  %s\n", width, smma_text_at(format, "name"),
         number_at(format, "bits", text[0]), number_at(format, "exponent_bits", text[1]),
         number_at(format, "fraction_bits", text[2]), number_at(format, "bias", text[3]),
         number_at(format, "max", text[4]), number_at(format, "smallest_normal", text[5]),
         number_at(format, "smallest_subnormal", text[6]), has_any(format, "infinity"), has_any(format, "nan"));
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
  if (!json)
    printf("%-*s  %4s  %8s  %8s  %4s  %13s  %13s  %13s  %3s  %s\n", width, "format", "bits", "exponent", "fraction",
           "bias", "max", "min normal", "min subnormal", "inf", "NaN");
  print_list(list, json, print_format, width);
  if (!json && !*names) print_block_formats();
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

/* Complains that no instruction is selected. */
static int refuse_selection(const selection *of) {
  char in[80] = "", out[80] = "";
  if (of->in) snprintf(in, sizeof in, " that takes %.60s", of->in);
  if (of->out) snprintf(out, sizeof out, "%s with D in %.40s", in, of->out);
  if (of->gpu)
    return smma_complain("%s has no instruction%s; 'softmma show %s' lists its formats", of->gpu, *out ? out : in,
                         of->gpu);
  return smma_complain("no GPU has an instruction%s (see 'softmma list --formats')", *out ? out : in);
}

static int list_instructions(const selection *of, bool every_n) {
  const smma_arch_id only = of->gpu ? smma_find_arch(of->gpu) : SMMA_ARCH_COUNT;
  size_t rows = 0, instructions = 0;
  for (int a = 0; a < SMMA_ARCH_COUNT; a++) {
    const smma_instruction_table *table = smma_architectures[a].table;
    if (of->gpu ? a != (int)only : !smma_architectures[a].listed) continue;
    rows += print_table(table, of, every_n, &instructions);
  }
  if (!rows) return refuse_selection(of);
  printf("%zu instruction%s in %zu row%s\n", instructions, smma_plural(instructions), rows, smma_plural(rows));
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

/* Lists records that a selection returned, unless there are none. */
static int list_selected(smma_datum *list, const selection *of, bool json,
                         void (*print)(const smma_datum *record, int width)) {
  if (!smma_datum_is_complete(list) || smma_datum_size(list)) return print_list(list, json, print, 0);
  smma_datum_free(list);
  return refuse_selection(of);
}

/* ---- The command ---- */

/* Takes the arguments that are not known as targets: a format, or a GPU whose name is also that of a file here. */
static void take_names(const char **names, const char **on, const char **in) {
  smma_format_filter filter;
  smma_error error;
  for (; *names; names++) {
    const bool is_format = smma_format_filter_from_text(*names, SMMA_NO_FORMAT, &filter, NULL) == SMMA_OK;
    const char **variable = is_format ? in : on;
    smma_require(is_format || smma_check_spelling(*names, &error), &error);
    if (!is_format && !strchr(*names, ':') && smma_resolve_arch(*names, &error) == SMMA_ARCH_COUNT)
      smma_die("%s (see 'softmma list --gpus' and 'softmma list --formats')", error.text);
    if (*variable && is_format)
      smma_die("two formats, '%s' and '%s'; type %s,%s for those of A and of B", *in, *names, *in, *names);
    *variable = *names;
  }
}

/* Reads what is selected from the target and the options. */
static void read_selection(const smma_target *target, selection *of) {
  smma_error error;
  smma_format d = SMMA_NO_FORMAT;
  if (target->more && of->in) smma_die("--in: %s already gives it; leave it out", target->text);
  if (target->more) of->in = target->more;
  if (target->text) of->gpu = target->gpu;
  if (of->out) smma_require((d = smma_format_of_option(of->out, "--out", &error)) != SMMA_NO_FORMAT, &error);
  if (smma_format_filter_from_text(of->in, d, &of->filter, &error) == SMMA_OK) return;
  if (target->custom || target->more)
    smma_die("list takes a GPU and formats, and not '%s'; 'softmma show %s' shows that instruction", target->text,
             target->text);
  smma_die("--in: %s", error.text);
}

int smma_command_list(int argc, const char **argv) {
  const char *on = NULL;
  int json = 0, all = 0, list_of_gpus = 0, list_of_formats = 0, experiments = 0, facts = 0, instructions = 0, status;
  selection of = {.gpu = NULL};
  smma_target target;
  smma_error error;
  struct poptOption options[] = {
      {"on", 0, POPT_ARG_STRING, &on, 0, "only this GPU or architecture (default: all)", "GPU"},
      {NULL, 'a', POPT_ARG_STRING | POPT_ARGFLAG_DOC_HIDDEN, &on, 0, "--on", NULL},
      {"in", 0, POPT_ARG_STRING, &of.in, 0,
       "only instructions whose A or B (or scale factors) have this format, or A,B (default: all)", "FORMAT"},
      {"out", 0, POPT_ARG_STRING, &of.out, 0, "only instructions whose D has this format (default: all)", "FORMAT"},
      {"instructions", 0, POPT_ARG_NONE | POPT_ARGFLAG_DOC_HIDDEN, &instructions, 0, "what list does anyway", NULL},
      {"all", 0, POPT_ARG_NONE, &all, 0, "a line for every N of wgmma and tcgen05", NULL},
      {"gpus", 0, POPT_ARG_NONE, &list_of_gpus, 0,
       "list the names of GPUs and targets that --on accepts; with --in, of those that take the format", NULL},
      {"formats", 0, POPT_ARG_NONE, &list_of_formats, 0, "list the number formats: all of the table, or those named",
       NULL},
      {"experiments", 0, POPT_ARG_NONE, &experiments, 0, "list the experiments of 'softmma test --open'", NULL},
      {"facts", 0, POPT_ARG_NONE, &facts, 0,
       "print everything, with rules, evidence and recordings, as one JSON document", NULL},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON: every instruction with aliases and evidence", NULL},
      POPT_TABLEEND};
  const char **names =
      smma_parse_options(argc, argv, options, 0, argc,
                         "FORMAT may be an argument: 'softmma list e4m3', 'softmma list H100 fp8'.\n"
                         "The first published model of CDNA 3 is listed only if you name it: 'softmma list cdna3-r1'.\n"
                         "--formats also takes formats: names of the table, sN and uN for integers of N bits, and\n"
                         "[u]eXmY[-biasN][-ieee|-nan|-fnuz|-finite] for X exponent bits and Y fraction bits.\n",
                         &status);
  if (!names) return status;
  if (!list_of_formats) take_names(names, &on, &of.in);
  smma_require(smma_read_target_or_none(on, &target, &error), &error);
  if (list_of_gpus + list_of_formats + experiments + facts > 1)
    smma_die("--gpus, --formats, --experiments and --facts are different lists; give only one");
  if (facts) smma_require(smma_check_options("--facts", "facts json", &error), &error);
  if (list_of_gpus) smma_require(smma_check_options("--gpus", "gpus on in out json", &error), &error);
  if (list_of_formats) smma_require(smma_check_options("--formats", "formats json", &error), &error);
  if (experiments) smma_require(smma_check_options("--experiments", "experiments json", &error), &error);
  if (facts) return print_list(smma_facts_datum(), true, NULL, 0);
  if (list_of_formats) return list_formats(names, json);
  if (experiments) return print_list(smma_questions_datum(), json, print_question, 0);
  read_selection(&target, &of);
  if (list_of_gpus) return list_selected(smma_gpus_datum(target.arch, &of.filter), &of, json, print_gpu);
  if (json) return list_selected(smma_instructions_datum(of.gpu, &of.filter), &of, true, NULL);
  return list_instructions(&of, all);
}
