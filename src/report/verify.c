#include "report/verify.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "rows/datum.h"

typedef struct {
  const smma_verify_request *request;
  smma_verification *result;
  size_t at;                /* number of the next file */
  size_t rank, ranks;       /* of a survey */
  smma_clean_files *found;  /* result of a survey; NULL: this is not a survey */
  smma_collection *current; /* the collection of the present file's instruction; NULL: there is none yet */
  bool has_memory;
  smma_error *error;
} work;

/* Reports whether a unit other than the model computes the results. Then the classes explain the unit's results,
   otherwise the file's. */
static bool has_unit(const smma_verify_request *q) { return q->unit && q->unit->methods != &smma_unit_model; }

/* ---- Mismatches ---- */

static bool same_instruction(const smma_vector_header *x, const smma_vector_header *y) {
  return strcmp(x->arch, y->arch) == 0 && strcmp(x->instruction, y->instruction) == 0 && x->a == y->a && x->b == y->b &&
         x->wave == y->wave && x->fp16_ovfl == y->fp16_ovfl && x->clamp == y->clamp;
}

/* Returns the collection for mismatches of this instruction. If there is none, makes one if `add`; returns NULL
   otherwise, and if there are too many instructions. */
static smma_collection *collection_of(work *w, const smma_mismatch *m, bool add) {
  smma_verification *v = w->result;
  const smma_instruction *i;
  smma_error why;
  for (int n = 0; n < v->count; n++)
    if (same_instruction(&v->of[n].header, m->header)) return &v->of[n].collection;
  if (!add || v->count == SMMA_MOST_CLASSIFIED) return NULL;
  i = w->request->rows ? w->request->rows->instruction : smma_instruction_of_header(m->header, m->path, &why);
  if (!i) return NULL;
  v->of[v->count].header = *m->header;
  w->has_memory &= smma_collection_open(i, &v->of[v->count++].collection);
  return w->has_memory ? &v->of[v->count - 1].collection : NULL;
}

static uint64_t index_of(work *w, const smma_mismatch *m) {
  smma_verification *v = w->result;
  if (v->paths == 0 || strcmp(v->path[v->paths - 1], m->path) != 0) {
    char **longer = realloc(v->path, (v->paths + 1) * sizeof *longer), *path = strdup(m->path);
    if (longer) v->path = longer;
    if (!longer || !path) return w->has_memory = false, free(path), 0;
    v->path[v->paths++] = path;
  }
  return smma_index_of_line(v->paths - 1, m->line);
}

static void collect(work *w, const smma_mismatch *m) {
  const bool of_unit = has_unit(w->request);
  smma_collection *c = collection_of(w, m, true);
  smma_row row = *m->row;
  if (!c) w->result->unsorted++;
  if (!c) return;
  w->current = c;
  if (of_unit) row.d = m->got;
  w->has_memory &= smma_collect_mismatch(c, &row, of_unit ? m->row->d : m->got, index_of(w, m));
}

static void collect_right(const smma_mismatch *m, void *context) {
  work *w = context;
  smma_collection *c = collection_of(w, m, false);
  if (!c) return;
  w->current = c;
  smma_collect_right(c, m->row);
}

/* Adds the present file's correct results to the number in the collection of its instruction. `before` are the totals
   before the file. A difference only in flags leaves the result correct. */
static void count_right(work *w, const smma_check_totals *before) {
  const smma_check_totals *t = &w->result->totals;
  const uint64_t wrong = (t->mismatches - t->flags) - (before->mismatches - before->flags);
  if (w->current) w->current->right_count += t->rows - before->rows - wrong;
  w->current = NULL;
}

static smma_datum *mismatch_datum(const smma_mismatch *m) {
  smma_datum *d = smma_datum_record();
  char text[24];
  smma_put_text(d, "file", m->path);
  smma_put_count(d, "line", m->line);
  smma_put_text(d, "arch", m->header->arch);
  smma_put_text(d, "instruction", m->header->instruction);
  smma_put_text(d, "expected", smma_hex_text(m->header->d, m->row->d, text));
  smma_put_text(d, "got", smma_hex_text(m->header->d, m->got, text));
  if (!m->header->tininess) return d;
  smma_put_text(d, "expected_flags", smma_hex_text(SMMA_U8, m->row->flags, text));
  smma_put_text(d, "got_flags", smma_hex_text(SMMA_U8, (uint64_t)m->flags, text));
  return d;
}

static void take_mismatch(const smma_mismatch *m, void *context) {
  work *w = context;
  const smma_verify_request *q = w->request;
  if (w->has_memory && !m->same) collect(w, m); /* only mismatches of d are sorted into classes */
  if (w->result->totals.mismatches > q->most_shown) return;
  if (q->mismatch)
    q->mismatch(m, q->context);
  else
    smma_datum_append(w->result->shown, mismatch_datum(m));
}

/* ---- Files ---- */

static bool compute(const smma_instruction *i, const smma_batch *batch, void *context, smma_error *error) {
  smma_unit *unit = ((work *)context)->request->unit;
  if (smma_units_stopped()) return smma_fail(error, "interrupted");
  if (unit) return smma_unit_computes(unit, i, error) && smma_unit_run(unit, i, batch, error);
  smma_dot_rows(i, batch, 0);
  return true;
}

static void show_progress(const smma_check_totals *totals, void *context) {
  const smma_verify_request *q = ((work *)context)->request;
  if (q->progress) q->progress(totals->rows, q->context);
}

bool smma_note_clean(smma_clean_files *clean, size_t file, uint64_t rows, smma_error *error) {
  if (file >= clean->count) {
    const size_t count = 2 * file + 64;
    uint64_t *longer = realloc(clean->rows, count * sizeof *longer);
    if (!longer) return smma_no_memory(error);
    memset(longer + clean->count, 0, (count - clean->count) * sizeof *longer);
    clean->rows = longer;
    clean->count = count;
  }
  clean->rows[file] = rows;
  return true;
}

static bool survey(work *w, FILE *stream, const char *path) {
  smma_check_totals totals = {0};
  const smma_check_watcher watcher = {.compute = compute, .context = w};
  const bool whole = smma_check_stream(stream, path, &totals, &watcher, NULL);
  return smma_note_clean(w->found, w->at, whole && !totals.mismatches ? totals.rows : 0, w->error);
}

static bool check(work *w, FILE *stream, const char *path) {
  const smma_check_watcher watcher = {compute, take_mismatch, collect_right, show_progress, w};
  const smma_verify_request *q = w->request;
  smma_verification *v = w->result;
  const smma_check_totals before = v->totals;
  smma_error why;
  const bool whole = smma_check_stream(stream, path, &v->totals, &watcher, &why);
  count_right(w, &before);
  if (!w->has_memory) return smma_no_memory(w->error);
  if (!whole && (!q->unreadable || smma_units_stopped())) return smma_fail(w->error, "%s", why.text);
  if (!whole) {
    q->unreadable(why.text, q->context);
    v->is_whole = false;
    return true;
  }
  if (v->totals.rows == before.rows && q->empty) q->empty(path, q->context);
  v->files++;
  return true;
}

/* Checks a file, unless it is known to be correct or belongs to another rank's survey. */
static bool check_file(work *w, FILE *stream, const char *path) {
  const smma_clean_files *clean = w->request->clean;
  const size_t at = w->at;
  bool good = true;
  if (w->found) {
    if (at % w->ranks == w->rank) good = survey(w, stream, path);
  } else if (clean && at < clean->count && clean->rows[at]) {
    w->result->totals.rows += clean->rows[at];
    w->result->files++;
  } else {
    good = check(w, stream, path);
  }
  w->at++;
  return good;
}

static bool check_path(work *w, const char *path, bool named_by_user);

static bool check_folder(work *w, const char *path) {
  struct dirent **entries;
  const int count = scandir(path, &entries, NULL, alphasort);
  bool good = count >= 0 || smma_fail(w->error, "%s: %s", path, strerror(errno));
  for (int i = 0; i < count; i++) {
    const char *name = entries[i]->d_name;
    char child[4096];
    if (good && strcmp(name, ".") != 0 && strcmp(name, "..") != 0) {
      good = snprintf(child, sizeof child, "%s/%s", path, name) < (int)sizeof child ||
             smma_fail(w->error, "%s/%s: the path is too long", path, name);
      good = good && check_path(w, child, false);
    }
    free(entries[i]);
  }
  if (count >= 0) free(entries);
  return good;
}

/* Reports whether the name of a file ends as those of vector files in text do. */
static bool is_named_text(const char *path) {
  static const char *const endings[] = {".txt", ".csv", ".json", ".jsonl"};
  const char *ending = strrchr(path, '.');
  for (size_t i = 0; ending && i < sizeof endings / sizeof *endings; i++)
    if (strcmp(ending, endings[i]) == 0) return true;
  return false;
}

/* Reports whether a file in a folder is a vector file: it begins as one, and if it is text, its name ends as those of
   vector files do. Links are not followed. */
static bool is_vector_file(FILE *stream, const char *path) {
  return smma_vector_is_binary(stream) || (is_named_text(path) && smma_vector_is_text(stream));
}

static bool check_path(work *w, const char *path, bool named_by_user) {
  struct stat status;
  FILE *stream;
  bool good = true;
  if ((named_by_user ? stat : lstat)(path, &status) != 0) return smma_fail(w->error, "%s: %s", path, strerror(errno));
  if (S_ISDIR(status.st_mode)) return check_folder(w, path);
  if (!named_by_user && !S_ISREG(status.st_mode)) return true;
  stream = fopen(path, "r");
  if (!stream && !named_by_user && !is_named_text(path)) return true;
  if (!stream) return smma_fail(w->error, "%s: %s", path, strerror(errno));
  if (named_by_user || is_vector_file(stream, path)) good = check_file(w, stream, path);
  fclose(stream);
  return good;
}

static bool check_paths(work *w) {
  const smma_verify_request *q = w->request;
  for (const char *const *path = q->paths; *path; path++) {
    const size_t before = w->at;
    if (!q->input || strcmp(*path, "-") != 0) {
      if (!check_path(w, *path, true)) return false;
      if (w->at == before)
        return smma_fail(w->error,
                         "%s: no vector file found; a vector file is a binary one, or a .txt, .csv, .json or .jsonl "
                         "file with the header of one",
                         *path);
    } else if (!w->found && !check(w, q->input, "standard input")) {
      return false;
    }
  }
  return true;
}

static bool check_memory(work *w) {
  const smma_verify_request *q = w->request;
  const smma_check_watcher watcher = {compute, take_mismatch, collect_right, show_progress, w};
  const smma_check_totals before = {0};
  smma_vector_header header;
  bool good;
  smma_vector_header_of(q->rows->instruction, &header);
  w->result->files = 1;
  good = smma_check_rows(q->rows, q->count, &header, "rows", &w->result->totals, &watcher, w->error);
  count_right(w, &before);
  return good && (w->has_memory || smma_no_memory(w->error));
}

bool smma_verify_survey(const smma_verify_request *request, size_t rank, size_t ranks, smma_clean_files *clean,
                        smma_error *error) {
  work w = {.request = request, .rank = rank, .ranks = ranks, .found = clean, .error = error};
  return check_paths(&w);
}

/* ---- The whole verification ---- */

static bool classify(smma_verification *v, smma_error *error) {
  for (int n = 0; n < v->count; n++) {
    smma_verified_instruction *x = &v->of[n];
    smma_error why;
    x->classes = malloc(sizeof *x->classes);
    if (!x->classes) return smma_no_memory(error);
    if (!smma_classify_collected(&x->collection, x->classes, &why))
      return smma_fail(error, "%s; while mismatches were sorted into classes", why.text);
  }
  return true;
}

bool smma_verify(const smma_verify_request *q, smma_verification *v, smma_error *error) {
  work w = {.request = q, .result = v, .has_memory = true, .error = error};
  *v = (smma_verification){.is_whole = true, .shown = q->mismatch ? NULL : smma_datum_table()};
  v->unit = has_unit(q) ? q->unit->name : "the file";
  v->against = has_unit(q) ? "the file" : "the model";
  if (!(q->rows ? check_memory(&w) : check_paths(&w))) return false;
  return classify(v, error);
}

void smma_verification_free(smma_verification *v) {
  for (int n = 0; n < v->count; n++) {
    smma_collection_free(&v->of[n].collection);
    free(v->of[n].classes);
  }
  for (size_t n = 0; n < v->paths; n++) free(v->path[n]);
  free(v->path);
  smma_datum_free(v->shown);
}

smma_class_words smma_verification_words(const smma_verification *v, int n) {
  return (smma_class_words){.instruction = v->of[n].collection.instruction,
                            .unit = v->unit,
                            .against = v->against,
                            .mismatches = v->of[n].collection.mismatches,
                            .paths = (const char *const *)v->path};
}

smma_datum *smma_verification_datum(smma_verification *v) {
  smma_datum *d = smma_datum_record(), *list = smma_datum_list();
  for (int n = 0; n < v->count; n++) {
    const smma_class_words words = smma_verification_words(v, n);
    smma_datum *one = smma_datum_record();
    smma_put_text(one, "arch", v->of[n].header.arch);
    smma_put_text(one, "instruction", v->of[n].header.instruction);
    smma_put_count(one, "mismatches", v->of[n].collection.mismatches);
    smma_datum_put(one, "classes", smma_classes_datum(v->of[n].classes, &words));
    smma_datum_append(list, one);
  }
  smma_put_count(d, "files", v->files);
  smma_put_count(d, "rows", v->totals.rows);
  smma_put_count(d, "mismatches", v->totals.mismatches);
  smma_put_count(d, "nan", v->totals.nan);
  smma_datum_put(d, "shown", v->shown);
  smma_datum_put(d, "classes", list);
  smma_put_count(d, "flags", v->totals.flags);
  v->shown = NULL;
  return d;
}
