#include "probe/text.h"

void smma_finding_text(const smma_finding *f, char text[SMMA_FINDING_TEXT]) {
  if (*f->value)
    snprintf(text, SMMA_FINDING_TEXT, "%s", f->value);
  else
    snprintf(text, SMMA_FINDING_TEXT, "cannot tell: %s", f->why);
}

static bool is_same(const smma_labelled_examination *x, const smma_labelled_examination *y, int probe) {
  return smma_same_finding(&x->examination->findings[probe], &y->examination->findings[probe]);
}

/* Prints each value of a feature with the labels that have it. */
static void print_values(FILE *stream, const smma_labelled_examination *of, int count, int probe) {
  char text[SMMA_FINDING_TEXT];
  for (int x = 0; x < count; x++) {
    int earlier = 0;
    while (earlier < x && !is_same(&of[earlier], &of[x], probe)) earlier++;
    if (earlier < x) continue;
    smma_finding_text(&of[x].examination->findings[probe], text);
    fprintf(stream, "  %-40s ", text);
    for (int y = x; y < count; y++)
      if (is_same(&of[x], &of[y], probe)) fprintf(stream, " %s", of[y].label);
    fputc('\n', stream);
  }
}

int smma_print_features(FILE *stream, const smma_labelled_examination *of, int count, bool only_different) {
  int different = 0;
  for (int probe = 0; probe < SMMA_PROBE_COUNT; probe++) {
    int same = 0;
    while (same < count && is_same(&of[0], &of[same], probe)) same++;
    different += same < count;
    if (only_different && same == count) continue;
    fprintf(stream, "%s\n", smma_probes[probe].title);
    print_values(stream, of, count, probe);
  }
  return different;
}
