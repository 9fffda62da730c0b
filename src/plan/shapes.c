#include "plan/shapes.h"

#include <stdlib.h>
#include <string.h>

#include "isa/instruction.h"

static const char *const rows[] = {
#define SMMA_ROWS(list, text) [list] = text,
#define SMMA_SHAPES(gpu, mib, shapes, choices)
#include "plan/cublaslt_12_8_shapes.def"
#undef SMMA_ROWS
#undef SMMA_SHAPES
};

static const struct {
  const char *gpu;
  long long mib;
  const char *shapes, *choices;
} recorded[] = {
#define SMMA_ROWS(list, text)
#define SMMA_SHAPES(gpu, mib, shapes, choices) {#gpu, mib, shapes, choices},
#include "plan/cublaslt_12_8_shapes.def"
#undef SMMA_ROWS
#undef SMMA_SHAPES
};

/* Reads the number at the start of a text. Advances the text past it and past the next character, which `*follows`
   receives. */
static size_t take(const char **text, int base, char *follows) {
  char *end;
  const size_t number = (size_t)strtoull(*text, &end, base);
  *follows = *end;
  *text = *end ? end + 1 : end;
  return number;
}

static bool has_shape(const char *shapes, size_t k, size_t n) {
  char c;
  while (*shapes) {
    const size_t first = take(&shapes, 10, &c), second = take(&shapes, 10, &c);
    if (first == k && second == n) return true;
  }
  return false;
}

/* Reports whether a list such as "1-16,32-64/16" holds m. */
static bool has_row(const char *list, size_t m) {
  while (*list) {
    char c;
    size_t first = take(&list, 10, &c), last = first, step = 1;
    if (c == '-') last = take(&list, 10, &c);
    if (c == '/') step = take(&list, 10, &c);
    if (m >= first && m <= last && (m - first) % step == 0) return true;
  }
  return false;
}

/* Returns the choice for m from runs such as "3/1:16 2/0:64 1". */
static smma_recorded_choice run_of(const char *runs, size_t m) {
  for (;;) {
    char c;
    smma_recorded_choice choice = {(int)take(&runs, 10, &c), 0};
    if (c == '/') choice.custom = (int)take(&runs, 10, &c);
    if (c != ':' || m <= take(&runs, 10, &c)) return choice;
  }
}

/* Finds the setting's bit. Returns false for formats without records. */
static bool setting_of(const smma_plan_request *r, uint64_t *bit) {
  static const smma_format outputs[] = {SMMA_F32, SMMA_BF16, SMMA_F16, SMMA_E4M3, SMMA_E5M2};
  const smma_instruction *i = r->instruction;
  const smma_format d = r->d == SMMA_NO_FORMAT ? i->d : r->d;
  size_t output = 0;
  while (output < 5 && outputs[output] != d) output++;
  if (output == 5 || i->scale_block) return false;
  if ((i->a != SMMA_E4M3 && i->a != SMMA_E5M2) || (i->b != SMMA_E4M3 && i->b != SMMA_E5M2)) return false;
  *bit = UINT64_C(1) << ((((r->fast_accumulation ? 5u : 0u) + output) * 2 + (i->a == SMMA_E5M2)) * 2 +
                         (i->b == SMMA_E5M2));
  return true;
}

/* Finds the choice in a text "settings@list=runs;...". */
static bool find_choice(const char *choices, uint64_t bit, size_t m, smma_recorded_choice *choice) {
  while (choices && *choices) {
    char c;
    const uint64_t settings = take(&choices, 16, &c);
    const size_t list = take(&choices, 10, &c);
    if ((settings & bit) && has_row(rows[list], m)) return *choice = run_of(choices, m), true;
    choices = strchr(choices, ';');
    if (choices) choices++;
  }
  return false;
}

bool smma_find_recorded(const char *gpu, const smma_plan_request *r, smma_recorded_choice *choice) {
  uint64_t bit;
  if (r->workspace < 0 || !setting_of(r, &bit)) return false;
  for (size_t i = 0; i < sizeof recorded / sizeof recorded[0]; i++)
    if (strcmp(recorded[i].gpu, gpu) == 0 && recorded[i].mib << 20 == r->workspace &&
        has_shape(recorded[i].shapes, r->k, r->n) && find_choice(recorded[i].choices, bit, r->m, choice))
      return true;
  return false;
}

const char *smma_recorded_workspaces(const char *gpu) {
  if (strcmp(gpu, "H100") == 0) return "1 MiB and 32 MiB";
  return strcmp(gpu, "RTX4060") == 0 ? "1 MiB" : "";
}
