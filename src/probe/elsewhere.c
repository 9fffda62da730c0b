#include "probe/elsewhere.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/key.h"

enum { MOST_VALUES = 8 };

/* The different values that one probe found, in the order in which it found them. */
typedef struct {
  struct {
    const smma_finding *finding;     /* the first finding with this value */
    bool at[SMMA_MAXIMUM_ROUNDED_K]; /* the products at which the probe found this value */
    int places;                      /* number of these products */
  } value[MOST_VALUES];
  int count; /* number of values */
  bool many; /* there are more values than fit */
} values;

/* ---- Places ---- */

/* Lists the products of a block, in order. Returns their number. */
static int members_of(const smma_first_sum *first, int k, int block, int member[SMMA_MAXIMUM_ROUNDED_K]) {
  int count = 0;
  for (int i = 0; i < k; i++)
    if (first->block[i] == block) member[count++] = i;
  return count;
}

/* Reports whether all blocks have equally many products. Sets `*most` to the greatest number of products in a block. */
static bool blocks_are_alike(const smma_first_sum *first, int k, int *most) {
  int member[SMMA_MAXIMUM_ROUNDED_K];
  bool alike = true;
  *most = 0;
  for (int b = 0; b < first->blocks; b++) {
    const int count = members_of(first, k, b, member);
    alike = alike && (b == 0 || count == *most);
    *most = smma_maximum(*most, count);
  }
  return alike;
}

/* Sets x->subject.place: rotates the products within each block by `rotation` places, then the blocks by `blocks`. */
static void place(smma_examination *x, int rotation, int blocks) {
  const int k = x->subject.instruction->k;
  for (int b = 0; b < x->first.blocks; b++) {
    int from[SMMA_MAXIMUM_ROUNDED_K], to[SMMA_MAXIMUM_ROUNDED_K];
    const int count = members_of(&x->first, k, b, from);
    members_of(&x->first, k, (b + blocks) % x->first.blocks, to);
    for (int i = 0; i < count; i++) x->subject.place[from[i]] = to[(i + rotation) % count];
  }
}

static int focus_of(const smma_examination *x, smma_focus focus) {
  int terms[SMMA_MAXIMUM_ROUNDED_K + 1];
  int count = focus == SMMA_IN_LAST_SUM ? smma_last_terms(x, terms) : smma_first_terms(x, terms);
  if (focus == SMMA_AT_FIRST || focus == SMMA_WITH_C || !x->first.known) return smma_first_product(x);
  while (count > 1 && terms[count - 1] == x->subject.instruction->k) count--;
  return count ? terms[count - 1] : 0;
}

/* ---- Values ---- */

/* Adds a finding at product `at` to the values. If its value is new, copies the finding to `*kept` and points to the
   copy. Sets v->many if there is no room for it. */
static void add_value(values *v, const smma_finding *finding, int at, smma_finding *kept) {
  int i = 0;
  while (i < v->count && !smma_same_finding(v->value[i].finding, finding)) i++;
  if (i == MOST_VALUES) {
    v->many = true;
    return;
  }
  if (i == v->count) {
    *kept = *finding;
    v->value[v->count++].finding = kept;
  }
  v->value[i].places += !v->value[i].at[at];
  v->value[i].at[at] = true;
}

static int most_common(const values *v) {
  int most = 0;
  for (int i = 1; i < v->count; i++)
    if (v->value[i].places > v->value[most].places) most = i;
  return most;
}

/* Sets the finding's value to the most frequent value, followed by each other value and its products. Leaves a finding
   unknown if it is unknown at the first product, which is examined more thoroughly than the others. */
static void tell_values(const values *v, int k, smma_finding *f) {
  char text[sizeof f->value];
  size_t length;
  const int most = most_common(v), other = most == 0 ? 1 : 0;
  if (v->count < 2 || !*f->value) return;
  if (v->many || !*v->value[most].finding->value) {
    *f = v->many ? (smma_finding){.why = "it is another at almost every product"} : *v->value[most].finding;
    return;
  }
  *f = *v->value[other].finding; /* its witness shows the difference */
  length = (size_t)snprintf(text, sizeof text, "%s", v->value[most].finding->value);
  for (int i = 0; i < v->count && length < sizeof text; i++) {
    const char *value = v->value[i].finding->value;
    char places[200];
    if (i == most) continue;
    smma_name_places(v->value[i].at, k, places, sizeof places);
    length += (size_t)snprintf(text + length, sizeof text - length, "; %s at k = %s",
                               *value ? value : "cannot tell what", places);
  }
  memcpy(f->value, text, sizeof text);
}

/* ---- All probes ---- */

typedef struct {
  values values[SMMA_PROBE_COUNT];
  smma_finding kept[SMMA_PROBE_COUNT][MOST_VALUES];
} findings_by_place;

static void take(findings_by_place *e, const smma_examination *x, int probe) {
  const smma_subject *s = &x->subject;
  smma_finding f = x->findings[probe];
  if (f.has_witness) {
    const uint64_t d = f.witness.d;
    f.witness = smma_placed_row(s, &f.witness);
    f.witness.d = d;
  }
  values *v = &e->values[probe];
  add_value(v, &f, s->place[focus_of(x, smma_probes[probe].focus)],
            &e->kept[probe][smma_minimum(v->count, MOST_VALUES - 1)]);
}

/* Reports whether a probe examines alignment. Such probes run at all products first, because other probes rely on their
   findings. */
static bool is_of_alignment(int probe) { return smma_probes[probe].focus == SMMA_AT_LAST; }

bool smma_normal_c_passes(const smma_examination *x) {
  return x->output_known && x->output_bits >= smma_encoding_of(x->subject.instruction->c).fraction_bits;
}

static bool can_move(const smma_examination *x, smma_focus focus, int blocks) {
  if (focus == SMMA_IN_LAST_SUM) return blocks == 0;
  return focus != SMMA_WITH_C || blocks == 0 || (x->c_alone_is_kept && smma_normal_c_passes(x));
}

/* Runs the probes with every product moved by `rotation` places in its block and by `blocks` blocks. */
static bool examine_at(findings_by_place *e, smma_examination *x, bool alignment, int rotation, int blocks,
                       smma_error *error) {
  place(x, rotation, blocks);
  for (int i = 0; i < SMMA_PROBE_COUNT; i++) {
    const smma_focus focus = smma_probes[i].focus;
    if (focus == SMMA_OWN_PLACES_ONLY || !can_move(x, focus, blocks) || is_of_alignment(i) != alignment) continue;
    if (!smma_run_probe(x, i, error)) return false;
    take(e, x, i);
  }
  return true;
}

/* Repeats the probes that do not examine alignment, without moving products, because alignment has turned out to differ
   between products. */
static bool examine_again(smma_examination *x, smma_error *error) {
  for (int i = SMMA_PROBE_alignment_bits; i < SMMA_PROBE_COUNT; i++)
    if (!is_of_alignment(i) && !smma_run_probe(x, i, error)) return false;
  return true;
}

static bool examine_all(findings_by_place *e, smma_examination *x, smma_examination *y, smma_error *error) {
  int rotations;
  const bool alike = blocks_are_alike(&x->first, x->subject.instruction->k, &rotations);
  const int places = rotations * (alike ? x->first.blocks : 1);
  const values *bits = &e->values[SMMA_PROBE_alignment_bits];
  smma_alignment common = x->alignment;
  int most = 0;
  bool again = false;
  *y = *x;
  y->moved = true;
  for (int i = 0; i < SMMA_PROBE_COUNT; i++)
    if (is_of_alignment(i)) take(e, x, i);
  for (int n = 1; n < places; n++) {
    if (!examine_at(e, y, true, n % rotations, n / rotations, error)) return false;
    if (most_common(bits) != most) most = most_common(bits), common = y->alignment;
  }
  for (int i = 0; x->alignment.known && i < bits->count; i++)
    for (int k = 0; i != most && k < SMMA_MAXIMUM_ROUNDED_K; k++) x->aligned_otherwise[k] |= bits->value[i].at[k];
  if (most && x->alignment.known && common.known) {
    x->alignment = common;
    again = true;
  }
  for (int k = 0; k < SMMA_MAXIMUM_ROUNDED_K; k++) again |= x->aligned_otherwise[k];
  x->subject.rows = y->subject.rows, x->subject.calls = y->subject.calls;
  if (again && !examine_again(x, error)) return false;
  *y = *x;
  y->moved = true;
  for (int i = 0; i < SMMA_PROBE_COUNT; i++)
    if (!is_of_alignment(i) && smma_probes[i].focus != SMMA_OWN_PLACES_ONLY) take(e, x, i);
  for (int n = 1; n < places; n++)
    if (!examine_at(e, y, false, n % rotations, n / rotations, error)) return false;
  return true;
}

bool smma_examine_elsewhere(smma_examination *x, smma_error *error) {
  findings_by_place *e = calloc(1, sizeof *e);
  smma_examination *y = malloc(sizeof *y);
  const bool good = e && y ? examine_all(e, x, y, error) : smma_no_memory(error);
  for (int i = 0; good && i < SMMA_PROBE_COUNT; i++)
    if (smma_probes[i].focus != SMMA_OWN_PLACES_ONLY)
      tell_values(&e->values[i], x->subject.instruction->k, &x->findings[i]);
  if (good) x->subject.rows = y->subject.rows, x->subject.calls = y->subject.calls;
  free(e);
  free(y);
  return good;
}
