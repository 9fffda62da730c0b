/* Instructions that can have computed D, in classes that compute the same function. */
#include <stdlib.h>
#include <string.h>

#include "equal/equal.h"
#include "match/compare.h"
#include "match/search.h"

static bool may_compute(const smma_match_data *data, const smma_instruction *i) {
  const smma_encoding d = smma_encoding_of(data->d_format);
  if (i->a != data->a_format || i->b != data->b_format || i->scale_block) return false;
  return i->d == data->d_format || (i->d == SMMA_F32 && d.specials != SMMA_SPECIALS_INTEGER && d.bits < 32);
}

/* Reports whether a proof exists that chains of the two instructions compute the same function for every K. In such a
   chain c has D's format. */
static bool are_one(const smma_match_data *data, const smma_instruction *x, const smma_instruction *y) {
  smma_instruction link[2] = {*x, *y};
  int multiple;
  if (x->d != y->d || (data->c && x->c != y->c)) return false;
  link[0].c = x->d, link[1].c = y->d;
  return smma_prove_equal(&link[0], &link[1], &multiple) && multiple == 1;
}

/* Adds an instruction to a class. The instruction with the greatest K represents the class, because it can also compute
   the shorter groups of the other instructions. */
static bool add_member(smma_match_class *class, const smma_instruction *i) {
  const smma_instruction **list = realloc(class->member, (class->members + 1) * sizeof *list);
  if (!list) return false;
  class->member = list;
  list[class->members++] = i;
  if (i->k > list[0]->k) list[class->members - 1] = list[0], list[0] = i;
  return true;
}

static bool classify(smma_match_work *s, const smma_instruction *i) {
  smma_match *m = s->match;
  smma_match_class *list;
  for (size_t c = 0; c < m->classes; c++)
    if (are_one(s->data, m->class[c].member[0], i)) return add_member(&m->class[c], i);
  list = realloc(m->class, (m->classes + 1) * sizeof *list);
  if (!list) return false;
  m->class = list;
  m->class[m->classes] = (smma_match_class){0};
  return add_member(&m->class[m->classes++], i);
}

static bool is_fma(const smma_instruction *i) { return i->rule->rule.algorithm == SMMA_FMA; }

/* Stores one instruction of each kind that plans of libraries distinguish: architecture, family, the format of D, and
   whether it is an FMA, as that of CUDA cores is. Returns false if memory runs out. */
static bool note_kind(smma_match_work *s, const smma_instruction *i) {
  const smma_instruction **list;
  for (size_t x = 0; x < s->library_instructions; x++) {
    const smma_instruction *y = s->library_instruction[x];
    if (y->arch == i->arch && y->family == i->family && y->d == i->d && is_fma(y) == is_fma(i)) return true;
  }
  list = realloc(s->library_instruction, (s->library_instructions + 1) * sizeof *list);
  if (!list) return false;
  s->library_instruction = list;
  list[s->library_instructions++] = i;
  return true;
}

bool smma_match_make_classes(smma_match_work *s, const smma_instruction *const *instruction, size_t instructions) {
  smma_match *m = s->match;
  for (size_t i = 0; i < instructions; i++) {
    if (!may_compute(s->data, instruction[i])) continue;
    if (!classify(s, instruction[i]) || !note_kind(s, instruction[i])) return false;
  }
  for (size_t c = 0, next; c < m->classes; c = next) {
    bool fits;
    if (!smma_match_take_c(s->data, m->class[c].member[0], &m->class[c].c, &fits)) return false;
    next = c + fits;
    if (fits) continue;
    free(m->class[c].c);
    free(m->class[c].member);
    m->classes--;
    memmove(&m->class[c], &m -> class[c + 1], (m->classes - c) * sizeof *m->class);
  }
  return true;
}
