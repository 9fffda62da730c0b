#include "match/recipe.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/count.h"
#include "isa/key.h"
#include "plan/library.h"
#include "plan/scales.h"

enum { MOST_SLICES = 64, MOST_LIBRARY_SLICES = 32, MOST_LENGTHS = 512 };

/* ---- A recipe's plan ---- */

static smma_plan_level *add_level(smma_plan *p, smma_deal deal, size_t count, size_t grain) {
  smma_plan_level *l = &p->level[p->levels++];
  *l = (smma_plan_level){
      .deal = deal, .count = count, .grain = grain, .stored = SMMA_STORED_AS_IS, .total = SMMA_STORED_AS_IS};
  return l;
}

/* Adds a level with one part, which takes the tiles in descending order. */
static bool reverse(smma_plan *p, size_t k, size_t tile) {
  smma_plan_level *l = add_level(p, SMMA_DEAL_LIST, 0, 0);
  const size_t tiles = smma_divide_up(k, tile);
  smma_plan_range *range = calloc(tiles, sizeof *range);
  if (!range) return false;
  for (size_t i = 0; i < tiles; i++) {
    const size_t first = (tiles - 1 - i) * tile;
    range[i] = (smma_plan_range){first, first + tile < k ? first + tile : k, 0};
  }
  l->range = range, l->ranges = tiles;
  return true;
}

static bool add_outer(smma_plan *p, const smma_recipe *r, size_t k) {
  smma_plan_level *l;
  switch (r->outer) {
    case SMMA_OUTER_NONE: return true;
    case SMMA_OUTER_REVERSED: return reverse(p, k, r->grain);
    case SMMA_OUTER_CONTIGUOUS: l = add_level(p, SMMA_DEAL_CONTIGUOUS, r->parts, r->grain); break;
    case SMMA_OUTER_EVERY: l = add_level(p, SMMA_DEAL_EVERY, 0, r->grain); break;
    default: l = add_level(p, SMMA_DEAL_INTERLEAVED, r->parts, r->grain); break;
  }
  l->fold = r->fold;
  l->from_zero = r->outer == SMMA_OUTER_EVERY;
  if (r->rounded == SMMA_ROUNDED_PARTS) l->stored = SMMA_STORED_AS_D;
  if (r->rounded == SMMA_ROUNDED_TOTALS) l->total = SMMA_STORED_AS_D;
  return true;
}

static void add_operation(smma_plan *p, smma_epilogue_kind kind, smma_format format) {
  p->epilogue[p->epilogues++] = (smma_epilogue){kind, format};
}

/* Returns a choice, 0 to count - 1, from a number that encodes several choices, and removes it from the number. */
static int choice_of(int *number, int count) {
  const int choice = *number % count;
  *number /= count;
  return choice;
}

/* Adds an epilogue: combination number `number` of the ways in which alpha, C, bias and scale_d can be applied. Returns
   false after the last combination. */
static bool add_epilogue(smma_plan *p, const smma_match_data *data, int number) {
  const bool narrow = smma_encoding_of(data->d_format).bits <= 8, plain = data->alpha == 1 && data->beta == 1;
  if (data->c) {
    if (plain && choice_of(&number, 2) == 0)
      p->starts_from_c = true;
    else
      add_operation(p, SMMA_EPILOGUE_LINEAR, SMMA_NO_FORMAT);
  } else if (data->alpha != 1 || (smma_encoding_of(data->a_format).bits <= 8 && choice_of(&number, 2))) {
    add_operation(p, SMMA_EPILOGUE_ALPHA, SMMA_NO_FORMAT);
  }
  if (data->bias) {
    if (choice_of(&number, 2)) add_operation(p, SMMA_EPILOGUE_ROUND, data->d_format);
    add_operation(p, SMMA_EPILOGUE_BIAS, SMMA_NO_FORMAT);
  }
  if (data->scale_d != 1) add_operation(p, SMMA_EPILOGUE_SCALE_D, SMMA_NO_FORMAT);
  if (narrow && choice_of(&number, 2) == 0) add_operation(p, SMMA_EPILOGUE_CLAMP, data->d_format);
  return number == 0;
}

static bool fill(smma_plan *p, const smma_recipe *r, const smma_match_data *data) {
  smma_plan_level *l;
  p->d = data->d_format;
  if (!add_outer(p, r, data->k)) return false;
  if (r->lanes) add_level(p, SMMA_DEAL_INTERLEAVED, r->lanes, r->width);
  if (r->promote) {
    l = add_level(p, SMMA_DEAL_EVERY, 0, r->promote);
    l->from_zero = true, l->with = r->with;
  }
  p->group = r->group, p->tile = r->tile, p->lost_tail = r->lost_tail;
  if (r->tile) p->residue = SMMA_RESIDUE_FIRST_TILE;
  return add_epilogue(p, data, r->epilogue);
}

/* Reports whether a library's plan, which has its own epilogue, uses exactly the arguments of this product. */
static bool takes_all(const smma_plan *p, const smma_match_data *data) {
  const bool linear = smma_plan_has(p, SMMA_EPILOGUE_LINEAR);
  if (data->c || data->bias || data->scale_d != 1) return false;
  if (data->alpha != 1 && !linear && !smma_plan_has(p, SMMA_EPILOGUE_ALPHA)) return false;
  return smma_scaled_parts(p, data->k) == data->parts;
}

static smma_plan *plan_of_library(const smma_recipe *r, const smma_match_data *data, const smma_instruction *i) {
  smma_plan_request request;
  smma_plan *plan;
  smma_plan_request_defaults(&request, sizeof request);
  request.name = r->library, request.instruction = i, request.d = data->d_format;
  request.m = data->m, request.n = data->n, request.k = data->k;
  request.algo = r->algo, request.stages = r->stages, request.custom = r->custom;
  request.split_k = r->split_k, request.reduction = r->reduction, request.fast_accumulation = r->fast;
  plan = smma_plan_of_library(&request, NULL);
  if (!plan) return NULL;
  if (plan->d == SMMA_NO_FORMAT) plan->d = data->d_format;
  if (plan->d == data->d_format && takes_all(plan, data)) return plan;
  smma_plan_release(plan);
  return NULL;
}

smma_plan *smma_recipe_plan(const smma_recipe *r, const smma_match_data *data,
                            const smma_instruction *const *instruction, size_t instructions) {
  smma_plan *plan = NULL;
  char text[100];
  for (size_t i = 0; r->library && !plan && i < instructions; i++)
    if (smma_plan_library_suits(r->library, instruction[i])) plan = plan_of_library(r, data, instruction[i]);
  if (r->library) return plan;
  plan = calloc(1, sizeof *plan);
  if (!plan) return NULL;
  smma_recipe_text(r, text, sizeof text);
  plan->name = malloc(sizeof text);
  if (plan->name) memcpy((char *)plan->name, text, sizeof text);
  if (plan->name && fill(plan, r, data)) return plan;
  smma_plan_release(plan);
  return NULL;
}

/* ---- Descriptions of recipes ---- */

static void library_text(const smma_recipe *r, char *text, size_t size) {
  smma_append_text(text, size, "%s", r->library);
  if (r->algo >= 0) smma_append_text(text, size, " --algo %d", r->algo);
  if (r->stages >= 0) smma_append_text(text, size, " --stages %d", r->stages);
  if (r->split_k > 1) smma_append_text(text, size, " --splitk %d", r->split_k);
  if (r->reduction >= 0) smma_append_text(text, size, " --reduction %d", r->reduction);
  if (r->custom >= 0) smma_append_text(text, size, " --custom %d", r->custom);
  if (r->fast) smma_append_text(text, size, " --fast");
}

void smma_recipe_text(const smma_recipe *r, char *text, size_t size) {
  static const char *const folds[] = {"in order", "by halves", "neighbours first", "last first", "by strides"};
  static const char *const rounded[] = {"", ", each rounded to D", ", each total rounded to D"};
  text[0] = 0;
  if (r->library) {
    library_text(r, text, size);
    return;
  }
  switch (r->outer) {
    case SMMA_OUTER_NONE: break;
    case SMMA_OUTER_CONTIGUOUS:
      smma_append_text(text, size, "%zu slices, multiples of %zu, %s%s", r->parts, r->grain, folds[r->fold],
                       rounded[r->rounded]);
      break;
    case SMMA_OUTER_EVERY:
      smma_append_text(text, size, "slices of %zu, %s%s", r->grain, folds[r->fold], rounded[r->rounded]);
      break;
    case SMMA_OUTER_INTERLEAVED:
      smma_append_text(text, size, "%zu slices take tiles of %zu in turn, %s%s", r->parts, r->grain, folds[r->fold],
                       rounded[r->rounded]);
      break;
    case SMMA_OUTER_REVERSED: smma_append_text(text, size, "tiles of %zu, the last first", r->grain); break;
  }
  if (r->lanes) smma_append_text(text, size, "%s%zu partitions, stripes of %zu", *text ? "; " : "", r->lanes, r->width);
  if (r->promote) smma_append_text(text, size, "%spromoted every %zu", *text ? "; " : "", r->promote);
  if (!*text) smma_append_text(text, size, "one chain");
  if (r->group) smma_append_text(text, size, "; groups of %zu", r->group);
  if (r->tile) smma_append_text(text, size, ", residue first in tiles of %zu", r->tile);
  if (r->lost_tail) smma_append_text(text, size, "; lost tail of %zu", r->lost_tail);
}

/* ---- The space of recipes ---- */

typedef struct {
  const smma_match_data *data;
  const smma_instruction *const *instruction;
  size_t instructions;
  smma_recipe_taker *take;
  void *context;
  int epilogues;
  bool no_memory;
  size_t scaled[8]; /* lengths of parts that have scale factors */
  size_t scaleds;
  smma_recipe outer[4096];
  size_t outers;
} space;

static int count_epilogues(const smma_match_data *data) {
  smma_plan p;
  int count = 0;
  do p = (smma_plan){.d = data->d_format};
  while (add_epilogue(&p, data, count) && ++count);
  return count;
}

static bool emit(const space *s, smma_recipe r) {
  if (!s->data->scale_a != (r.with == SMMA_WITH_ADD)) return true;
  for (r.epilogue = 0; r.epilogue < s->epilogues; r.epilogue++)
    if (!s->take(&r, s->context)) return false;
  return true;
}

/* Passes a recipe to `take` with every order in which its parts can be added, and every way to round them. */
static bool emit_merges(const space *s, smma_recipe r, size_t parts) {
  const bool narrow = smma_encoding_of(s->data->d_format).bits < 32;
  const bool even = (parts & (parts - 1)) == 0;
  if (parts <= 1) return emit(s, r);
  for (r.rounded = SMMA_ROUNDED_NOT; r.rounded <= (narrow ? SMMA_ROUNDED_TOTALS : SMMA_ROUNDED_NOT); r.rounded++) {
    r.fold = SMMA_FOLD_SERIAL;
    if (!emit(s, r)) return false;
    for (r.fold = SMMA_FOLD_HALVING; parts > 2 && r.fold <= SMMA_FOLD_LAST_FIRST; r.fold++)
      if ((even || r.fold != SMMA_FOLD_HALVING) && !emit(s, r)) return false;
  }
  return true;
}

/* Returns the length of contiguous slices, which are multiples of a grain. */
static size_t slice_length(const space *s, size_t parts, size_t grain) {
  return smma_divide_up(smma_divide_up(s->data->k, parts), grain) * grain;
}

static size_t slices_of(const space *s, const smma_recipe *r) {
  const size_t k = s->data->k;
  switch (r->outer) {
    case SMMA_OUTER_CONTIGUOUS: return smma_divide_up(k, slice_length(s, r->parts, r->grain));
    case SMMA_OUTER_EVERY: return smma_divide_up(k, r->grain);
    case SMMA_OUTER_INTERLEAVED: return r->parts;
    default: return 1;
  }
}

static void add(space *s, smma_recipe r) {
  if (s->outers < sizeof s->outer / sizeof *s->outer) s->outer[s->outers++] = r;
}

static bool has_length(const space *s, size_t length, size_t slices) {
  for (size_t i = 0; i < s->outers; i++) {
    const smma_recipe *r = &s->outer[i];
    if (r->outer == SMMA_OUTER_CONTIGUOUS && slices_of(s, r) == slices && slice_length(s, r->parts, r->grain) == length)
      return true;
  }
  return false;
}

static void add_outers(space *s) {
  static const size_t grains[] = {64, 128, 32, 16, 8, 1}, tiles[] = {64, 32, 128, 16, 256, 8};
  const size_t k = s->data->k, step = 16 * smma_divide_up(k, 16 * MOST_LENGTHS);
  add(s, (smma_recipe){.outer = SMMA_OUTER_NONE});
  for (size_t parts = 2; parts <= MOST_SLICES && parts <= k; parts++)
    for (size_t g = 0; g < sizeof grains / sizeof *grains; g++) {
      const size_t length = slice_length(s, parts, grains[g]);
      if (length < k && !has_length(s, length, smma_divide_up(k, length)))
        add(s, (smma_recipe){.outer = SMMA_OUTER_CONTIGUOUS, .parts = parts, .grain = grains[g]});
    }
  for (size_t t = 0; t < sizeof tiles / sizeof *tiles; t++)
    for (size_t parts = 2; parts <= MOST_SLICES / 2 && parts <= smma_divide_up(k, tiles[t]); parts++)
      add(s, (smma_recipe){.outer = SMMA_OUTER_INTERLEAVED, .parts = parts, .grain = tiles[t]});
  for (size_t length = step; length < k; length += step)
    if (!has_length(s, length, smma_divide_up(k, length)))
      add(s, (smma_recipe){.outer = SMMA_OUTER_EVERY, .grain = length});
  for (size_t tile = 16; tile < k && tile <= 256; tile *= 2)
    add(s, (smma_recipe){.outer = SMMA_OUTER_REVERSED, .grain = tile});
}

/* Returns the number of products in a slice. */
static size_t length_of(const space *s, const smma_recipe *r) { return smma_divide_up(s->data->k, slices_of(s, r)); }

static bool emit_promoted(const space *s, const smma_recipe *outer) {
  smma_recipe r = *outer;
  const size_t slices = slices_of(s, outer);
  const bool turns = r.outer == SMMA_OUTER_INTERLEAVED; /* no other plan shares the chains of such recipes, so each
                                                           costs much and few are tried */
  if (turns && r.grain < 32) return true;
  for (size_t i = 0; i < s->scaleds; i++)
    for (r.promote = s->scaled[i], r.with = SMMA_WITH_FMA; r.with <= SMMA_WITH_MULTIPLY_B_FMA; r.with++)
      if (!emit_merges(s, r, slices)) return false;
  r.with = SMMA_WITH_ADD;
  if (r.outer == SMMA_OUTER_EVERY) return true;
  for (r.promote = turns ? 64 : 16; r.promote < length_of(s, outer) && r.promote <= (turns ? 512 : s->data->k);
       r.promote *= 2)
    if (!emit_merges(s, r, slices)) return false;
  return true;
}

/* Reports whether slices are as long as contiguous slices with this grain. The recipe's own grain can be another one,
   because add_outers keeps only the first of several recipes with equal slices. */
static bool has_length_of(const space *s, const smma_recipe *r, size_t grain) {
  return r->outer == SMMA_OUTER_CONTIGUOUS && slice_length(s, r->parts, r->grain) == slice_length(s, r->parts, grain);
}

/* Passes recipes to `take` with the group lengths of CUTLASS 2.x. */
static bool emit_groups(const space *s, const smma_recipe *outer) {
  static const struct {
    size_t group, tile;
  } ways[] = {{8, 32}, {16, 32}, {16, 64}, {16, 128}, {8, 0}, {16, 0}, {4, 0}};
  smma_recipe r = *outer;
  if (r.outer != SMMA_OUTER_NONE && !has_length_of(s, outer, 64) && !has_length_of(s, outer, 8)) return true;
  for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
    r.group = ways[i].group, r.tile = ways[i].tile;
    if (!emit_merges(s, r, slices_of(s, outer))) return false;
  }
  return true;
}

/* Passes recipes to `take` in which slices are divided again: each warp takes a stripe of every tile. */
static bool emit_partitions(const space *s, const smma_recipe *outer) {
  smma_recipe r = *outer;
  if (r.outer != SMMA_OUTER_NONE && (r.outer != SMMA_OUTER_CONTIGUOUS || r.parts > 16)) return true;
  for (r.lanes = 2; r.lanes <= 4; r.lanes *= 2)
    for (r.width = 16; r.width <= 64; r.width *= 2)
      if ((r.lanes - 1) * r.width < length_of(s, outer) && !emit_merges(s, r, slices_of(s, outer))) return false;
  return true;
}

static bool emit_lost_tails(const space *s, const smma_recipe *outer) {
  smma_recipe r = *outer;
  if (r.outer != SMMA_OUTER_CONTIGUOUS) return true;
  for (r.lost_tail = 64; r.lost_tail <= 128; r.lost_tail *= 2)
    if (s->data->k % r.lost_tail && !emit_merges(s, r, slices_of(s, outer))) return false;
  return true;
}

static bool emit_generic(const space *s) {
  for (size_t i = 0; i < s->outers; i++)
    if (!emit_merges(s, s->outer[i], slices_of(s, &s->outer[i]))) return false;
  for (size_t i = 0; i < s->outers; i++)
    if (!emit_promoted(s, &s->outer[i]) || !emit_groups(s, &s->outer[i]) || !emit_partitions(s, &s->outer[i]) ||
        !emit_lost_tails(s, &s->outer[i]))
      return false;
  return true;
}

static bool is_known(space *s, const smma_recipe *r) {
  smma_plan *plan;
  errno = 0; /* ENOMEM distinguishes lack of memory from a plan that is not known */
  plan = smma_recipe_plan(r, s->data, s->instruction, s->instructions);
  s->no_memory |= !plan && errno == ENOMEM;
  smma_plan_release(plan);
  return plan;
}

/* Passes a library configuration to `take`, once for each reduction mode and option that the library can combine with
   it. */
static bool emit_configuration(space *s, smma_recipe r) {
  static const int reductions[] = {2, 4, 1};
  if (is_known(s, &r)) return s->take(&r, s->context);
  for (int i = 0; i < 3; i++) {
    r.reduction = reductions[i];
    if (is_known(s, &r) && !s->take(&r, s->context)) return false;
  }
  for (r.reduction = -1, r.custom = 0; r.custom < 2; r.custom++)
    if (is_known(s, &r) && !s->take(&r, s->context)) return false;
  return true;
}

/* Passes a library kernel to `take` with all numbers of slices (split-K), with and without fast accumulation. */
static bool emit_kernel(space *s, smma_recipe r) {
  const bool narrow = smma_encoding_of(s->data->a_format).bits <= 8;
  const int most = r.algo < 0 ? 1 : MOST_LIBRARY_SLICES;
  for (r.fast = 0; r.fast <= (narrow && r.algo >= 0); r.fast++)
    for (int slices = 1; slices <= most; slices++) {
      r.split_k = slices > 1 ? slices : -1, r.reduction = -1;
      if (!emit_configuration(s, r)) return false;
    }
  return true;
}

static bool emit_libraries(space *s) {
  const bool narrow = smma_encoding_of(s->data->a_format).bits <= 8;
  smma_plan_request request;
  const char *name;
  for (size_t l = 0; (name = smma_plan_library_name(l)); l++) {
    smma_plan_request_defaults(&request, sizeof request);
    for (size_t i = 0; smma_plan_library_kernel(name, i, &request); i++) {
      if (request.algo < 0 && !narrow) continue; /* library plans without a configuration are for FP8 products only */
      const smma_recipe r = {
          .library = name, .algo = request.algo, .stages = request.stages, .custom = request.custom, .reduction = -1};
      if (!emit_kernel(s, r)) return false;
    }
  }
  return true;
}

bool smma_each_recipe(const smma_match_data *data, const smma_instruction *const *instruction, size_t instructions,
                      smma_recipe_taker *take, void *context) {
  space *s = calloc(1, sizeof *s);
  bool done;
  if (!s) return false;
  s->data = data, s->instruction = instruction, s->instructions = instructions, s->take = take, s->context = context;
  s->epilogues = count_epilogues(data);
  for (size_t part = 32; data->scale_a && part <= 1024; part *= 2)
    if (smma_divide_up(data->k, part) == data->parts) s->scaled[s->scaleds++] = part;
  if (data->scale_a && !s->scaleds) s->scaled[s->scaleds++] = smma_divide_up(data->k, data->parts);
  add_outers(s);
  done = emit_generic(s) && emit_libraries(s) && !s->no_memory;
  free(s);
  return done;
}
