/* softmma diff: compares targets by probes and test vectors, or proves with --prove or --permute. */
#include <string.h>

#include "campaign/differences.h"
#include "cli/target.h"
#include "equal/study.h"

enum { MOST_K = 1 << 24 };

typedef struct {
  char gpu[SMMA_TARGET_SIZE], label[SMMA_SIDE_LABEL_SIZE];
  smma_side side;
} subject;

/* ---- Comparisons ---- */

/* Compares every two of several targets. Reports whether all are the same. */
static bool print_several(const subject *s, int count, uint64_t rows, uint64_t seed, bool json) {
  smma_side side[SMMA_MOST_SIDES];
  const char *on[SMMA_MOST_SIDES];
  smma_differences found;
  smma_error error;
  for (int i = 0; i < count; i++) side[i] = s[i].side, on[i] = s[i].gpu;
  const smma_differences_request r = {side, on, (size_t)count, rows, seed};
  smma_require(smma_find_differences(&r, &found, &error), &error);
  if (json)
    smma_print_datum(smma_differences_datum(&found));
  else
    smma_print_differences(stdout, &found);
  smma_free_differences(&found);
  return found.same;
}

static bool print_two(const subject s[2], uint64_t rows, uint64_t seed, bool json) {
  static smma_unit_difference d;
  const smma_side side[2] = {s[0].side, s[1].side};
  const char *const on[2] = {s[0].gpu, s[1].gpu};
  smma_error error;
  smma_require(smma_find_unit_difference(side, rows, seed, &d, &error), &error);
  if (json)
    smma_print_datum(smma_unit_difference_datum(side, on, &d));
  else
    smma_print_difference(stdout, side, on, &d);
  smma_free_unit_difference(&d);
  return !d.found;
}

/* ---- Proofs ---- */

/* Answers the request, prints the answer and returns the exit status. */
static int answer(const smma_equal_request *r, bool json) {
  static const int statuses[] = {SMMA_EXIT_EQUAL, SMMA_EXIT_DIFFERENT, SMMA_EXIT_FAILED};
  static smma_equal_result found;
  smma_error error;
  smma_require(smma_equal(r, &found, &error), &error);
  if (json)
    smma_print_datum(smma_equal_datum(r, &found));
  else
    smma_print_equal(stdout, r, &found);
  return smma_finish_output(statuses[smma_equal_answer(r, &found)]);
}

/* Proves or disproves that two targets compute the same, or that the order of k changes nothing. */
static int prove(int argc, const char **argv) {
  smma_choice c = {.instr = NULL};
  long long rows = 200000, seed = 0, k = 0;
  int json = 0, proves = 0, permute = 0, count = 0, status;
  smma_equal_request request;
  const char *list = NULL, *all, *plans = NULL;
  const smma_instruction *instruction[2];
  smma_target_plan plan[2];
  char label[2][SMMA_TARGET_SIZE];
  smma_error error;
  struct poptOption options[] = {
      SMMA_LIST_OF_TARGETS(&list, "the targets, as arguments or here"),
      SMMA_CHOICE_OPTIONS(c, " (default: f16)"),
      {"prove", 0, POPT_ARG_NONE, &proves, 0, "prove that two targets compute one function, or disprove it", NULL},
      {"permute", 0, POPT_ARG_NONE, &permute, 0,
       "for one target: decide whether the order of k and the size BLOCK_K change the result", NULL},
      SMMA_PLANS_OPTION(&plans, "targets"),
      {"k", 'k', POPT_ARG_LONGLONG, &k, 0,
       "K of the product (default: every K; with --permute and --plan, the least K of two chains or calls)", "K"},
      {"rows", 'n', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &rows, 0, "about how many test vectors to search",
       "N"},
      {"seed", 's', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &seed, 0, "seed of the random numbers", "S"},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON", NULL},
      POPT_TABLEEND};
  if (!smma_parse_options(
          argc, argv, options, 0, 0,
          "Decides whether two targets compute the same function for products of any K. 'equal' is proved from\n"
          "their rules, and 'different' comes with a test vector that separates them; otherwise the answer is\n"
          "that it cannot tell. Exit status: 0 equal (for every K, or for the multiples that it prints),\n"
          "1 different, 2 cannot tell.\n",
          &status))
    return status;
  if (rows < 1) smma_die("--rows: %lld; it takes at least 1", rows);
  smma_require(!list || smma_check_choice(list, &c, &error), &error);
  all = list;
  while (list && *list) {
    if (count == 2) smma_die("more than two targets: '%s'", list);
    smma_require((list = smma_next_target(list, label[count], &error)) &&
                     (instruction[count] = smma_choose_target(label[count], &c, &error)),
                 &error);
    count++;
  }
  if (permute && proves) smma_die("--prove and --permute are two questions; give one of them");
  if (permute && count != 1)
    smma_die("--permute: it takes one target, not %s; for example softmma diff --permute H100 --in bf16",
             count ? "two" : "none");
  if (!permute && count != 2)
    smma_die("--prove: it takes two targets; for example softmma diff --prove H100 B200 --in bf16");
  if (k < 0 || k > MOST_K) smma_die("--k: %lld is not a number from 1 to %d", k, MOST_K);
  smma_require(smma_target_plans(plans, instruction, (size_t)count, plan, &error), &error);
  if (all) smma_note_default_format(all, instruction[0], &c);
  request = (smma_equal_request){
      .targets = count, .planned = plans || k, .k = (size_t)k, .rows = (uint64_t)rows, .seed = (uint64_t)seed};
  for (int i = 0; i < count; i++)
    request.target[i] =
        (smma_equal_target){label[i], instruction[i], *plan[i].text ? plan[i].text : NULL, plan[i].plan};
  status = answer(&request, json);
  for (int i = 0; i < count; i++) smma_plan_free(plan[i].plan);
  return status;
}

/* ---- The command ---- */

/* Returns the next name of a list, and the last name again at its end. */
static const char *next_name(const char **list, char name[160]) {
  const size_t length = strcspn(*list, ",");
  if (length >= 160) smma_die("--instr: '%.40s...' is no name", *list);
  memcpy(name, *list, length);
  name[length] = 0;
  if ((*list)[length] == ',') *list += length + 1;
  return name;
}

static int names_of(const char *list) {
  int names = list != NULL;
  for (; list && *list; list++) names += *list == ',';
  return names;
}

/* Fills `x` from the next GPU of the list. */
static void take_subject(const char **gpus, smma_unit *unit, const char **names, smma_choice choice, subject *x) {
  smma_error error;
  char name[160];
  *gpus = smma_next_target(*gpus, x->gpu, &error);
  smma_require(*gpus, &error);
  x->side = (smma_side){.label = x->label, .unit = unit};
  if (*names) choice.instr = next_name(names, name);
  x->side.instruction = smma_choose_target(x->gpu, &choice, &error);
  smma_require(x->side.instruction, &error);
  smma_side_label(unit, x->gpu, x->label);
  if (!smma_unit_computes(unit, x->side.instruction, &error))
    smma_die("--on: %s does not compute %s: %s", unit->name, x->side.instruction->name, error.text);
  if (smma_unit_is_recording(unit)) smma_die("--unit: a recording has results for its own rows only");
}

/* Reports whether the options ask for a proof. */
static bool asks_for_proof(int argc, const char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *word = strncmp(argv[i], "--", 2) == 0 ? argv[i] + 2 : argv[i];
    if (strcmp(word, "prove") == 0 || strcmp(word, "permute") == 0) return true;
  }
  return false;
}

int smma_command_diff(int argc, const char **argv) {
  if (asks_for_proof(argc, argv)) return prove(argc, argv);
  const char *unit_name = "model", *against_name = NULL, *gpus = NULL, *all, *names = NULL;
  smma_choice choice = {.instr = NULL};
  long long rows = 100000, seed = 0;
  int json = 0, count = 0, status;
  subject s[SMMA_MOST_SIDES];
  smma_unit unit, against;
  smma_error error;
  bool same;
  struct poptOption options[] = {
      SMMA_LIST_OF_TARGETS(&gpus, "two targets, or more for a table"),
      {"instr", 0, POPT_ARG_STRING, &names, 0, "their instructions, or one name for all", "NAME,NAME"},
      SMMA_FORMAT_OPTIONS(choice, " (default: f16)"),
      {"unit", 'u', POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &unit_name, 0,
       "the unit that computes for the first GPU", "UNIT"},
      {"against", 0, POPT_ARG_STRING, &against_name, 0,
       "the unit that computes for the other GPUs (default: the unit of --unit)", "UNIT"},
      {"rows", 'n', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &rows, 0, "number of random test vectors to compare",
       "N"},
      {"seed", 's', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &seed, 0, "seed of the random numbers", "S"},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON", NULL},
      SMMA_OPTION_GROUP("Instead of a test ('softmma diff --prove --help' lists the options):"),
      {"prove", 0, POPT_ARG_NONE, NULL, 0, "prove that two targets compute the same for every K, or disprove it", NULL},
      {"permute", 0, POPT_ARG_NONE, NULL, 0, "decide whether the order of k changes a target's results", NULL},
      POPT_TABLEEND};
  if (!smma_parse_options(
          argc, argv, options, 0, 0,
          "Compares test vectors that expose a feature of one of the units first, then random ones. If the\n"
          "instructions have different K, the one with the smaller K is used again on its own result.\n"
          "Exit status 1: the targets differ.\n",
          &status))
    return status;
  smma_require(smma_is_given(gpus, "--on", "A100,H100", &error), &error);
  choice.instr = names;
  smma_require(smma_check_choice(gpus, &choice, &error), &error);
  all = gpus;
  if (rows < 1) smma_die("--rows: %lld; it takes at least 1", rows);
  if (!smma_unit_open(unit_name, &unit, &error)) smma_die("--unit: %s", error.text);
  if (against_name && !smma_unit_open(against_name, &against, &error)) smma_die("--against: %s", error.text);
  while (*gpus) {
    if (count == SMMA_MOST_SIDES) smma_die("--on: more than %d GPUs", SMMA_MOST_SIDES);
    take_subject(&gpus, count > 0 && against_name ? &against : &unit, &names, choice, &s[count]);
    count++;
  }
  if (count < 2) smma_die("one target has nothing to be compared with; for example softmma diff A100 H100");
  if (names_of(choice.instr) > count)
    smma_die("--instr: %d names for %d targets; give one for all, or one for each", names_of(choice.instr), count);
  smma_note_default_format(all, s->side.instruction, &choice);
  same = count > 2 ? print_several(s, count, (uint64_t)rows, (uint64_t)seed, json)
                   : print_two(s, (uint64_t)rows, (uint64_t)seed, json);
  smma_unit_close(&unit);
  if (against_name) smma_unit_close(&against);
  return smma_finish_output(same ? SMMA_EXIT_EQUAL : SMMA_EXIT_DIFFERENT);
}
