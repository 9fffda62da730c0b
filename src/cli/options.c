/* Reads a command's options with popt: adds common options and other names of options, reads numbers itself, joins
   lists that are given in several parts, and turns arguments that name targets into values of --on. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/advice.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/refusals.h"
#include "cli/target.h"
#include "host/thread.h"
#include "io/count.h"
#include "io/custom_file.h"
#include "rows/vectors.h"
#include "unit/unit.h"

enum { MAX_OPTIONS = 48, MAX_GROUPS = 8 };

struct poptOption smma_no_options[] = {POPT_TABLEEND};

/* The command that runs. */
static const smma_command *command;

int smma_run_command(const smma_command *one, int argc, const char **argv) {
  command = one;
  return smma_finish_redirection(command->run(argc, argv));
}

/* Memory that popt allocated: the context, which owns the remaining arguments, and the values of string options. */
static poptContext context;
static char *strings[MAX_OPTIONS], **words[MAX_OPTIONS];

static const char **plain_arguments; /* the arguments that name no target, followed by NULL */

static const struct poptOption *table_read; /* the command's table, once its options are read */
static bool is_set[MAX_OPTIONS];            /* whether the command line has an option, or a later name of it */

static char *defaults[MAX_OPTIONS]; /* values of the table's strings before the command line is read */

/* Values of the table's integers before the command line is read. An integer without a default in --help has 0 or -1
   there, which stands for an option that was not given. */
static long long initial[MAX_OPTIONS];

static char *output_path; /* the value of -o in a command whose table has no option "output" */

static void free_options(void) {
  free(output_path);
  for (int i = 0; i < MAX_OPTIONS; i++) {
    free(strings[i]);
    for (char **word = words[i]; word && *word; word++) free(*word);
    free(words[i]);
  }
  free((void *)plain_arguments);
  poptFreeContext(context);
}

/* Fills `values` with the values of string options, and with NULL for the other options. */
static void list_strings(const struct poptOption *table, char *values[MAX_OPTIONS]) {
  for (int i = 0; i < MAX_OPTIONS && (table[i].longName || table[i].arg); i++)
    values[i] = (table[i].argInfo & POPT_ARG_MASK) == POPT_ARG_STRING ? *(char **)table[i].arg : NULL;
}

/* Notes which strings popt has copied, to free them at exit: all that are no longer the table's defaults, and the words
   of options that may be repeated. */
static void own_strings(const struct poptOption *table) {
  list_strings(table, strings);
  for (int i = 0; i < MAX_OPTIONS; i++)
    for (int j = 0; j < MAX_OPTIONS; j++) /* two names of one option have one string */
      if (strings[i] && (strings[i] == defaults[j] || (j < i && strings[i] == strings[j]))) strings[i] = NULL;
  for (int i = 0; i < MAX_OPTIONS && (table[i].longName || table[i].arg); i++)
    if ((table[i].argInfo & POPT_ARG_MASK) == POPT_ARG_ARGV) words[i] = *(char ***)table[i].arg;
  atexit(free_options);
}

static const char target_details[] =
    "TARGET: GPU, GPU:FORMAT, GPU:FORMAT:FORMAT (of A and of B), GPU:INSTRUCTION, or the JSON file of a\n"
    "custom unit. It is an argument, or a value of --on. A target that begins with a colon uses the GPU\n"
    "before it: 'H100:f16 :tf32' means 'H100:f16 H100:tf32'.\n";

static int print_command_help(const char *details, bool has_targets) {
  printf("%c%s.\n\n", toupper((unsigned char)command->summary[0]), command->summary + 1);
  fflush(stdout);
  poptPrintHelp(context, stdout, 0);
  if (details || has_targets) printf("\n%s%s", details ? details : "", has_targets ? target_details : "");
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

/* ---- The table that popt reads: smma_read_count reads integers instead of popt, and groups have headings ---- */

static struct poptOption popt_table[MAX_OPTIONS];    /* the command's table, as popt sees it */
static struct poptOption all_groups[MAX_GROUPS + 2]; /* parts of `popt_table` with their headings, and --help */
static char descriptions[MAX_OPTIONS][512];

static bool is_integer(const struct poptOption *o) {
  const unsigned type = o->argInfo & POPT_ARG_MASK;
  return type == POPT_ARG_INT || type == POPT_ARG_LONGLONG;
}

static bool is_real(const struct poptOption *o) { return (o->argInfo & POPT_ARG_MASK) == POPT_ARG_DOUBLE; }

static bool is_string(const struct poptOption *o) { return (o->argInfo & POPT_ARG_MASK) == POPT_ARG_STRING; }

static long long integer_of(const struct poptOption *o) {
  return (o->argInfo & POPT_ARG_MASK) == POPT_ARG_INT ? *(int *)o->arg : *(long long *)o->arg;
}

static bool is_group(const struct poptOption *o) { return o->arg == smma_no_options; }

/* Writes the default of a number or a string into its description. */
static void describe_default(const struct poptOption *o, char *text, size_t size) {
  if (!(o->argInfo & POPT_ARGFLAG_SHOW_DEFAULT))
    snprintf(text, size, "%s", o->descrip ? o->descrip : "");
  else if (is_integer(o))
    snprintf(text, size, "%s (default: %lld)", o->descrip, integer_of(o));
  else if (is_real(o))
    snprintf(text, size, "%s (default: %g)", o->descrip, *(double *)o->arg);
  else
    snprintf(text, size, "%s (default: %s)", o->descrip, *(char **)o->arg);
}

/* Copies the table to `popt_table`. Gives each option the value index + 1, which popt then returns. popt reads numbers
   as strings, and store_integer and store_real parse them. Fills `all_groups` with the groups, and returns their
   number. */
static int build_popt_table(const struct poptOption *table) {
  int groups = 0;
  all_groups[groups++] = (struct poptOption){NULL, 0, POPT_ARG_INCLUDE_TABLE, popt_table, 0, "Options:", NULL};
  for (int i = 0; i < MAX_OPTIONS; i++) {
    popt_table[i] = table[i];
    if (!table[i].longName && !table[i].arg) break;
    if (is_group(&table[i])) {
      popt_table[i] = (struct poptOption)POPT_TABLEEND; /* ends the previous group */
      all_groups[groups++] =
          (struct poptOption){NULL, 0, POPT_ARG_INCLUDE_TABLE, &popt_table[i + 1], 0, table[i].descrip, NULL};
    }
    if (is_group(&table[i])) continue;
    popt_table[i].val = i + 1;
    if (!is_string(&table[i]) && !is_integer(&table[i]) && !is_real(&table[i])) continue;
    describe_default(&table[i], descriptions[i], sizeof descriptions[i]);
    popt_table[i].descrip = descriptions[i];
    popt_table[i].argInfo &= ~(unsigned)POPT_ARGFLAG_SHOW_DEFAULT;
    if (is_string(&table[i])) continue;
    popt_table[i].argInfo = POPT_ARG_STRING;
    popt_table[i].arg = NULL;
  }
  return groups;
}

/* Reads the value of an integer option, whose text popt has just read. */
static int store_integer(const struct poptOption *o, int index) {
  char *text = poptGetOptArg(context);
  long long value = 0;
  const bool is_int = (o->argInfo & POPT_ARG_MASK) == POPT_ARG_INT;
  const bool good = text && smma_read_count(text, &value) && (!is_int || (value <= INT_MAX && value >= INT_MIN));
  if (!good && text && *text && access(text, F_OK) == 0 && strcmp(o->longName, "rows") == 0)
    smma_complain("--rows: '%s' is a file; 'softmma verify %s --unit UNIT' runs its test vectors", text, text);
  else if (!good)
    smma_complain("--%s: '%s' is no " SMMA_COUNT_WORDS "%s", o->longName, text ? text : "",
                  is_int ? ", or is too large" : ", or not below 2^63");
  free(text);
  if (good && !(o->argInfo & POPT_ARGFLAG_SHOW_DEFAULT) && initial[index] < 1 && value == initial[index])
    return smma_complain("--%s: %lld is too small; the least is %lld", o->longName, value, value + 1);
  if (good && is_int)
    *(int *)o->arg = (int)value;
  else if (good)
    *(long long *)o->arg = value;
  return good ? SMMA_EXIT_EQUAL : SMMA_EXIT_FAILED;
}

/* Reads the value of an option that is a real number, whose text popt has just read. */
static int store_real(const struct poptOption *o) {
  char *text = poptGetOptArg(context), *end = text;
  double value = 0;
  errno = 0;
  if (text) value = strtod(text, &end);
  const int refused = end == text || *end                               ? POPT_ERROR_BADNUMBER
                      : errno == ERANGE && (value == 0 || isinf(value)) ? POPT_ERROR_OVERFLOW
                                                                        : 0;
  if (refused)
    smma_complain("--%s: '%s': %s (see 'softmma %s --help')", o->longName, text ? text : "", poptStrerror(refused),
                  command->name);
  else
    *(double *)o->arg = value;
  free(text);
  return refused ? SMMA_EXIT_FAILED : SMMA_EXIT_EQUAL;
}

/* ---- Repeated options: a list gets further elements; for any other option the last value counts ---- */

/* Puts the elements that were given before in front of those in the option's variable. */
static int append_to_list(const struct poptOption *o, char *before) {
  char **now = o->arg;
  const size_t size = strlen(before) + strlen(*now) + 2;
  char *joined = malloc(size);
  if (!joined) return smma_complain("out of memory");
  snprintf(joined, size, "%s,%s", before, *now);
  free(*now);
  *now = joined;
  return SMMA_EXIT_EQUAL;
}

/* The last option given by a letter without a long name, or NULL. Such letters are deprecated; `descrip` names the
   option that replaces them. */
static const struct poptOption *former_letter;

/* Reports whether the command prints a table as JSON and writes no file of its own, so that it also prints CSV. */
static bool prints_csv(const struct poptOption *table) {
  return !smma_has_word("dot tree self-test", command->name) && smma_find_option(table, "json") &&
         !smma_find_option(table, "output") && !smma_find_option(table, "csv");
}

static int asks_quiet;
static int asks_csv; /* whether --csv, --format csv or -o FILE.csv was given */

static void set_json(const struct poptOption *table) {
  const struct poptOption *json = smma_find_option(table, "json");
  *(int *)json->arg = is_set[json - table] = true;
}

/* Gives the variable of a string option its value before this use. Returns the value of this use. */
static char *take_back(const struct poptOption *o, int index, char *given[MAX_OPTIONS]) {
  char *value = *(char **)o->arg;
  *(char **)o->arg = given[index] ? given[index] : defaults[index];
  is_set[index] = given[index] != NULL;
  return value;
}

/* Reports whether --format, a synonym of --in, has the name of a form and not of a number format. */
static bool is_form_of_output(const struct poptOption *o) {
  const char *value = *(char **)o->arg;
  return o->longName && strcmp(o->longName, "in") == 0 && smma_has_word("json csv text", value);
}

static int take_form(const struct poptOption *table, const struct poptOption *o, int index, char *given[MAX_OPTIONS]) {
  char *form = take_back(o, index, given);
  const bool json = strcmp(form, "json") == 0, csv = strcmp(form, "csv") == 0;
  free(form);
  if (json && !smma_find_option(table, "json"))
    return smma_complain("--format json: softmma %s prints text", command->name);
  if (csv && !prints_csv(table)) return smma_complain("--format csv: softmma %s has no table", command->name);
  if (json) set_json(table);
  if (csv) asks_csv = true;
  return SMMA_EXIT_EQUAL;
}

/* Targets that were values of other options, as "--against H100:f16", in their order. */
enum { MOST_MOVED = 16 };
static struct {
  const char *option;
  char *target, text[SMMA_TARGET_SIZE]; /* the target, and a copy for a note */
} moved[MOST_MOVED];
static int moved_count;

/* Reports whether --unit, --against or --instr has a target as its value. */
static bool is_target_of(const struct poptOption *table, const struct poptOption *o) {
  const char *value = *(char **)o->arg;
  if (!smma_find_option(table, "on") || !o->longName || !*value || smma_ends_with(value, ".json")) return false;
  if (strcmp(o->longName, "instr") == 0) return strchr(value, ':') && smma_names_target(value);
  return smma_has_word("unit against", o->longName) && !smma_unit_is_kind(value) && smma_names_target(value);
}

/* Stores the value that popt has read for option `o` of the table. `given` holds the strings of earlier uses, at the
   index of the first option with the same variable. */
static int take_value(const struct poptOption *table, const struct poptOption *o, char *given[MAX_OPTIONS]) {
  int index = 0, status = SMMA_EXIT_EQUAL;
  while (table[index].arg != o->arg) index++;
  is_set[index] = true;
  if (is_integer(o)) return store_integer(o, index);
  if (is_real(o)) return store_real(o);
  if (!is_string(o)) return SMMA_EXIT_EQUAL;
  if (!*(char **)o->arg) return smma_complain("out of memory"); /* popt failed to copy it */
  if (is_form_of_output(o)) return take_form(table, o, index, given);
  if (moved_count < MOST_MOVED && is_target_of(table, o)) {
    moved[moved_count].option = o->longName;
    moved[moved_count].target = take_back(o, index, given);
    snprintf(moved[moved_count].text, SMMA_TARGET_SIZE, "%s", moved[moved_count].target);
    moved_count++;
    return SMMA_EXIT_EQUAL;
  }
  if (!o->longName) former_letter = o;
  if (given[index] && smma_takes_list(o)) status = append_to_list(o, given[index]);
  free(given[index]);
  given[index] = *(char **)o->arg;
  return status;
}

/* Adds a target, which it owns, to those of --on. */
static int add_target(const struct poptOption *table, char *target, char *given[MAX_OPTIONS]) {
  const struct poptOption *on = smma_find_option(table, "on");
  char **variable = on->arg;
  if (*variable && !smma_takes_list(on)) {
    const int status = smma_refuse_target(command, table, *variable, target);
    free(target);
    return status;
  }
  *variable = target;
  return take_value(table, on, given);
}

/* Adds the targets that were values of other options to those of --on. */
static int add_moved_targets(const struct poptOption *table, char *given[MAX_OPTIONS]) {
  int status = SMMA_EXIT_EQUAL;
  for (int i = 0; i < moved_count && status == SMMA_EXIT_EQUAL; i++) status = add_target(table, moved[i].target, given);
  return status;
}

/* Writes what stands after the command's name in its help: the arguments, and the examples. */
static void describe_usage(char *text, size_t size) {
  const char *example = command->examples;
  size_t used = (size_t)snprintf(text, size, "%s\n\nExamples:", *command->arguments ? command->arguments : "[options]");
  while (*example && used < size) {
    const int length = (int)strcspn(example, "\n");
    used += (size_t)snprintf(text + used, size - used, "\n  %.*s", length, example);
    example += length + (example[length] == '\n');
  }
}

/* ---- Options of every command, and other names that users try for an option ---- */

/* popt's values of common options. OUTPUT is that of -o in a command whose table has no option "output"; from NEEDLESS
   on are those of options without effect. */
enum { OUTPUT = MAX_OPTIONS + 1, THREADS, NEEDLESS, MOST_NEEDLESS = 8 };

/* Options of this command that take a value and have no effect, and why. */
static struct {
  char name[64], value[64]; /* without a value: not given */
  const char *reason;
} needless_options[MOST_NEEDLESS];
static char *needless_value; /* of the option that popt has just read */

/* Options that -o stands for, if the command has them and the name of the file has this ending. */
static const struct {
  const char *ending, *option;
} pictures[] = {{".svg", "svg"}, {".svg", "plot"}, {".png", "plot"}, {".svg", "chart"}, {".dot", "dot"}};

enum { PICTURES = sizeof pictures / sizeof *pictures };

static int asks_help, asks_strict, threads;

/* Commands that compute on several threads. */
static const char threaded[] =
    "compare coverage diff experiment gemm infer match probe self-test test tolerance trace vectors gen vectors next "
    "vectors record verify";

/* What store_integer needs to read --threads, which may be 0 as options with a shown default may. */
static const struct poptOption threads_option = {"threads", 't', POPT_ARG_INT | POPT_ARGFLAG_SHOW_DEFAULT, &threads, 0,
                                                 NULL,      NULL};

/* Returns what --help says about -o. */
static const char *describe_output(const struct poptOption *table) {
  static char text[256];
  size_t used = (size_t)snprintf(text, sizeof text, "write the output to this file, once it is complete");
  if (smma_find_option(table, "json"))
    used += (size_t)snprintf(text + used, sizeof text - used, "; FILE.json: as JSON");
  if (prints_csv(table)) used += (size_t)snprintf(text + used, sizeof text - used, "; FILE.csv: as CSV");
  for (int i = 0; i < PICTURES; i++)
    if (smma_find_option(table, pictures[i].option))
      used += (size_t)snprintf(text + used, sizeof text - used, "; FILE%s: as --%s", pictures[i].ending,
                               pictures[i].option);
  return text;
}

/* Fills `common` with --help, --quiet, --strict (if the command has --on), --threads, --csv, -c for -C, -o (if the
   command has no output of its own), and the synonyms that the command's table does not have itself. */
static void take_common_options(const struct poptOption *table,
                                struct poptOption common[SMMA_SYNONYMS + MOST_NEEDLESS + 9]) {
  int count = 0;
  common[count++] = (struct poptOption){"help", 'h', POPT_ARG_NONE, &asks_help, 0, "show this help", NULL};
  common[count++] =
      (struct poptOption){"quiet", 'q', POPT_ARG_NONE, &asks_quiet, 0, "print no notes and no progress", NULL};
  if (smma_find_option(table, "on"))
    common[count++] = (struct poptOption){
        "strict", 0, POPT_ARG_NONE, &asks_strict, 0, "refuse models without recorded results and without emulator",
        NULL};
  if (smma_has_word(threaded, command->name))
    common[count++] = (struct poptOption){
        "threads", 't',     POPT_ARG_STRING,
        NULL,      THREADS, "number of threads, 0 for all cores; results do not depend on it (default: 0)",
        "T"};
  if (prints_csv(table))
    common[count++] =
        (struct poptOption){"csv", 0, POPT_ARG_NONE, &asks_csv, 0, "print the table of --json as CSV", NULL};
  const struct poptOption *c = smma_find_option(table, "c");
  if (c && c->shortName == 'C')
    common[count++] =
        (struct poptOption){NULL, 'c', c->argInfo | POPT_ARGFLAG_DOC_HIDDEN, c->arg, (int)(c - table) + 1, NULL, NULL};
  if (!smma_find_option(table, "output"))
    common[count++] =
        (struct poptOption){"output", 'o', POPT_ARG_STRING, &output_path, OUTPUT, describe_output(table), "FILE"};
  for (int i = 0; i < SMMA_SYNONYMS; i++) {
    const smma_synonym *synonym = &smma_synonyms[i];
    const struct poptOption *o = smma_find_option(table, synonym->option);
    int of_all = 0; /* the index of a common option */
    while (!o && of_all < count && strcmp(common[of_all].longName ? common[of_all].longName : "", synonym->option) != 0)
      of_all++;
    if ((!o && of_all == count) || smma_find_option(table, synonym->name) ||
        smma_has_advice(command->name, synonym->name))
      continue;
    common[count] = o ? popt_table[o - table] : common[of_all];
    common[count].longName = synonym->name;
    common[count].shortName = 0;
    common[count++].argInfo |= POPT_ARGFLAG_DOC_HIDDEN;
  }
  for (size_t at = 0, i = 0; i < MOST_NEEDLESS; i++) {
    needless_options[i].reason = smma_needless_with_value(command->name, &at, needless_options[i].name);
    if (!needless_options[i].reason) break;
    common[count++] = (struct poptOption){needless_options[i].name,
                                          0,
                                          POPT_ARG_STRING | POPT_ARGFLAG_DOC_HIDDEN,
                                          &needless_value,
                                          NEEDLESS + (int)i,
                                          NULL,
                                          NULL};
  }
  common[count] = (struct poptOption)POPT_TABLEEND;
}

/* ---- Arguments that name targets become values of the option "on" ---- */

/* Reports whether an argument names a file that the command may read. Few commands read whole folders. */
static bool is_file(const char *text) {
  struct stat of;
  return stat(text, &of) == 0 && (!S_ISDIR(of.st_mode) || strstr(command->arguments, "DIRECTORY"));
}

/* Reports whether an argument names a regular file of test vectors in text. */
static bool is_vector_file(const char *path) {
  struct stat of;
  FILE *file = stat(path, &of) == 0 && S_ISREG(of.st_mode) ? fopen(path, "r") : NULL;
  const bool is_vectors = file && smma_vector_is_text(file);
  if (file) fclose(file);
  return is_vectors;
}

/* Reports whether an argument names a target and not a file. A command whose usage begins with FILE reads JSON files,
   an index of .safetensors files holds matrices, and other JSON files are test vectors or custom units. */
static bool is_target(const char *text) {
  if (!*text) return true; /* to be refused as the name of a target */
  if (smma_ends_with(text, ".json"))
    return !smma_ends_with(text, ".index.json") && strncmp(command->arguments, "FILE", strlen("FILE")) != 0 &&
           !is_vector_file(text);
  return !is_file(text) && smma_names_target(text);
}

/* popt silently drops arguments when it runs out of memory. So a dummy argument goes first: if it is missing, memory
   ran out. */
static const char *first_argument[] = {"first", NULL};

/* Sets the flag whose name, without "--", is the argument. Returns false if the command has none, or it is a file. */
static bool take_flag(const struct poptOption *table, const char *text) {
  const struct poptOption *flag = smma_find_option(table, text);
  if (!flag || !flag->arg || (flag->argInfo & POPT_ARG_MASK) != POPT_ARG_NONE || is_file(text)) return false;
  *(int *)flag->arg = 1;
  is_set[flag - table] = true;
  return true;
}

/* Takes a program, a plug-in or the name of a kind of unit as the unit under test, in a command with --unit. "x86" is
   the name of an architecture, too, and names a target; "cpu" is the unit. */
static bool take_program(const struct poptOption *table, const char *text) {
  const struct poptOption *unit = smma_find_option(table, "unit");
  char name[512];
  if (!unit || is_set[unit - table]) return false;
  if (strcmp(text, "cpu") == 0)
    snprintf(name, sizeof name, "x86");
  else if (smma_unit_is_kind(text) && !smma_names_target(text) && strcmp(text, "model") != 0)
    snprintf(name, sizeof name, "%s", text);
  else if (!smma_unit_of_file(text, name, sizeof name))
    return false;
  *(char **)unit->arg = strdup(name);
  is_set[unit - table] = true;
  return true;
}

/* Takes the file of a custom unit as the unit under test, if the one target of the command is named. */
static bool take_custom_unit(const struct poptOption *table, const char *text) {
  const struct poptOption *unit = smma_find_option(table, "unit"), *on = smma_find_option(table, "on");
  if (!unit || !on || is_set[unit - table] || smma_takes_list(on) || !*(char **)on->arg ||
      !smma_ends_with(text, ".json") || is_vector_file(text))
    return false;
  *(char **)unit->arg = strdup(text);
  is_set[unit - table] = true;
  return true;
}

static bool is_command(const char *name) {
  for (size_t i = 0; i < smma_command_count; i++)
    if (strcmp(smma_commands[i].name, name) == 0) return true;
  return false;
}

/* Takes the arguments, and counts those that name no target. Without memory, popt stores
   NULL in place of an argument. */
static int take_arguments(const struct poptOption *table, char *given[MAX_OPTIONS], int *count) {
  const struct poptOption *on = smma_find_option(table, "on");
  int status = SMMA_EXIT_EQUAL;
  if (!poptGetArg(context)) return smma_complain("out of memory");
  while (status == SMMA_EXIT_EQUAL && poptGetArgs(context)) {
    const char *text = poptGetArg(context);
    if (!text) return smma_complain("out of memory");
    if (take_flag(table, text)) continue;
    if (on && is_command(text) && access(text, F_OK) != 0)
      return smma_complain("'%s' is a command of its own: softmma %s", text, text);
    if (take_program(table, text) || take_custom_unit(table, text)) continue;
    if (!on || !is_target(text)) {
      status = smma_refuse_unknown_gpu(command, on, text);
      plain_arguments[(*count)++] = text;
      continue;
    }
    status = add_target(table, strdup(text), given);
  }
  return status;
}

/* Writes the GPU of the target before it in front of each target of --on that begins with a colon: "H100:f16,:tf32" is
   "H100:f16,H100:tf32". */
static int complete_targets(const struct poptOption *table) {
  const struct poptOption *on = smma_find_option(table, "on");
  char **list = on ? on->arg : NULL, gpu[SMMA_GPU_TEXT_SIZE] = "", *text = NULL;
  size_t size;
  if (!list || !*list || !smma_takes_list(on) || !strstr(*list, ",:")) return SMMA_EXIT_EQUAL;
  FILE *stream = open_memstream(&text, &size);
  if (!stream) return smma_complain("out of memory");
  for (const char *target = *list; *target;) {
    const size_t length = smma_custom_item(target);
    if (*target != ':') smma_split_target(target, gpu);
    gpu[strcspn(gpu, ",")] = 0;
    fprintf(stream, "%s%.*s%s", *target == ':' ? gpu : "", (int)length, target, target[length] ? "," : "");
    target += length + (target[length] == ',');
  }
  if (fclose(stream)) return smma_complain("out of memory");
  free(*list);
  *list = text;
  return SMMA_EXIT_EQUAL;
}

/* Reports whether --on takes targets, and not only the name of a GPU. */
static bool takes_targets(const struct poptOption *table) {
  const struct poptOption *on = smma_find_option(table, "on");
  return on && on->argDescrip && strncmp(on->argDescrip, "TARGET", strlen("TARGET")) == 0;
}

/* ---- The parser ---- */

/* Options of the command line that the command does not have, each once, in its order. */
typedef struct {
  const char *name[8];
  int count;
} unknown_options;

static void add_unknown(unknown_options *u, const char *name) {
  if (u->count < (int)(sizeof u->name / sizeof *u->name) && (!u->count || strcmp(u->name[u->count - 1], name) != 0))
    u->name[u->count++] = name;
}

/* Takes the file of -o, which popt has stored in `output_path` in place of `earlier`. A picture becomes the value of
   the option that draws it, and JSON sets --json. */
static int take_output(const struct poptOption *table, char *earlier, char *given[MAX_OPTIONS]) {
  char *const path = output_path;
  smma_error error;
  if (!path) return smma_complain("out of memory");
  for (int i = 0; i < PICTURES; i++) {
    const struct poptOption *o = smma_find_option(table, pictures[i].option);
    if (!o || !smma_ends_with(path, pictures[i].ending)) continue;
    output_path = earlier;
    *(char **)o->arg = path;
    return take_value(table, o, given);
  }
  free(earlier);
  const bool has_json = smma_find_option(table, "json"), has_csv = prints_csv(table);
  return smma_check_ending(path, "-o",
                           has_csv    ? ".txt, .json or .csv"
                           : has_json ? ".txt or .json"
                                      : ".txt",
                           &error)
             ? SMMA_EXIT_EQUAL
             : smma_complain("%s", error.text);
}

/* Chooses between text, JSON and CSV by --json, --csv and the ending of -o, which must not contradict each other. */
static int choose_form(const struct poptOption *table) {
  const struct poptOption *json = smma_find_option(table, "json");
  const char *ending = output_path ? strrchr(output_path, '.') : NULL;
  const bool asks_json = json && is_set[json - table];
  if (!json) return SMMA_EXIT_EQUAL;
  if (asks_json && asks_csv) return smma_complain("--json and --csv are two forms; give one of them");
  if (ending && ((asks_csv && strcmp(ending, ".json") == 0) || (asks_json && strcmp(ending, ".csv") == 0)))
    return smma_complain("-o: '%s' ends with %s; leave out %s", output_path, ending, asks_csv ? "--csv" : "--json");
  if (ending && strcmp(ending, ".csv") == 0 && prints_csv(table)) asks_csv = true;
  if (asks_csv || (ending && strcmp(ending, ".json") == 0)) set_json(table);
  return SMMA_EXIT_EQUAL;
}

/* Sorts an unknown option: if it is a flag without effect, a note is enough. */
static void take_unknown(const char *bad, unknown_options *unknown, unknown_options *needless) {
  const char *name = bad + strspn(bad, "-");
  add_unknown(name - bad == 2 && smma_why_needless(command->name, name) ? needless : unknown, bad);
}

static void take_needless_value(int option) {
  snprintf(needless_options[option].value, sizeof needless_options->value, "%s", needless_value);
  free(needless_value);
  needless_value = NULL;
}

static void note_needless(const unknown_options *needless) {
  for (int i = 0; i < needless->count; i++)
    smma_note("%s has no effect: %s", needless->name[i], smma_why_needless(command->name, needless->name[i] + 2));
  for (int i = 0; i < MOST_NEEDLESS; i++)
    if (*needless_options[i].value)
      smma_note("--%s %s has no effect: %s", needless_options[i].name, needless_options[i].value,
                needless_options[i].reason);
}

/* Reads all options and arguments of the context, and counts the arguments that name no target. Stops at a value that
   popt refuses; `*code` is then below -1. Stops not at unknown options, so that all are reported at once. */
static int read_options(const struct poptOption *table, int *code, int *count, unknown_options *unknown,
                        unknown_options *needless) {
  char *given[MAX_OPTIONS] = {NULL}, *earlier_output = NULL;
  int status = SMMA_EXIT_EQUAL;
  for (; status == SMMA_EXIT_EQUAL && ((*code = poptGetNextOpt(context)) > 0 || *code == POPT_ERROR_BADOPT);
       earlier_output = output_path)
    if (*code == OUTPUT)
      status = take_output(table, earlier_output, given);
    else if (*code == THREADS)
      status = store_integer(&threads_option, 0);
    else if (*code >= NEEDLESS)
      take_needless_value(*code - NEEDLESS);
    else if (*code > 0)
      status = take_value(table, &table[*code - 1], given);
    else
      take_unknown(poptBadOption(context, POPT_BADOPTION_NOALIAS), unknown, needless);
  if (status == SMMA_EXIT_EQUAL && *code == -1 && !unknown->count && !asks_help)
    status = take_arguments(table, given, count);
  if (status == SMMA_EXIT_EQUAL && *code == -1 && !unknown->count) status = add_moved_targets(table, given);
  return status == SMMA_EXIT_EQUAL ? complete_targets(table) : status;
}

const char **smma_parse_options(int argc, const char **argv, struct poptOption *table, int least, int most,
                                const char *details, int *status) {
  static char program[64];
  static struct poptOption common[SMMA_SYNONYMS + MOST_NEEDLESS + 9];
  char usage[1024];
  unknown_options unknown = {.count = 0}, needless = {.count = 0};
  int code = -1, count = 0, groups = build_popt_table(table);
  snprintf(program, sizeof program, "softmma %s", command->name);
  argv[0] = program;
  take_common_options(table, common);
  all_groups[groups++] = (struct poptOption){NULL, 0, POPT_ARG_INCLUDE_TABLE, common, 0, "Every command:", NULL};
  all_groups[groups] = (struct poptOption)POPT_TABLEEND;
  context = poptGetContext(program, argc, argv, all_groups, 0);
  plain_arguments = calloc((size_t)argc + 1, sizeof *plain_arguments);
  if (!context || !plain_arguments) return *status = smma_complain("out of memory"), NULL;
  if (poptStuffArgs(context, first_argument) < 0) return *status = smma_complain("too many options"), NULL;
  describe_usage(usage, sizeof usage);
  poptSetOtherOptionHelp(context, usage);
  list_strings(table, defaults);
  for (int i = 0; i < MAX_OPTIONS && (table[i].longName || table[i].arg); i++)
    if (is_integer(&table[i])) initial[i] = integer_of(&table[i]);
  *status = read_options(table, &code, &count, &unknown, &needless);
  own_strings(table);
  if (*status != SMMA_EXIT_EQUAL) return NULL;
  if (asks_help) return *status = print_command_help(details, takes_targets(table)), NULL;
  for (int i = 0; i < unknown.count; i++) *status = smma_refuse_unknown_option(command, table, unknown.name[i]);
  if (code < -1) *status = smma_refuse_value(table, argc, argv, poptBadOption(context, POPT_BADOPTION_NOALIAS), code);
  if (unknown.count || code < -1) return NULL;
  if ((*status = choose_form(table)) != SMMA_EXIT_EQUAL) return NULL;
  if (threads < 0 || threads > SMMA_MOST_THREADS)
    return *status =
               smma_complain("--threads: %d is not a number from 0 (all cores) to %d", threads, SMMA_MOST_THREADS),
           NULL;
  if (threads) smma_set_threads(threads);
  smma_is_quiet = asks_quiet, smma_is_strict = asks_strict, smma_prints_csv = asks_csv;
  table_read = table;
  smma_note_former_name();
  note_needless(&needless);
  for (int i = 0; i < moved_count; i++) smma_note("--%s %s: a target, taken as --on", moved[i].option, moved[i].text);
  if (former_letter)
    smma_note("-%c is deprecated, and will be removed in the next version: type %s", former_letter->shortName,
              former_letter->descrip);
  if (count > least && (count == most || count == 1) && strstr(command->arguments, "A B [") &&
      (*status = smma_refuse_no_file(table, plain_arguments)))
    return NULL; /* an optional matrix may be a misspelled target instead */
  if (count >= least && count <= most) {
    *status = smma_redirect_output(output_path);
    return *status == SMMA_EXIT_EQUAL ? plain_arguments : NULL;
  }
  *status = count > most
                ? smma_refuse_argument(command, table, plain_arguments, most)
                : smma_complain("too few arguments: %s %s (see '%s --help')", program, command->arguments, program);
  return NULL;
}

/* ---- Options that have no effect ---- */

const char *smma_given_option(const char *names) {
  for (const struct poptOption *o = table_read; o->longName || o->arg; o++)
    if (is_set[o - table_read] && o->longName && smma_has_word(names, o->longName)) return o->longName;
  return NULL;
}

bool smma_check_options(const char *use, const char *used, smma_error *error) {
  for (const struct poptOption *o = table_read; o->longName || o->arg; o++) {
    if (!is_set[o - table_read] || smma_has_word(used, o->longName)) continue;
    if (strcmp(o->longName, "on") == 0) /* may be an argument */
      return smma_fail(error, "'%s': a target has no effect with %s; leave it out", *(char **)o->arg, use);
    if (strcmp(o->longName, "json") == 0 && asks_csv)
      return smma_fail(error, "--csv: it has no effect with %s; leave it out", use);
    return smma_fail(error, "--%s: it has no effect with %s; leave it out", o->longName, use);
  }
  return true;
}
