#include "isa/nearest.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Returns the Levenshtein distance of two names shorter than SMMA_NAME_SIZE. */
static int distance(const char *x, const char *y) {
  int row[SMMA_NAME_SIZE + 1], length = (int)strnlen(y, SMMA_NAME_SIZE);
  for (int j = 0; j <= length; j++) row[j] = j;
  for (int i = 1; x[i - 1]; i++) {
    int diagonal = row[0];
    row[0] = i;
    for (int j = 1; j <= length; j++) {
      int cost = diagonal + (x[i - 1] != y[j - 1]);
      diagonal = row[j];
      if (row[j] + 1 < cost) cost = row[j] + 1;
      if (row[j - 1] + 1 < cost) cost = row[j - 1] + 1;
      row[j] = cost;
    }
  }
  return row[length];
}

void smma_nearest_start(smma_nearest *n, const char *wanted) {
  n->count = 0;
  snprintf(n->wanted, sizeof n->wanted, "%s", wanted);
}

void smma_nearest_consider(smma_nearest *n, const char *name, const char *form) {
  bool part = n->wanted[0] && strstr(form, n->wanted); /* part of a known name */
  int d = part ? 0 : distance(n->wanted, form), at = n->count;
  for (int i = 0; i < n->count; i++)
    if (strcmp(n->name[i], name) == 0) return;
  while (at > 0 && n->distance[at - 1] > d) at--;
  if (at == SMMA_NEAREST_COUNT) return;
  if (n->count < SMMA_NEAREST_COUNT) n->count++;
  for (int i = n->count - 1; i > at; i--) {
    memcpy(n->name[i], n->name[i - 1], SMMA_NAME_SIZE);
    n->distance[i] = n->distance[i - 1];
  }
  snprintf(n->name[at], SMMA_NAME_SIZE, "%s", name);
  n->distance[at] = d;
}

void smma_nearest_list(const smma_nearest *n, char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (int i = 0; i < n->count && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : "", n->name[i]);
}
