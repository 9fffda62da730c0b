/* softmma probe: measures the features of a unit from its results. */
#include <stdlib.h>
#include <string.h>

#include "cli/row.h"
#include "cli/target.h"
#include "io/custom_file.h"
#include "probe/probe.h"
#include "probe/text.h"

enum { MOST_SUBJECTS = 32, WIDTH = 62, MOST_ROWS = 10000000 };

typedef struct {
  char label[SMMA_TARGET_SIZE];
  const smma_instruction *instruction;
  smma_examination *examination;
} subject;

typedef struct {
  smma_unit unit;
  subject subjects[MOST_SUBJECTS];
  int count;
  long long rows;
} probing;

/* Adds the first target of the list, and returns the rest of the list. */
static const char *add_subject(probing *p, const char *list, const smma_choice *choice) {
  subject *s = &p->subjects[p->count];
  smma_error why;
  if (p->count == MOST_SUBJECTS) smma_die("--on: more than %d targets", MOST_SUBJECTS);
  smma_require(
      (list = smma_next_target(list, s->label, &why)) && (s->instruction = smma_choose_target(s->label, choice, &why)),
      &why);
  if (smma_is_integer(s->instruction->d))
    smma_die(
        "--on: %s adds integers exactly, so there is no rounding to find; 'softmma test --open' finds out how "
        "sums overflow",
        s->instruction->name);
  if (!smma_unit_computes(&p->unit, s->instruction, &why))
    smma_die("--on: %s does not compute %s: %s", p->unit.name, s->instruction->name, why.text);
  if (smma_unit_is_recording(&p->unit)) smma_die("--unit: a recording has results for its own rows only");
  p->count++;
  return list;
}

static void examine(probing *p) {
  smma_error error;
  for (int i = 0; i < p->count; i++) {
    subject *s = &p->subjects[i];
    s->examination = calloc(1, sizeof *s->examination);
    if (!s->examination) smma_die("out of memory");
    smma_require(smma_examine(&p->unit, s->instruction, (size_t)p->rows, s->examination, &error), &error);
  }
}

/* ---- Output ---- */

static void print_header(const probing *p, const subject *s) {
  printf("%s %s", smma_arch_name(s->instruction), s->instruction->name);
  printf(": unit %s, %llu rows in %llu calls\n", p->unit.name, s->examination->subject.rows,
         s->examination->subject.calls);
}

static void print_one(const probing *p, bool witness) {
  const subject *s = &p->subjects[0];
  print_header(p, s);
  for (int i = 0; i < SMMA_PROBE_COUNT; i++) {
    const smma_finding *f = &s->examination->findings[i];
    char text[SMMA_FINDING_TEXT];
    smma_finding_text(f, text);
    printf("%-*s  %s\n", WIDTH, smma_probes[i].title, text);
    if (!witness || !f->has_witness) continue;
    printf("  ");
    smma_print_dot_command(stdout, s->instruction, &f->witness);
    putchar('\n');
  }
}

static void print_several(const probing *p) {
  smma_labelled_examination list[MOST_SUBJECTS];
  for (int i = 0; i < p->count; i++) {
    print_header(p, &p->subjects[i]);
    list[i] = (smma_labelled_examination){p->subjects[i].label, p->subjects[i].examination};
  }
  smma_print_features(stdout, list, p->count, false);
}

static void print_json(const probing *p) {
  smma_datum *list = smma_datum_list();
  for (int n = 0; n < p->count; n++) smma_datum_append(list, smma_examination_datum(p->subjects[n].examination));
  smma_print_datum(list);
}

static int list_probes(void) {
  for (int i = 0; i < SMMA_PROBE_COUNT; i++)
    printf("%-22s %s (%s)\n", smma_probes[i].name, smma_probes[i].title, smma_probes[i].source);
  puts(
      "\nFTTN: X. Li et al., FTTN: Feature-Targeted Testing for Numerical Properties of NVIDIA & AMD Matrix "
      "Accelerators, 2024\n"
      "MMA-Sim: P. Xie et al., MMA-Sim: Bit-Accurate Reference Model of Tensor Cores and Matrix Cores, 2025\n"
      "Khattak and Mikaitis: Accurate Models of NVIDIA Tensor Cores, 2025\n"
      "Fasi et al.: M. Fasi, N. J. Higham, M. Mikaitis, S. Pranesh, Numerical behavior of NVIDIA tensor cores, 2021\n"
      "Mikaitis: Monotonicity of Multi-Term Floating-Point Adders, 2024");
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

int smma_command_probe(int argc, const char **argv) {
  const char *unit_name = "model", *gpus = NULL;
  smma_choice choice = {.instr = NULL};
  int json = 0, list = 0, witness = 0, status;
  static probing p = {.rows = SMMA_REPEATED_ROWS};
  smma_error error;
  struct poptOption options[] = {
      {"unit", 'u', POPT_ARG_STRING | POPT_ARGFLAG_SHOW_DEFAULT, &unit_name, 0, "the unit to examine", "UNIT"},
      SMMA_LIST_OF_TARGETS(&gpus, "a target, or several for a table"),
      SMMA_CHOICE_OPTIONS(choice, " (default: f16)"),
      {"rows", 'n', POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &p.rows, 0,
       "number of test vectors that are computed again, about six times", "N"},
      {"witness", 'w', POPT_ARG_NONE, &witness, 0, "print for each feature a command that shows it", NULL},
      {"list", 0, POPT_ARG_NONE, &list, 0, "list the features, and who described each", NULL},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON", NULL},
      POPT_TABLEEND};
  if (!smma_parse_options(
          argc, argv, options, 0, 0,
          "Looks only at results: block size, alignment, rounding, subnormals, zeros, overflow, NaN. Prints\n"
          "'cannot tell' rather than guess.\n",
          &status))
    return status;
  if (list) smma_require(smma_check_options("--list", "list", &error), &error);
  if (list) return list_probes();
  if (p.rows < 1 || p.rows > MOST_ROWS) smma_die("--rows: %lld; it takes 1 to %d", p.rows, MOST_ROWS);
  gpus = smma_target_of_unit(gpus, unit_name, &choice);
  smma_require(smma_is_given(gpus, "--on", "H100", &error), &error);
  smma_require(smma_check_choice(gpus, &choice, &error), &error);
  if (gpus[smma_custom_item(gpus)] && witness) smma_die("--witness: of one target, not of several");
  if (!smma_unit_open(unit_name, &p.unit, &error)) smma_die("--unit: %s", error.text);
  while (*gpus) gpus = add_subject(&p, gpus, &choice);
  examine(&p);
  if (json)
    print_json(&p);
  else if (p.count == 1)
    print_one(&p, witness);
  else
    print_several(&p);
  for (int i = 0; i < p.count; i++) free(p.subjects[i].examination);
  smma_unit_close(&p.unit);
  return smma_finish_output(SMMA_EXIT_EQUAL);
}
