#include "isa/nearest.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Returns the Levenshtein distance of two names shorter than SMMA_NAME_SIZE, or `limit` if it is not less. */
static int distance(const char *x, const char *y, int limit) {
  int row[SMMA_NAME_SIZE + 1];
  const int height = (int)strnlen(x, SMMA_NAME_SIZE), length = (int)strnlen(y, SMMA_NAME_SIZE);
  if (abs(height - length) >= limit) return limit;
  for (int j = 0; j <= length; j++) row[j] = j;
  for (int i = 1; i <= height; i++) {
    int diagonal = row[0], least = i;
    row[0] = i;
    for (int j = 1; j <= length; j++) {
      int cost = diagonal + (x[i - 1] != y[j - 1]);
      diagonal = row[j];
      if (row[j] + 1 < cost) cost = row[j] + 1;
      if (row[j - 1] + 1 < cost) cost = row[j - 1] + 1;
      row[j] = cost;
      if (cost < least) least = cost;
    }
    if (least >= limit) return limit;
  }
  return row[length];
}

void smma_nearest_start(smma_nearest *n, const char *wanted) {
  n->count = 0;
  snprintf(n->wanted, sizeof n->wanted, "%s", wanted);
}

/* Returns 0 if `whole` begins or ends with `part`, 1 if `part` is in its middle, and `limit` otherwise or if `limit` is
   less. A single letter does not count as a part. */
static int distance_of_parts(const char *part, const char *whole, int limit) {
  const char *at = part[0] && part[1] ? strstr(whole, part) : NULL;
  int d;
  if (!at) return limit;
  d = at == whole || strlen(at) == strlen(part) ? 0 : 1;
  return d < limit ? d : limit;
}

void smma_nearest_consider(smma_nearest *n, const char *name, const char *form) {
  const int limit = n->count == SMMA_NEAREST_COUNT ? n->distance[SMMA_NEAREST_COUNT - 1] : INT_MAX;
  int d = distance_of_parts(n->wanted, form, limit), at = n->count;
  if (d == limit && strlen(form) > 2) d = distance_of_parts(form, n->wanted, limit);
  if (d == limit) d = distance(n->wanted, form, limit);
  if (d >= limit) return;
  for (int i = 0; i < n->count; i++)
    if (strcmp(n->name[i], name) == 0) return;
  while (at > 0 && n->distance[at - 1] > d) at--;
  if (n->count < SMMA_NEAREST_COUNT) n->count++;
  for (int i = n->count - 1; i > at; i--) {
    memcpy(n->name[i], n->name[i - 1], SMMA_NAME_SIZE);
    n->distance[i] = n->distance[i - 1];
  }
  snprintf(n->name[at], SMMA_NAME_SIZE, "%s", name);
  n->distance[at] = d;
}

static void list(const smma_nearest *n, int count, const char *before, char *text, size_t size) {
  size_t used = 0;
  text[0] = 0;
  for (int i = 0; i < count && used < size; i++)
    used += (size_t)snprintf(text + used, size - used, "%s%s", i ? ", " : before, n->name[i]);
}

void smma_nearest_list(const smma_nearest *n, char *text, size_t size) { list(n, n->count, "", text, size); }

void smma_nearest_hint(const smma_nearest *n, char *text, size_t size) {
  const int most = (int)strlen(n->wanted) / 2;
  int near = 0;
  while (near < n->count && n->distance[near] <= most && n->distance[near] <= n->distance[0] + 2) near++;
  list(n, near, "; nearest: ", text, size);
}
