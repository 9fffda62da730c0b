/* Reads a command's options with popt: adds common options and other names of options, reads integers itself, joins
   lists that are given in several parts, and turns arguments that name targets into values of --on. Says for an unknown
   option which one is meant. */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/advice.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/target.h"
#include "io/count.h"
#include "isa/nearest.h"

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
static void own_strings(const struct poptOption *table, char *const defaults[MAX_OPTIONS]) {
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

static const struct poptOption *find_option(const struct poptOption *table, const char *name) {
  for (const struct poptOption *o = table; o->longName || o->arg; o++)
    if (o->longName && strcmp(o->longName, name) == 0) return o;
  return NULL;
}

/* ---- Errors. These functions, like all that return an exit status, print one line and return SMMA_EXIT_FAILED ---- */

/* Complains of an unknown option that has an advice in this command; once of several that have the same. Otherwise
   returns SMMA_EXIT_EQUAL. */
static int refuse_related(const struct poptOption *table, const char *bad, const char *name) {
  static const char *printed;
  const char *advice;
  for (size_t at = 0; (advice = smma_advice(command->name, name, &at));) {
    const struct poptOption *o = find_option(table, advice);
    if (advice == printed) return SMMA_EXIT_FAILED;
    if (!o && !strchr(advice, ' ')) continue; /* an option of other commands */
    printed = advice;
    if (!o) return smma_complain("%s: unknown option; %s", bad, advice);
    return smma_complain("%s: unknown option; type --%s%s%s (see 'softmma %s --help')", bad, advice,
                         o->argDescrip ? " " : "", o->argDescrip ? o->argDescrip : "", command->name);
  }
  return SMMA_EXIT_EQUAL;
}

/* Complains of an unknown option, with the known options nearest to it. One letter has no nearest. */
static int refuse_unknown_option(const struct poptOption *table, const char *bad, const char *program_name) {
  const char *name = bad + strspn(bad, "-");
  char query[64], candidate[64], list[256];
  smma_nearest nearest;
  snprintf(query, sizeof query, "%.*s", (int)strcspn(name, "="), name);
  if (*query && refuse_related(table, bad, query)) return SMMA_EXIT_FAILED;
  if (isdigit((unsigned char)*query) && find_option(table, "hex"))
    return smma_complain("%s: unknown option; give a list that begins with '-' by an option, as in -a '-1 2'", bad);
  if (strlen(query) < 2) return smma_complain("%s: unknown option (see '%s --help')", bad, program_name);
  smma_nearest_start(&nearest, query);
  for (int i = 0; i < MAX_OPTIONS && (table[i].longName || table[i].arg); i++) {
    if (!table[i].longName || table[i].argInfo & POPT_ARGFLAG_DOC_HIDDEN) continue;
    snprintf(candidate, sizeof candidate, "--%s", table[i].longName);
    smma_nearest_consider(&nearest, candidate, table[i].longName);
  }
  smma_nearest_consider(&nearest, "--help", "help");
  smma_nearest_hint(&nearest, list, sizeof list);
  return smma_complain("%s: unknown option%s (see '%s --help')", bad, list, program_name);
}

static const struct poptOption *find_letter(const struct poptOption *table, char letter) {
  for (const struct poptOption *o = table; o->longName || o->arg; o++)
    if (o->shortName == letter) return o;
  return NULL;
}

/* Complains of an option without its value, which it describes. */
static int refuse_no_value(const struct poptOption *table, const char *bad, const char *program_name) {
  const char *name = bad + strspn(bad, "-");
  const struct poptOption *o = name - bad == 1 ? find_letter(table, *name) : find_option(table, name);
  return o && o->argDescrip ? smma_complain("%s: missing argument; type %s %s: %s", bad, bad, o->argDescrip, o->descrip)
                            : smma_complain("%s: missing argument (see '%s --help')", bad, program_name);
}

/* Complains of an option's value, as in "--rows: 'abc'". popt reports only the value or only the option,
   so the command line is searched for both. */
static int refuse_value(const struct poptOption *table, int argc, const char **argv, const char *bad, int code) {
  if (code == POPT_ERROR_NOARG) return refuse_no_value(table, bad, argv[0]);
  for (int i = 2; i < argc; i++)
    if (bad[0] != '-' && argv[i - 1][0] == '-' && strcmp(argv[i], bad) == 0)
      return smma_complain("%s: '%s': %s (see '%s --help')", argv[i - 1], bad, poptStrerror(code), argv[0]);
  return smma_complain("%s: %s (see '%s --help')", bad, poptStrerror(code), argv[0]);
}

/* ---- The table that popt reads: smma_read_count reads integers instead of popt, and groups have headings ---- */

static struct poptOption popt_table[MAX_OPTIONS];    /* the command's table, as popt sees it */
static struct poptOption all_groups[MAX_GROUPS + 2]; /* parts of `popt_table` with their headings, and --help */
static char descriptions[MAX_OPTIONS][512];

static bool is_integer(const struct poptOption *o) {
  const unsigned type = o->argInfo & POPT_ARG_MASK;
  return type == POPT_ARG_INT || type == POPT_ARG_LONGLONG;
}

/* Reports whether the option takes a list: the text for its argument is a list, such as "GPU,...". Further uses of the
   option add elements. */
static bool is_list(const struct poptOption *o) {
  return o->argDescrip && (strchr(o->argDescrip, ',') || strcmp(o->argDescrip, "LIST") == 0);
}

static bool is_string(const struct poptOption *o) { return (o->argInfo & POPT_ARG_MASK) == POPT_ARG_STRING; }

static long long integer_of(const struct poptOption *o) {
  return (o->argInfo & POPT_ARG_MASK) == POPT_ARG_INT ? *(int *)o->arg : *(long long *)o->arg;
}

static bool is_group(const struct poptOption *o) { return o->arg == smma_no_options; }

/* Writes the default of an integer or a string into its description. */
static void describe_default(const struct poptOption *o, char *text, size_t size) {
  if (!(o->argInfo & POPT_ARGFLAG_SHOW_DEFAULT))
    snprintf(text, size, "%s", o->descrip ? o->descrip : "");
  else if (is_integer(o))
    snprintf(text, size, "%s (default: %lld)", o->descrip, integer_of(o));
  else
    snprintf(text, size, "%s (default: %s)", o->descrip, *(char **)o->arg);
}

/* Copies the table to `popt_table`. Gives each option the value index + 1, which popt then returns. popt reads integers
   as strings, and store_integer parses them. Fills `all_groups` with the groups, and returns their number. */
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
    if (!is_string(&table[i]) && !is_integer(&table[i])) continue;
    describe_default(&table[i], descriptions[i], sizeof descriptions[i]);
    popt_table[i].descrip = descriptions[i];
    popt_table[i].argInfo &= ~(unsigned)POPT_ARGFLAG_SHOW_DEFAULT;
    if (!is_integer(&table[i])) continue;
    popt_table[i].argInfo = POPT_ARG_STRING;
    popt_table[i].arg = NULL;
  }
  return groups;
}

/* Reads the value of an integer option, whose text popt has just read. */
static int store_integer(const struct poptOption *o) {
  char *text = poptGetOptArg(context);
  long long value = 0;
  const bool is_int = (o->argInfo & POPT_ARG_MASK) == POPT_ARG_INT;
  const bool good = text && smma_read_count(text, &value) && (!is_int || (value <= INT_MAX && value >= INT_MIN));
  if (!good)
    smma_complain("--%s: '%s' is no " SMMA_COUNT_WORDS "%s", o->longName, text ? text : "",
                  is_int ? ", or is too large" : ", or not below 2^63");
  free(text);
  if (good && is_int)
    *(int *)o->arg = (int)value;
  else if (good)
    *(long long *)o->arg = value;
  return good ? SMMA_EXIT_EQUAL : SMMA_EXIT_FAILED;
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

/* Stores the value that popt has read for option `o` of the table. `given` holds the strings of earlier uses, at the
   index of the first option with the same variable. */
static int take_value(const struct poptOption *table, const struct poptOption *o, char *given[MAX_OPTIONS]) {
  int index = 0, status = SMMA_EXIT_EQUAL;
  while (table[index].arg != o->arg) index++;
  is_set[index] = true;
  if (is_integer(o)) return store_integer(o);
  if (!is_string(o)) return SMMA_EXIT_EQUAL;
  if (!*(char **)o->arg) return smma_complain("out of memory"); /* popt failed to copy it */
  if (!o->longName) former_letter = o;
  if (given[index] && is_list(o)) status = append_to_list(o, given[index]);
  free(given[index]);
  given[index] = *(char **)o->arg;
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

/* popt's value of -o and --output in a command whose table has no option "output". */
enum { OUTPUT = MAX_OPTIONS + 1 };

/* Options that -o stands for, if the command has them and the name of the file has this ending. */
static const struct {
  const char *ending, *option;
} pictures[] = {{".svg", "svg"}, {".svg", "plot"}, {".png", "plot"}, {".svg", "chart"}, {".dot", "dot"}};

enum { PICTURES = sizeof pictures / sizeof *pictures };

/* A synonym stands for the option, if the command has it and has no option of the synonym's name. */
static const struct {
  const char *name, *option;
} synonyms[] = {{"gpu", "on"},
                {"arch", "on"},
                {"target", "on"},
                {"instruction", "instr"},
                {"in-format", "in"},
                {"in-dtype", "in"},
                {"in_dtype", "in"},
                {"dtype", "in"},
                {"format", "in"},
                {"out-format", "out"},
                {"out-dtype", "out"},
                {"out_dtype", "out"},
                {"out-type", "out"},
                {"in-type", "in"},
                {"acc", "out"},
                {"accumulator", "out"},
                {"accumulate", "out"},
                {"model", "on"},
                {"module", "name"},
                {"quick", "small"},
                {"promote", "promote-every"},
                {"promotion", "promote-every"},
                {"compare", "blas"},
                {"baseline", "blas"},
                {"to", "format"},
                {"count", "rows"},
                {"vectors", "rows"},
                {"assertion", "sva"},
                {"assert", "sva"},
                {"assertions", "sva"},
                {"bind", "sva"},
                {"element", "at"},
                {"size", "shape"},
                {"dist", "data"},
                {"distribution", "data"},
                {"bits", "raw"},
                {"encodings", "raw"},
                {"with", "d"},
                {"own", "d"},
                {"result", "d"},
                {"results", "d"},
                {"expected", "d"}};

enum { SYNONYMS = sizeof synonyms / sizeof *synonyms };

static int asks_help, asks_quiet, asks_strict, asks_csv;

/* Reports whether the command prints results as JSON and writes no file of its own, so that it also prints CSV. */
static bool prints_csv(const struct poptOption *table) {
  return find_option(table, "json") && !find_option(table, "output") && !find_option(table, "csv");
}

/* Returns what --help says about -o. */
static const char *describe_output(const struct poptOption *table) {
  static char text[256];
  size_t used = (size_t)snprintf(text, sizeof text, "write the output to this file, once it is complete");
  if (find_option(table, "json")) used += (size_t)snprintf(text + used, sizeof text - used, "; FILE.json: as JSON");
  if (prints_csv(table)) used += (size_t)snprintf(text + used, sizeof text - used, "; FILE.csv: as CSV");
  for (int i = 0; i < PICTURES; i++)
    if (find_option(table, pictures[i].option))
      used += (size_t)snprintf(text + used, sizeof text - used, "; FILE%s: as --%s", pictures[i].ending,
                               pictures[i].option);
  return text;
}

/* Fills `common` with --help, --quiet, --strict (if the command has --on), --csv, -c for -C, -o (if the command has no
   output of its own), and the synonyms that the command's table does not have itself. */
static void take_common_options(const struct poptOption *table, struct poptOption common[SYNONYMS + 7]) {
  int count = 0;
  common[count++] = (struct poptOption){"help", 'h', POPT_ARG_NONE, &asks_help, 0, "show this help", NULL};
  common[count++] =
      (struct poptOption){"quiet", 'q', POPT_ARG_NONE, &asks_quiet, 0, "print no notes and no progress", NULL};
  if (find_option(table, "on"))
    common[count++] = (struct poptOption){
        "strict", 0, POPT_ARG_NONE, &asks_strict, 0, "refuse models without recorded results and without emulator",
        NULL};
  if (prints_csv(table))
    common[count++] =
        (struct poptOption){"csv", 0, POPT_ARG_NONE, &asks_csv, 0, "print the table of --json as CSV", NULL};
  const struct poptOption *c = find_option(table, "c");
  if (c && c->shortName == 'C')
    common[count++] =
        (struct poptOption){NULL, 'c', c->argInfo | POPT_ARGFLAG_DOC_HIDDEN, c->arg, (int)(c - table) + 1, NULL, NULL};
  if (!find_option(table, "output"))
    common[count++] =
        (struct poptOption){"output", 'o', POPT_ARG_STRING, &output_path, OUTPUT, describe_output(table), "FILE"};
  for (int i = 0; i < SYNONYMS; i++) {
    const struct poptOption *o = find_option(table, synonyms[i].option);
    if (!o || find_option(table, synonyms[i].name) || smma_why_needless(command->name, synonyms[i].name)) continue;
    common[count] = popt_table[o - table];
    common[count].longName = synonyms[i].name;
    common[count].shortName = 0;
    common[count++].argInfo |= POPT_ARGFLAG_DOC_HIDDEN;
  }
  common[count] = (struct poptOption)POPT_TABLEEND;
}

/* ---- Arguments that name targets become values of the option "on" ---- */

/* Reports whether an argument names a target and not a file. A command whose usage begins with FILE reads JSON
   files. */
static bool is_target(const char *text) {
  if (!*text) return true; /* to be refused as the name of a target */
  if (smma_ends_with(text, ".json")) return strncmp(command->arguments, "FILE", strlen("FILE")) != 0;
  return access(text, F_OK) != 0 && smma_names_target(text);
}

/* popt silently drops arguments when it runs out of memory. So a dummy argument goes first: if it is missing, memory
   ran out. */
static const char *first_argument[] = {"first", NULL};

/* Sets the flag whose name, without "--", is the argument. Returns false if the command has none, or it is a file. */
static bool take_flag(const struct poptOption *table, const char *text) {
  const struct poptOption *flag = find_option(table, text);
  if (!flag || !flag->arg || (flag->argInfo & POPT_ARG_MASK) != POPT_ARG_NONE || access(text, F_OK) == 0) return false;
  *(int *)flag->arg = 1;
  is_set[flag - table] = true;
  return true;
}

/* Takes a program as the unit under test: an executable file, or a plug-in, in a command with --unit. Names that a
   shell would change are left to the user. */
static bool take_program(const struct poptOption *table, const char *text) {
  static const char *const endings[] = {".txt", ".bin", ".hex", ".csv", ".json", ".jsonl", ".npy"};
  const struct poptOption *unit = find_option(table, "unit");
  const bool plugin = smma_ends_with(text, ".so");
  char name[512];
  struct stat file;
  if (!unit || is_set[unit - table] || strlen(text) > 400 || text[strcspn(text, " \t\n'\"\\$`*?&|;<>()~#:")] ||
      stat(text, &file) || !S_ISREG(file.st_mode) || (!plugin && access(text, X_OK) != 0))
    return false;
  for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
    if (smma_ends_with(text, endings[i])) return false; /* data, on a file system where each file can be executed */
  snprintf(name, sizeof name, "%s:%s%s", plugin ? "plugin" : "pipe", strchr(text, '/') ? "" : "./", text);
  *(char **)unit->arg = strdup(name);
  is_set[unit - table] = true;
  return true;
}

/* Complains of a second target of a command that takes one. */
static int refuse_target(const struct poptOption *table, const char *one, const char *other) {
  const char *file = smma_ends_with(one, ".json") ? one : other;
  char mend[1200] = "";
  if (strcmp(command->name, "vectors next") == 0)
    snprintf(mend, sizeof mend,
             "; other candidates are units: 'softmma custom %.400s -o other.json', then --unit model --against "
             "custom:other.json",
             other);
  else if (find_option(table, "unit") && smma_ends_with(file, ".json"))
    snprintf(mend, sizeof mend, "; the unit under test is --unit custom:%.500s", file);
  else if (find_option(table, "against"))
    snprintf(mend, sizeof mend, "; 'softmma diff %.500s %.500s' compares two models", one, other);
  return smma_complain("two targets, '%s' and '%s': softmma %s takes one%s", one, other, command->name, mend);
}

static bool is_command(const char *name) {
  for (size_t i = 0; i < smma_command_count; i++)
    if (strcmp(smma_commands[i].name, name) == 0) return true;
  return false;
}

/* Complains of the first argument of a command that multiplies files, if it is neither a file nor looks like the name
   of one: it was meant as a GPU. Otherwise returns SMMA_EXIT_EQUAL. */
static int refuse_unknown_gpu(const struct poptOption *on, const char *text) {
  char gpu[SMMA_GPU_TEXT_SIZE];
  smma_error error;
  if (!on || *(char **)on->arg || !strstr(command->arguments, " A B") || !isalpha((unsigned char)*text) ||
      strpbrk(text, "./") || access(text, F_OK) == 0)
    return SMMA_EXIT_EQUAL;
  smma_split_target(text, gpu);
  return smma_resolve_arch(gpu, &error) == SMMA_ARCH_COUNT ? smma_complain("%s", error.text) : SMMA_EXIT_EQUAL;
}

/* Takes the arguments, and counts those that name no target. popt stores NULL for one for which it has no memory. */
static int take_arguments(const struct poptOption *table, char *given[MAX_OPTIONS], int *count) {
  const struct poptOption *on = find_option(table, "on");
  int status = SMMA_EXIT_EQUAL;
  if (!poptGetArg(context)) return smma_complain("out of memory");
  while (status == SMMA_EXIT_EQUAL && poptGetArgs(context)) {
    char **variable = on ? on->arg : NULL;
    const char *text = poptGetArg(context);
    if (!text) return smma_complain("out of memory");
    if (take_flag(table, text)) continue;
    if (on && is_command(text) && access(text, F_OK) != 0)
      return smma_complain("'%s' is a command of its own: softmma %s", text, text);
    if (take_program(table, text)) continue;
    if (!on || !is_target(text)) {
      status = refuse_unknown_gpu(on, text);
      plain_arguments[(*count)++] = text;
      continue;
    }
    if (*variable && !is_list(on)) return refuse_target(table, *variable, text);
    *variable = strdup(text);
    status = take_value(table, on, given);
  }
  return status;
}

/* Writes the GPU of the target before it in front of each target of --on that begins with a colon: "H100:f16,:tf32" is
   "H100:f16,H100:tf32". */
static int complete_targets(const struct poptOption *table) {
  const struct poptOption *on = find_option(table, "on");
  char **list = on ? on->arg : NULL, gpu[SMMA_GPU_TEXT_SIZE] = "", *text = NULL;
  size_t size;
  if (!list || !*list || !is_list(on) || !strstr(*list, ",:")) return SMMA_EXIT_EQUAL;
  FILE *stream = open_memstream(&text, &size);
  if (!stream) return smma_complain("out of memory");
  for (const char *target = *list; *target;) {
    const size_t length = strcspn(target, ",");
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

/* Complains of the first argument that is neither a file nor looks like the name of one, because it was meant as
   something else, such as a misspelled target. Returns SMMA_EXIT_EQUAL if there is no such argument. */
static int refuse_no_file(const struct poptOption *table, const char *program_name) {
  smma_error error;
  smma_formats formats;
  for (const char **text = plain_arguments; find_option(table, "on") && *text; text++) {
    if (is_list(find_option(table, "on")) && access(*text, F_OK) != 0 &&
        smma_formats_from_text(*text, SMMA_NO_FORMAT, &formats, &error) == SMMA_OK)
      return smma_complain("'%s' is a format; type :%s for the GPU before it", *text, *text);
    if (find_option(table, "at") && isdigit((unsigned char)**text) && access(*text, F_OK) != 0)
      return smma_complain("unexpected argument '%s'; the element is --at I,J (see '%s --help')", *text, program_name);
    if (strcmp(*text, "exact") == 0 && is_list(find_option(table, "on")))
      return smma_complain("'exact' is not a target; leave it out: errors are those against the exact product");
    if (access(*text, F_OK) != 0 && !strpbrk(*text, "./") && smma_resolve_arch(*text, &error) == SMMA_ARCH_COUNT)
      return smma_complain("%s (see 'softmma list --gpus')", error.text);
  }
  return SMMA_EXIT_EQUAL;
}

/* Complains of too many arguments. */
static int refuse_argument(const struct poptOption *table, int most, const char *program_name) {
  if (refuse_no_file(table, program_name)) return SMMA_EXIT_FAILED;
  return smma_complain(
      "unexpected argument '%s'%s (see '%s --help')", plain_arguments[most],
      find_option(table, "d") && find_option(table, "c") ? "; C is -C FILE, and a result of your own is --d FILE"
      : find_option(table, "d")                          ? "; give all results of your own to --d, separated by commas"
      : find_option(table, "unit")                       ? "; a program under test is --unit pipe:PROGRAM"
      : find_option(table, "format")
          ? "; type -o FILE.txt, FILE.bin (binary), FILE.hex (readmemh), FILE.csv, FILE.json or FILE.jsonl"
      : find_option(table, "output") ? "; -o FILE names the file to write"
                                     : "",
      program_name);
}

/* Reports whether --on takes targets, and not only the name of a GPU. */
static bool takes_targets(const struct poptOption *table) {
  const struct poptOption *on = find_option(table, "on");
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

static void set_json(const struct poptOption *table) {
  const struct poptOption *json = find_option(table, "json");
  *(int *)json->arg = is_set[json - table] = true;
}

/* Takes the file of -o, which popt has stored in `output_path` in place of `earlier`. A picture becomes the value of
   the option that draws it, and JSON sets --json. */
static int take_output(const struct poptOption *table, char *earlier, char *given[MAX_OPTIONS]) {
  char *const path = output_path;
  smma_error error;
  if (!path) return smma_complain("out of memory");
  for (int i = 0; i < PICTURES; i++) {
    const struct poptOption *o = find_option(table, pictures[i].option);
    if (!o || !smma_ends_with(path, pictures[i].ending)) continue;
    output_path = earlier;
    *(char **)o->arg = path;
    return take_value(table, o, given);
  }
  free(earlier);
  const bool has_json = find_option(table, "json"), has_csv = prints_csv(table);
  if (has_json && smma_ends_with(path, ".json")) set_json(table);
  if (has_csv && smma_ends_with(path, ".csv")) asks_csv = 1;
  return smma_check_ending(path, "-o",
                           has_csv    ? ".txt, .json or .csv"
                           : has_json ? ".txt or .json"
                                      : ".txt",
                           &error)
             ? SMMA_EXIT_EQUAL
             : smma_complain("%s", error.text);
}

/* Sorts an option that the command does not have: a flag for what it does anyway is only noted. */
static void take_unknown(const char *bad, unknown_options *unknown, unknown_options *needless) {
  const char *name = bad + strspn(bad, "-");
  add_unknown(name - bad == 2 && smma_why_needless(command->name, name) ? needless : unknown, bad);
}

static void note_needless(const unknown_options *needless) {
  for (int i = 0; i < needless->count; i++)
    smma_note("%s has no effect: %s", needless->name[i], smma_why_needless(command->name, needless->name[i] + 2));
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
    else if (*code > 0)
      status = take_value(table, &table[*code - 1], given);
    else
      take_unknown(poptBadOption(context, POPT_BADOPTION_NOALIAS), unknown, needless);
  if (status == SMMA_EXIT_EQUAL && *code == -1 && !unknown->count && !asks_help)
    status = take_arguments(table, given, count);
  return status == SMMA_EXIT_EQUAL ? complete_targets(table) : status;
}

const char **smma_parse_options(int argc, const char **argv, struct poptOption *table, int least, int most,
                                const char *details, int *status) {
  static char program[64];
  static struct poptOption common[SYNONYMS + 7];
  char *defaults[MAX_OPTIONS] = {NULL};
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
  *status = read_options(table, &code, &count, &unknown, &needless);
  own_strings(table, defaults);
  if (*status != SMMA_EXIT_EQUAL) return NULL;
  if (asks_help) return *status = print_command_help(details, takes_targets(table)), NULL;
  for (int i = 0; i < unknown.count; i++) *status = refuse_unknown_option(table, unknown.name[i], program);
  if (code < -1) *status = refuse_value(table, argc, argv, poptBadOption(context, POPT_BADOPTION_NOALIAS), code);
  if (unknown.count || code < -1) return NULL;
  if (asks_csv) set_json(table);
  smma_is_quiet = asks_quiet, smma_is_strict = asks_strict, smma_prints_csv = asks_csv;
  table_read = table;
  smma_note_former_name();
  note_needless(&needless);
  if (former_letter)
    smma_note("-%c is deprecated, and will be removed in the next version: type %s", former_letter->shortName,
              former_letter->descrip);
  if (count > least && count == most && strstr(command->arguments, " A B [") &&
      (*status = refuse_no_file(table, program)))
    return NULL; /* the optional matrix may be a misspelled target instead */
  if (count >= least && count <= most) {
    *status = smma_redirect_output(output_path);
    return *status == SMMA_EXIT_EQUAL ? plain_arguments : NULL;
  }
  *status = count > most
                ? refuse_argument(table, most, program)
                : smma_complain("too few arguments: %s %s (see '%s --help')", program, command->arguments, program);
  return NULL;
}

/* ---- Options that have no effect ---- */

bool smma_check_options(const char *use, const char *used, smma_error *error) {
  for (const struct poptOption *o = table_read; o->longName || o->arg; o++) {
    if (!is_set[o - table_read] || smma_has_word(used, o->longName)) continue;
    if (strcmp(o->longName, "on") == 0) /* may be an argument */
      return smma_fail(error, "'%s': a target has no effect with %s; leave it out", *(char **)o->arg, use);
    return smma_fail(error, "--%s: it has no effect with %s; leave it out", o->longName, use);
  }
  return true;
}
