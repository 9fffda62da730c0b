#include "isa/catalogue.h"

#include <string.h>

#include "isa/compose.h"

const smma_architecture smma_architectures[SMMA_ARCH_COUNT] = {
#define SMMA_ARCHITECTURE(symbol, name, title, vendor, listed) {name, title, vendor, listed, &smma_table_##symbol},
#include "isa/architectures.def"
#undef SMMA_ARCHITECTURE
};

size_t smma_catalogue_count(void) {
  size_t count = 0;
  for (int i = 0; i < SMMA_ARCH_COUNT; i++) count += smma_architectures[i].table->count;
  return count;
}

const smma_instruction *smma_catalogue_at(size_t index) {
  for (int i = 0; i < SMMA_ARCH_COUNT; i++) {
    const smma_instruction_table *table = smma_architectures[i].table;
    if (index < table->count) return &table->row[index];
    index -= table->count;
  }
  return NULL;
}

const char *smma_arch_name(const smma_instruction *i) {
  return i->origin ? i->origin : smma_architectures[i->arch].name;
}

void smma_set_operation(smma_operation *o, const smma_instruction *i) {
  memcpy(&o->rule, &i->rule->rule, (size_t)smma_used_bytes(&i->rule->rule));
  o->a = i->a, o->b = i->b, o->c = i->c, o->d = i->d, o->scale = i->scale;
  o->k = i->k, o->scale_block = i->scale_block;
}

smma_operation smma_operation_of(const smma_instruction *i) {
  smma_operation o = {.k = 0};
  smma_set_operation(&o, i);
  return o;
}

bool smma_same_rule(const smma_rule *x, const smma_rule *y) {
  if (x->algorithm != y->algorithm || x->nan != y->nan) return false;
  for (const smma_key *key = NULL; (key = smma_next_key(x->algorithm, key));)
    if (key->of_rule && smma_key_of_rule(x, key) != smma_key_of_rule(y, key)) return false;
  return x->algorithm != SMMA_COMPOSITION || smma_same_composition(&x->with.composition, &y->with.composition);
}

bool smma_same_operation(const smma_instruction *x, const smma_instruction *y) {
  return x->a == y->a && x->b == y->b && x->c == y->c && x->d == y->d && x->scale == y->scale && x->k == y->k &&
         x->scale_block == y->scale_block && smma_same_rule(&x->rule->rule, &y->rule->rule);
}

const smma_instruction *smma_catalogue_twin(const smma_instruction *instruction) {
  const smma_instruction *i;
  for (size_t index = 0; (i = smma_catalogue_at(index)); index++)
    if (smma_same_operation(i, instruction)) return i;
  return NULL;
}
