/* Errors of command lines that cannot be read. */
#include "cli/refusals.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "cli/advice.h"
#include "cli/target.h"
#include "isa/nearest.h"

const struct poptOption *smma_find_option(const struct poptOption *table, const char *name) {
  for (const struct poptOption *o = table; o->longName || o->arg; o++)
    if (o->longName && strcmp(o->longName, name) == 0) return o;
  return NULL;
}

bool smma_takes_list(const struct poptOption *o) {
  return o->argDescrip && (strchr(o->argDescrip, ',') || strcmp(o->argDescrip, "LIST") == 0);
}

/* Complains of an unknown option that has an advice in this command; once of several that have the same. Otherwise
   returns SMMA_EXIT_EQUAL. */
static int refuse_related(const smma_command *command, const struct poptOption *table, const char *bad,
                          const char *name) {
  static const char *printed;
  const char *advice;
  for (size_t at = 0; (advice = smma_advice(command->name, name, &at));) {
    const struct poptOption *o = smma_find_option(table, advice);
    if (advice == printed) return SMMA_EXIT_FAILED;
    if (!o && !strchr(advice, ' ')) continue; /* an option of other commands */
    printed = advice;
    if (!o) return smma_complain("%s: unknown option; %s", bad, advice);
    return smma_complain("%s: unknown option; type --%s%s%s (see 'softmma %s --help')", bad, advice,
                         o->argDescrip ? " " : "", o->argDescrip ? o->argDescrip : "", command->name);
  }
  return SMMA_EXIT_EQUAL;
}

int smma_refuse_unknown_option(const smma_command *command, const struct poptOption *table, const char *bad) {
  const char *name = bad + strspn(bad, "-");
  char query[64], candidate[64], list[256];
  smma_nearest nearest;
  snprintf(query, sizeof query, "%.*s", (int)strcspn(name, "="), name);
  if (*query && refuse_related(command, table, bad, query)) return SMMA_EXIT_FAILED;
  if (isdigit((unsigned char)*query) && smma_find_option(table, "hex"))
    return smma_complain("%s: unknown option; give a list that begins with '-' by an option, as in -a '-1 2'", bad);
  if (isdigit((unsigned char)*query))
    return smma_complain("%s: unknown option; a number below 0 goes after '--', as in 'softmma show s8 -- -3'", bad);
  if (strlen(query) < 2) return smma_complain("%s: unknown option (see 'softmma %s --help')", bad, command->name);
  smma_nearest_start(&nearest, query);
  for (int i = 0; table[i].longName || table[i].arg; i++) {
    if (!table[i].longName || table[i].argInfo & POPT_ARGFLAG_DOC_HIDDEN) continue;
    snprintf(candidate, sizeof candidate, "--%s", table[i].longName);
    smma_nearest_consider(&nearest, candidate, table[i].longName);
  }
  smma_nearest_consider(&nearest, "--help", "help");
  smma_nearest_hint(&nearest, list, sizeof list);
  return smma_complain("%s: unknown option%s (see 'softmma %s --help')", bad, list, command->name);
}

static const struct poptOption *find_letter(const struct poptOption *table, char letter) {
  for (const struct poptOption *o = table; o->longName || o->arg; o++)
    if (o->shortName == letter) return o;
  return NULL;
}

/* Complains of an option without its value, which it describes. */
static int refuse_no_value(const struct poptOption *table, const char *bad, const char *program_name) {
  const char *name = bad + strspn(bad, "-");
  const struct poptOption *o = name - bad == 1 ? find_letter(table, *name) : smma_find_option(table, name);
  return o && o->argDescrip ? smma_complain("%s: missing argument; type %s %s: %s", bad, bad, o->argDescrip, o->descrip)
                            : smma_complain("%s: missing argument (see '%s --help')", bad, program_name);
}

int smma_refuse_value(const struct poptOption *table, int argc, const char **argv, const char *bad, int code) {
  if (code == POPT_ERROR_NOARG) return refuse_no_value(table, bad, argv[0]);
  for (int i = 2; i < argc; i++)
    if (bad[0] != '-' && argv[i - 1][0] == '-' && strcmp(argv[i], bad) == 0)
      return smma_complain("%s: '%s': %s (see '%s --help')", argv[i - 1], bad, poptStrerror(code), argv[0]);
  return smma_complain("%s: %s (see '%s --help')", bad, poptStrerror(code), argv[0]);
}

int smma_refuse_target(const smma_command *command, const struct poptOption *table, const char *one,
                       const char *other) {
  const char *file = smma_ends_with(one, ".json") ? one : other;
  char mend[1200] = "";
  if (strcmp(command->name, "vectors next") == 0)
    snprintf(mend, sizeof mend,
             "; other candidates are units: 'softmma custom %.400s -o other.json', then --unit model --against "
             "custom:other.json",
             other);
  else if (smma_find_option(table, "unit") && smma_ends_with(file, ".json"))
    snprintf(mend, sizeof mend, "; the unit under test is --unit custom:%.500s", file);
  else if (smma_find_option(table, "against"))
    snprintf(mend, sizeof mend, "; 'softmma diff %.500s %.500s' compares two models", one, other);
  return smma_complain("two targets, '%s' and '%s': softmma %s takes one%s", one, other, command->name, mend);
}

static int refuse_all(void) {
  return smma_complain("'all' is not a target; name the GPUs, such as V100 A100 H100 MI300X");
}

int smma_refuse_unknown_gpu(const smma_command *command, const struct poptOption *on, const char *text) {
  char gpu[SMMA_GPU_TEXT_SIZE];
  smma_error error;
  if (!on || *(char **)on->arg || !(strstr(command->arguments, " A B") || strstr(command->arguments, "(A B [")) ||
      !isalpha((unsigned char)*text) || strpbrk(text, "./") || access(text, F_OK) == 0)
    return SMMA_EXIT_EQUAL;
  if (strcmp(text, "all") == 0) return refuse_all();
  smma_split_target(text, gpu);
  return smma_resolve_arch(gpu, &error) == SMMA_ARCH_COUNT ? smma_complain("%s", error.text) : SMMA_EXIT_EQUAL;
}

int smma_refuse_no_file(const struct poptOption *table, const char **arguments) {
  smma_error error;
  smma_formats formats;
  for (const char **text = arguments; smma_find_option(table, "on") && *text; text++) {
    if (smma_takes_list(smma_find_option(table, "on")) && access(*text, F_OK) != 0 &&
        smma_formats_from_text(*text, SMMA_NO_FORMAT, &formats, &error) == SMMA_OK)
      return smma_complain("'%s' is a format; type :%s for the GPU before it", *text, *text);
    if (strcmp(*text, "exact") == 0 && smma_takes_list(smma_find_option(table, "on")))
      return smma_complain("'exact' is not a target; leave it out: errors are those against the exact product");
    if (strcmp(*text, "all") == 0 && smma_takes_list(smma_find_option(table, "on"))) return refuse_all();
    if (access(*text, F_OK) != 0 && !strpbrk(*text, "./,") && smma_resolve_arch(*text, &error) == SMMA_ARCH_COUNT)
      return smma_complain("%s (see 'softmma list --gpus')", error.text);
  }
  return SMMA_EXIT_EQUAL;
}

int smma_refuse_argument(const smma_command *command, const struct poptOption *table, const char **arguments,
                         int most) {
  if (smma_refuse_no_file(table, arguments)) return SMMA_EXIT_FAILED;
  return smma_complain(
      "unexpected argument '%s'%s (see 'softmma %s --help')", arguments[most],
      strcmp(command->name, "tolerance") == 0
          ? "; 'softmma compare TARGET A.npy B.npy D.npy --rtol R --atol A' compares a result of your own"
      : smma_find_option(table, "d") && smma_find_option(table, "c")
          ? "; C is -C FILE, and a result of your own is --d FILE"
      : smma_find_option(table, "d")    ? "; give all results of your own to --d, separated by commas"
      : smma_find_option(table, "unit") ? "; a program under test is --unit pipe:PROGRAM"
      : smma_find_option(table, "format")
          ? "; type -o FILE.txt, FILE.bin (binary), FILE.hex (readmemh), FILE.csv, FILE.json or FILE.jsonl"
      : smma_find_option(table, "output") ? "; -o FILE names the file to write"
                                          : "",
      command->name);
}
