/* softmma verify: compares the results in vector files with the models. */
#include <stdlib.h>

#include "classes/text.h"
#include "cli/row.h"
#include "cluster/ranks.h"
#include "io/custom_file.h"
#include "report/verify.h"

/* Context of the callbacks: the unit's name and the progress line. */
typedef struct {
  const char *unit;
  smma_progress progress;
} output;

static void print_mismatch(const smma_mismatch *m, void *context) {
  const smma_vector_header *h = m->header;
  const smma_instruction *i =
      smma_resolve_instruction(h->arch, h->instruction, NULL); /* has names that need no quotes on the command line */
  char expected[24], got[24], value[2][40], expected_flags[SMMA_FLAGS_TEXT], flags[SMMA_FLAGS_TEXT];
  printf("%s:%llu: %s %s: the file has %s (%s), %s computes %s (%s)\n", m->path, m->line, h->arch, h->instruction,
         smma_hex_text(h->d, m->row->d, expected), smma_value_text(h->d, m->row->d, value[0]),
         ((const output *)context)->unit, smma_hex_text(h->d, m->got, got), smma_value_text(h->d, m->got, value[1]));
  if (h->tininess && m->flags != (int)m->row->flags)
    printf("  flags: the file has %s, the model computes %s\n", smma_flags_text((int)m->row->flags, expected_flags),
           smma_flags_text(m->flags, flags));
  printf("  ");
  smma_print_dot_command(stdout, i, m->row);
  if (h->tininess) printf(" --flags --tininess %s", h->tininess == SMMA_TININESS_BEFORE_ROUNDING ? "before" : "after");
  putchar('\n');
}

static void complain(const char *why, void *context) {
  (void)context;
  smma_complain("%s", why);
}

static void note_empty(const char *path, void *context) {
  (void)context;
  smma_note("%s: a header without rows", path);
}

static void show_progress(uint64_t rows, void *context) { smma_progress_show(&((output *)context)->progress, rows, 0); }

/* ---- Ranks: each rank checks every n-th file. Rank 0 then repeats the files that have errors, and reports ---- */

/* Sends the counts of test vectors of clean files to rank 0. */
static void gather(smma_clean_files *clean) {
  smma_error error;
  if (smma_rank()) smma_ranks_send(clean->rows, clean->count * sizeof *clean->rows);
  for (size_t rank = 1; smma_rank() == 0 && rank < smma_ranks(); rank++) {
    size_t size;
    uint64_t *theirs = smma_ranks_receive(rank, &size);
    if (!theirs) smma_die("out of memory");
    for (size_t n = 0; n < size / sizeof *theirs; n++)
      smma_require(!theirs[n] || smma_note_clean(clean, n, theirs[n], &error), &error);
    free(theirs);
  }
}

/* ---- The command ---- */

static void print_text(const smma_verification *v, uint64_t most_shown) {
  const smma_check_totals *t = &v->totals;
  if (t->mismatches > most_shown) printf("... and %lld more\n", (long long)(t->mismatches - most_shown));
  for (int n = 0; n < v->count; n++) {
    const smma_class_words words = smma_verification_words(v, n);
    printf("%s %s mismatches=%llu\n", v->of[n].header.arch, v->of[n].header.instruction,
           (unsigned long long)words.mismatches);
    smma_print_classes(stdout, v->of[n].classes, &words);
  }
  if (v->unsorted)
    printf("%llu mismatches were not sorted into classes: those of the first %d instructions are\n",
           (unsigned long long)v->unsorted, SMMA_MOST_CLASSIFIED);
  if (t->nan) printf("%llu of %llu mismatches differ in the encoding of a NaN only\n", t->nan, t->mismatches);
  if (t->flags) printf("%llu of %llu mismatches differ in their flags only\n", t->flags, t->mismatches);
  printf("rows=%llu mismatches=%llu\n", t->rows, t->mismatches);
}

static int verify(smma_verify_request *q, bool json) {
  output out = {.unit = q->unit && q->unit->methods != &smma_unit_model ? q->unit->name : "the model"};
  smma_clean_files clean = {0};
  smma_verification v;
  smma_error error;
  bool good;
  q->context = &out;
  smma_progress_start(&out.progress, "rows", 1);
  if (smma_ranks() > 1) {
    smma_require(smma_verify_survey(q, smma_rank(), smma_ranks(), &clean, &error), &error);
    gather(&clean);
    if (smma_rank()) return free(clean.rows), SMMA_EXIT_EQUAL;
    q->clean = &clean;
  }
  good = smma_verify(q, &v, &error);
  smma_progress_end();
  free(clean.rows);
  smma_require(good, &error);
  if (v.files && json) smma_print_datum(smma_verification_datum(&v));
  if (v.files && !json) print_text(&v, q->most_shown);
  smma_verification_free(&v);
  return smma_finish_output(!v.is_whole           ? SMMA_EXIT_FAILED
                            : v.totals.mismatches ? SMMA_EXIT_DIFFERENT
                                                  : SMMA_EXIT_EQUAL);
}

int smma_command_verify(int argc, const char **argv) {
  smma_verify_request q = {.input = stdin, .unreadable = complain, .empty = note_empty, .progress = show_progress};
  const char *unit_name = NULL;
  long long most = 10;
  int json = 0, status;
  smma_unit unit;
  smma_error error;
  struct poptOption options[] = {
      {"unit", 'u', POPT_ARG_STRING, &unit_name, 0,
       "the unit that computes the test vectors: model, model:opencl, x86, cuda ... (see 'softmma units') (default: "
       "model)",
       "UNIT"},
      {"show", 0, POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &most, 0, "number of mismatches to print", "N"},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON", NULL},
      POPT_TABLEEND};
  q.paths = smma_parse_options(
      argc, argv, options, 1, 1 << 20,
      "In a directory, checks binary vector files, and .txt, .csv, .json and .jsonl files that begin as\n"
      "vector files; - is standard input. For a binary file, the number after its name counts test vectors\n"
      "from 1. Compares all bits, also those of NaN. Any two NaN are equal if the instruction's rule leaves\n"
      "its NaN open ('softmma show').\n",
      &status);
  if (!q.paths) return status;
  if (most < 0) smma_die("--show: %lld is negative", most);
  if (unit_name && !smma_unit_open(unit_name, &unit, &error)) smma_die("--unit: %s", error.text);
  if (unit_name) q.unit = &unit;
  q.most_shown = (uint64_t)most;
  if (!json) q.mismatch = print_mismatch;
  status = verify(&q, json);
  if (unit_name) smma_unit_close(&unit);
  return status;
}
