#include "facts/gpu.h"

#include <stdio.h>
#include <string.h>

#include "isa/find.h"
#include "isa/formats.h"
#include "isa/sum.h"

/* Greatest number of kinds of sums of a GPU: more than five times as many as any GPU has. test_units.py would find
   missing instructions. */
enum { MOST_SUMS = 128 };

/* All instructions with the same sum and format of D. */
typedef struct {
  char words[SMMA_SUM_WORDS_SIZE];
  const smma_instruction *first;
  uint64_t count;
  smma_datum *inputs;
} instruction_sum;

/* Appends a text that the list does not contain yet. */
static void add_text(smma_datum *list, const char *text) {
  for (size_t i = 0; i < smma_datum_size(list); i++)
    if (strcmp(smma_datum_text_of(smma_datum_at(list, i)), text) == 0) return;
  smma_datum_append(list, smma_datum_text(text));
}

static void add_texts(smma_datum *list, const char *const *text) {
  for (; *text; text++) add_text(list, *text);
}

/* Adds an instruction to the list of its kind of sum; starts a new list if there is none. Returns the number of
   different sums. */
static size_t add_instruction(instruction_sum *sum, size_t count, const smma_instruction *i) {
  char words[SMMA_SUM_WORDS_SIZE], inputs[SMMA_INPUTS_TEXT_SIZE];
  size_t n = 0;
  const smma_operation o = smma_operation_of(i);
  smma_sum_words(&o, words);
  while (n < count && (sum[n].first->d != i->d || strcmp(sum[n].words, words) != 0)) n++;
  if (n == MOST_SUMS) return n;
  if (n == count) {
    sum[count++] = (instruction_sum){.first = i, .inputs = smma_datum_list()};
    snprintf(sum[n].words, sizeof sum[n].words, "%s", words);
  }
  sum[n].count++;
  add_text(sum[n].inputs, smma_inputs_text(i, inputs));
  return count;
}

static smma_datum *sum_datum(const instruction_sum *sum) {
  smma_datum *record = smma_datum_record();
  smma_datum_put(record, "inputs", sum->inputs);
  smma_put_text(record, "d", smma_format_text(sum->first->d));
  smma_put_text(record, "sum", sum->words);
  smma_put_text(record, "instruction", sum->first->name);
  smma_put_count(record, "instructions", sum->count);
  return record;
}

smma_datum *smma_gpu_datum(const char *name) {
  const smma_architecture *a = &smma_architectures[smma_find_arch(name)];
  smma_datum *gpu = smma_datum_record(), *sums = smma_datum_list(), *evidence = smma_datum_list(),
             *questions = smma_datum_list();
  const char *prefixes = smma_prefixes_of(name);
  instruction_sum sum[MOST_SUMS];
  size_t count = 0, instructions = 0;
  for (const smma_instruction *i = a->table->row; i < a->table->row + a->table->count; i++) {
    if (!smma_has_a_prefix(i->name, prefixes)) continue;
    instructions++;
    count = add_instruction(sum, count, i);
    add_texts(evidence, i->rule->evidence);
    add_texts(questions, i->rule->questions);
  }
  for (size_t n = 0; n < count; n++) smma_datum_append(sums, sum_datum(&sum[n]));
  smma_put_text(gpu, "arch", a->name);
  smma_put_text(gpu, "vendor", a->vendor);
  smma_put_text(gpu, "title", a->title);
  smma_put_count(gpu, "instructions", instructions);
  smma_datum_put(gpu, "sums", sums);
  smma_datum_put(gpu, "evidence", evidence);
  smma_datum_put(gpu, "questions", questions);
  return gpu;
}
