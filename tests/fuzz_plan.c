/* Reads any bytes as a plan. Expects an error line with a position, or a valid plan. The text of a valid plan must be
   JSON that is unchanged when it is read and written again, and its schedule for some K must contain every k at most
   once. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "isa/instruction.h"
#include "plan/schedule.h"
#include "softmma/softmma.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

enum { K = 200, MOST_TEXT = 1 << 20 };

/* Checks that jansson also accepts a text that the library accepts. */
static void check_json(const char *text, size_t size) {
  json_t *object = json_loadb(text, size, JSON_REJECT_DUPLICATES, NULL);
  if (!object) abort();
  json_decref(object);
}

static void check_schedule(const smma_plan *plan) {
  const smma_operation o = smma_operation_of(smma_find("H100", "wgmma.m64n256k16.f32.f16.f16", NULL));
  unsigned char taken[K] = {0};
  smma_schedule s;
  smma_error error;
  if (smma_schedule_make(plan, &o, K, &s, &error) != SMMA_OK) {
    if (!*error.text) abort();
    return;
  }
  for (size_t i = 0; i < s.steps * s.k_per_step; i++)
    if (s.k[i] != SMMA_NO_PRODUCT && (s.k[i] >= K || taken[s.k[i]]++)) abort();
  smma_schedule_free(&s);
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size) {
  static char text[MOST_TEXT], again[MOST_TEXT];
  smma_error error;
  smma_plan *plan = smma_plan_parse("input", (const char *)bytes, size, &error), *back;
  if (!plan) {
    if (strncmp(error.text, "input:", strlen("input:")) != 0 || strchr(error.text, '\n')) abort();
    return 0;
  }
  check_json((const char *)bytes, size);
  if (smma_plan_text(plan, text, sizeof text) >= sizeof text) abort();
  back = smma_plan_parse("input", text, strlen(text), &error);
  if (!back) abort();
  smma_plan_text(back, again, sizeof again);
  if (strcmp(text, again) != 0) abort();
  check_schedule(plan);
  smma_plan_free(plan);
  smma_plan_free(back);
  return 0;
}
