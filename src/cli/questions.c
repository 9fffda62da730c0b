#include "cli/questions.h"

#include "cli/row.h"
#include "cli/values.h"

/* Context of the callbacks: answers so far, and the progress line. */
typedef struct {
  size_t answers;
  smma_progress progress;
} shown;

static void print_result(const smma_trial *t, const smma_trial_result *r, int index) {
  const smma_format d = t->instruction->d;
  smma_row row;
  char hex[24], model[24], value[40];
  printf("  0x%s  %-12s  %s", smma_hex_text(d, r->d[index], hex), smma_value_text(d, r->d[index], value),
         smma_result_name(t, index, &row));
  if (r->d[index] != t->expected[0][index])
    printf(" (the model: 0x%s)", smma_hex_text(d, t->expected[0][index], model));
  putchar('\n');
}

static void print_answer(const smma_trial *t, const smma_trial_result *r) {
  printf("%s %s %s: %s\n", t->question->name, smma_arch_name(t->instruction), t->instruction->name,
         smma_answer_text(t, r));
  for (int index = 0; index < t->results; index++) print_result(t, r, index);
  if (r->different == t->rows) return;
  printf("  ");
  smma_print_dot_command(stdout, t->instruction, &r->example);
  putchar('\n');
}

static void show_answer(const smma_trial *t, const smma_trial_result *r, void *context) {
  shown *s = context;
  print_answer(t, r);
  smma_progress_show(&s->progress, ++s->answers, 0);
}

int smma_print_open_answers(smma_question_request *q, bool json) {
  shown s = {.answers = 0};
  smma_open_answers answers;
  smma_error error;
  bool good;
  if (!json) q->answered = show_answer, q->context = &s;
  smma_progress_start(&s.progress, "answers", 1);
  good = smma_ask_questions(q, &answers, &error);
  smma_progress_end();
  if (!good) smma_die("%s%s", smma_unit_is_recording(q->unit) ? "--open: " : "", error.text);
  if (json)
    smma_print_datum(smma_open_answers_datum(&answers, q->unit));
  else
    printf("experiments=%zu answers=%zu others=%zu\n", answers.questions, answers.answers, answers.others);
  smma_free_open_answers(&answers);
  return smma_finish_output(answers.others ? SMMA_EXIT_DIFFERENT : SMMA_EXIT_EQUAL);
}
