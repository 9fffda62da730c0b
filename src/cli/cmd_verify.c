#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "classes/collected.h"
#include "cli/classes.h"
#include "cli/row.h"
#include "cli/values.h"
#include "cluster/ranks.h"
#include "io/custom_file.h"
#include "rows/check.h"
#include "unit/unit.h"

/* Mismatches of so many instructions are sorted into classes. */
enum { MOST_SORTED = 8 };

/* Those of one instruction, as headers name it. */
typedef struct {
  smma_vector_header header;
  smma_collection collection;
  smma_classes *classes;
} sorted;

typedef struct {
  smma_check_totals totals;
  unsigned long long files;
  long long shown, most; /* mismatches printed, and how many may be */
  smma_unit *unit;       /* NULL: the models */
  bool json;
  bool failed; /* a file could not be read; the others are still checked */
  json_t *mismatches;
  sorted of[MOST_SORTED];
  int sorts;
  unsigned long long unsorted; /* mismatches of other instructions */
  char **path;                 /* of files with mismatches: upper bits of a row's index, below them is its line */
  size_t paths;
  smma_progress progress;
  size_t at;       /* number of the next file, of all */
  uint64_t *clean; /* of each file: its rows, where a rank found them all right; 0: not known */
  size_t cleans;   /* of these */
  bool surveys;    /* only tells which of this rank's files are clean */
} verification;

enum { LINE_BITS = 40 };

/* Whether another unit than the model computes: then its results are to be explained, else the file's. */
static bool has_unit(const verification *v) { return v->unit && v->unit->methods != &smma_unit_model; }

/* `unit` computed it. */
static void print_mismatch(const smma_mismatch *m, const char *unit) {
  const smma_vector_header *h = m->header;
  const smma_instruction *i =
      smma_resolve_instruction(h->arch, h->instruction, NULL); /* its own names need no quotes */
  char expected[24], got[24], value[2][40];
  printf("%s:%llu: %s %s: the file says %s (%s), %s computes %s (%s)\n", m->path, m->line, h->arch, h->instruction,
         smma_hex_text(h->d, m->row->d, expected), smma_value_text(h->d, m->row->d, value[0]), unit,
         smma_hex_text(h->d, m->got, got), smma_value_text(h->d, m->got, value[1]));
  printf("  ");
  smma_print_dot_command(stdout, i, m->row);
  putchar('\n');
}

/* ---- Classes ---- */

static bool same_instruction(const smma_vector_header *x, const smma_vector_header *y) {
  return strcmp(x->arch, y->arch) == 0 && strcmp(x->instruction, y->instruction) == 0 && x->a == y->a && x->b == y->b &&
         x->wave == y->wave && x->fp16_ovfl == y->fp16_ovfl && x->clamp == y->clamp;
}

/* Where mismatches of these rows are collected; NULL where there are too many instructions. */
static smma_collection *collection_of(verification *v, const smma_mismatch *m, bool add) {
  const smma_instruction *i;
  smma_error error;
  for (int n = 0; n < v->sorts; n++)
    if (same_instruction(&v->of[n].header, m->header)) return &v->of[n].collection;
  if (!add || v->sorts == MOST_SORTED) return NULL;
  i = smma_instruction_of_header(m->header, m->path, &error);
  if (!i) return NULL;
  v->of[v->sorts].header = *m->header;
  if (!smma_collection_open(i, &v->of[v->sorts].collection)) smma_die("out of memory");
  return &v->of[v->sorts++].collection;
}

static uint64_t index_of(verification *v, const smma_mismatch *m) {
  if (v->paths == 0 || strcmp(v->path[v->paths - 1], m->path) != 0) {
    char **longer = realloc(v->path, (v->paths + 1) * sizeof *longer);
    if (!longer) smma_die("out of memory");
    v->path = longer;
    v->path[v->paths] = strdup(m->path);
    if (!v->path[v->paths++]) smma_die("out of memory");
  }
  return (uint64_t)(v->paths - 1) << LINE_BITS | m->line;
}

static void collect(verification *v, const smma_mismatch *m) {
  smma_collection *c = collection_of(v, m, true);
  smma_row row = *m->row;
  if (!c) v->unsorted++;
  if (!c) return;
  if (has_unit(v)) row.d = m->got;
  if (!smma_collect_mismatch(c, &row, has_unit(v) ? m->row->d : m->got, index_of(v, m))) smma_die("out of memory");
}

static void collect_right(const smma_mismatch *m, void *context) {
  smma_collection *c = collection_of(context, m, false);
  if (c) smma_collect_right(c, m->row);
}

static void print_place(const smma_class_words *words, uint64_t index) {
  const verification *v = words->context;
  printf("%s:%llu", v->path[index >> LINE_BITS], (unsigned long long)(index & ((UINT64_C(1) << LINE_BITS) - 1)));
}

static void set_place(const smma_class_words *words, uint64_t index, json_t *row) {
  const verification *v = words->context;
  json_object_set_new(row, "file", smma_json_text(v->path[index >> LINE_BITS]));
  json_object_set_new(row, "line", json_integer((json_int_t)(index & ((UINT64_C(1) << LINE_BITS) - 1))));
}

static smma_class_words words_of(const verification *v, int n) {
  return (smma_class_words){.instruction = v->of[n].collection.instruction,
                            .unit = has_unit(v) ? v->unit->name : "the file",
                            .against = has_unit(v) ? "the file" : "the model",
                            .mismatches = v->of[n].collection.mismatches,
                            .print_place = print_place,
                            .set_place = set_place,
                            .context = v};
}

static void sort_mismatches(verification *v) {
  smma_error error;
  for (int n = 0; n < v->sorts; n++) {
    v->of[n].classes = malloc(sizeof *v->of[n].classes);
    if (!v->of[n].classes) smma_die("out of memory");
    if (!smma_classify_collected(&v->of[n].collection, v->totals.rows - v->totals.mismatches, v->of[n].classes, &error))
      smma_die("%s; while mismatches were sorted into classes", error.text);
  }
}

static void print_classes(const verification *v) {
  for (int n = 0; n < v->sorts; n++) {
    const smma_class_words words = words_of(v, n);
    printf("%s %s mismatches=%llu\n", v->of[n].header.arch, v->of[n].header.instruction,
           (unsigned long long)v->of[n].collection.mismatches);
    smma_print_classes(v->of[n].classes, &words);
  }
  if (v->unsorted)
    printf("%llu mismatches were not sorted into classes: those of the first %d instructions are\n", v->unsorted,
           MOST_SORTED);
}

static json_t *classes_json(const verification *v) {
  json_t *list = json_array();
  for (int n = 0; n < v->sorts; n++) {
    const smma_class_words words = words_of(v, n);
    json_array_append_new(
        list, json_pack("{s:o, s:s, s:I, s:o}", "arch", smma_json_text(v->of[n].header.arch), "instruction",
                        v->of[n].header.instruction, "mismatches", (json_int_t)v->of[n].collection.mismatches,
                        "classes", smma_classes_json(v->of[n].classes, &words)));
  }
  return list;
}

static void free_classes(verification *v) {
  for (int n = 0; n < v->sorts; n++) {
    smma_collection_free(&v->of[n].collection);
    free(v->of[n].classes);
  }
  for (size_t n = 0; n < v->paths; n++) free(v->path[n]);
  free(v->path);
}

/* ---- Files ---- */

static void report(const smma_mismatch *m, void *context) {
  verification *v = context;
  char expected[24], got[24];
  collect(v, m);
  if (v->shown++ >= v->most) return;
  if (!v->json)
    print_mismatch(m, has_unit(v) ? v->unit->name : "the model");
  else
    json_array_append_new(
        v->mismatches,
        json_pack("{s:o, s:I, s:s, s:s, s:s, s:s}", "file", smma_json_text(m->path), "line", (json_int_t)m->line,
                  "arch", m->header->arch, "instruction", m->header->instruction, "expected",
                  smma_hex_text(m->header->d, m->row->d, expected), "got", smma_hex_text(m->header->d, m->got, got)));
}

static bool ask_unit(const smma_instruction *i, const smma_batch *batch, void *context, smma_error *error) {
  smma_unit *unit = ((verification *)context)->unit;
  return smma_unit_computes(unit, i, error) && smma_unit_run(unit, i, batch, error);
}

static void show_progress(const smma_check_totals *totals, void *context) {
  smma_progress_show(&((verification *)context)->progress, totals->rows, 0);
}

/* ---- Ranks: each looks at every so many'th file; the first one then at those that are not right, as if it were alone
   ---- */

static void note_clean(verification *v, uint64_t rows) {
  if (v->at >= v->cleans) {
    const size_t longer = 2 * v->at + 64;
    v->clean = realloc(v->clean, longer * sizeof *v->clean);
    if (!v->clean) smma_die("out of memory");
    memset(v->clean + v->cleans, 0, (longer - v->cleans) * sizeof *v->clean);
    v->cleans = longer;
  }
  v->clean[v->at] = rows;
}

static void survey(verification *v, FILE *stream, const char *path) {
  smma_check_totals totals = {0, 0, 0};
  const smma_check_watcher watcher = {.compute = v->unit ? ask_unit : NULL, .context = v};
  const bool whole = smma_check_stream(stream, path, &totals, &watcher, NULL);
  note_clean(v, whole && !totals.mismatches ? totals.rows : 0);
}

/* Whether this rank has not to look at the next file, of which a rank knows enough or which is another's to survey. */
static bool is_known(verification *v) {
  if (v->surveys) return v->at % smma_ranks() != smma_rank();
  if (v->at >= v->cleans || !v->clean[v->at]) return false;
  v->totals.rows += v->clean[v->at];
  v->files++;
  return true;
}

static void look(verification *v, FILE *stream, const char *path);

static void check_stream(verification *v, FILE *stream, const char *path) {
  if (!is_known(v)) look(v, stream, path);
  v->at++;
}

/* The rows of clean files, of all ranks. */
static void gather(verification *v) {
  if (smma_rank()) smma_ranks_send(v->clean, v->cleans * sizeof *v->clean);
  for (size_t rank = 1; smma_rank() == 0 && rank < smma_ranks(); rank++) {
    size_t size;
    uint64_t *theirs = smma_ranks_receive(rank, &size);
    if (!theirs) smma_die("out of memory");
    for (size_t n = 0; n < size / sizeof *theirs; n++)
      if (theirs[n]) {
        v->at = n;
        note_clean(v, theirs[n]);
      }
    free(theirs);
  }
  v->at = 0;
  v->surveys = false;
}

static void look(verification *v, FILE *stream, const char *path) {
  if (v->surveys) {
    survey(v, stream, path);
    return;
  }

  smma_error error;
  smma_check_watcher watcher = {v->unit ? ask_unit : NULL, report, collect_right, show_progress, v};
  unsigned long long rows = v->totals.rows;
  if (!smma_check_stream(stream, path, &v->totals, &watcher, &error)) {
    smma_complain("%s", error.text);
    v->failed = true;
    return;
  }
  if (v->totals.rows == rows) smma_note("%s: a header without rows", path);
  v->files++;
}

static void check_path(verification *v, const char *path, bool named_by_user);

static void check_directory(verification *v, const char *path) {
  struct dirent **entries;
  int count = scandir(path, &entries, NULL, alphasort);
  if (count < 0) smma_die("%s: %s", path, strerror(errno));
  for (int i = 0; i < count; i++) {
    char child[4096];
    if (strcmp(entries[i]->d_name, ".") != 0 && strcmp(entries[i]->d_name, "..") != 0) {
      if (snprintf(child, sizeof child, "%s/%s", path, entries[i]->d_name) >= (int)sizeof child)
        smma_die("%s/%s: the path is too long", path, entries[i]->d_name);
      check_path(v, child, false);
    }
    free(entries[i]);
  }
  free(entries);
}

/* Inside directories only files that begin as vector files count, of text those named .txt, and links are not followed.
 */
static bool is_vector_file(FILE *stream, const char *path) {
  return smma_vector_is_binary(stream) || (smma_ends_with(path, ".txt") && smma_vector_is_text(stream));
}

static void check_path(verification *v, const char *path, bool named_by_user) {
  struct stat status;
  FILE *stream;
  if ((named_by_user ? stat : lstat)(path, &status) != 0) smma_die("%s: %s", path, strerror(errno));
  if (S_ISDIR(status.st_mode)) {
    check_directory(v, path);
    return;
  }
  if (!named_by_user && !S_ISREG(status.st_mode)) return;
  stream = fopen(path, "r");
  if (!stream && !named_by_user && !smma_ends_with(path, ".txt")) return;
  if (!stream) smma_die("%s: %s", path, strerror(errno));
  if (named_by_user || is_vector_file(stream, path)) check_stream(v, stream, path);
  fclose(stream);
}

static void print_summary(verification *v) {
  sort_mismatches(v);
  if (v->json) {
    smma_print_json(json_pack("{s:I, s:I, s:I, s:I, s:o, s:o}", "files", (json_int_t)v->files, "rows",
                              (json_int_t)v->totals.rows, "mismatches", (json_int_t)v->totals.mismatches, "nan",
                              (json_int_t)v->totals.nan, "shown", v->mismatches, "classes", classes_json(v)));
  } else {
    if (v->shown > v->most) printf("... and %lld more\n", v->shown - v->most);
    print_classes(v);
    if (v->totals.nan)
      printf("%llu of %llu mismatches differ in the encoding of a NaN only\n", v->totals.nan, v->totals.mismatches);
    printf("rows=%llu mismatches=%llu\n", v->totals.rows, v->totals.mismatches);
  }
}

/* Standard input is the first rank's. */
static void check_paths(verification *v, const char **paths) {
  for (; *paths; paths++)
    if (strcmp(*paths, "-") != 0)
      check_path(v, *paths, true);
    else if (!v->surveys)
      look(v, stdin, "standard input");
}

static void close_verification(verification *v) {
  free_classes(v);
  free(v->clean);
  if (v->unit) smma_unit_close(v->unit);
}

int smma_command_verify(int argc, const char **argv) {
  verification v = {.most = 10};
  const char **paths, *unit_name = NULL;
  int json = 0;
  smma_unit unit;
  smma_error error;
  struct poptOption options[] = {
      {"unit", 'u', POPT_ARG_STRING, &unit_name, 0,
       "what computes the rows: model, model:opencl, x86, cuda ... (see 'softmma units'); model without it", "UNIT"},
      {"show", 0, POPT_ARG_LONGLONG | POPT_ARGFLAG_SHOW_DEFAULT, &v.most, 0, "how many mismatches to print", "N"},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON", NULL},
      POPT_TABLEEND};
  paths = smma_parse_options(
      argc, argv, options, 1, 1 << 20,
      "Directories are searched for binary vector files, and .txt files with the header of one in text;\n"
      "- is standard input. Of a binary file the number behind its name is the row's, from 1.\n"
      "Bits are compared as they are, those of NaN, too; any two NaN are equal where the instruction's rule\n"
      "leaves its NaN open ('softmma show').\n");
  if (v.most < 0) smma_die("--show: %lld is negative", v.most);
  if (unit_name && !smma_unit_open(unit_name, &unit, &error)) smma_die("--unit: %s", error.text);
  if (unit_name) v.unit = &unit;
  v.json = json;
  v.mismatches = json ? json_array() : NULL;
  smma_progress_start(&v.progress, "rows", 1);
  if (smma_ranks() > 1) {
    v.surveys = true;
    check_paths(&v, paths);
    gather(&v);
    if (smma_rank()) {
      json_decref(v.mismatches);
      close_verification(&v);
      return SMMA_EXIT_EQUAL;
    }
  }
  check_paths(&v, paths);
  smma_progress_end();
  if (v.files == 0 && !v.failed)
    smma_die("no vector file found; a vector file is a binary one, or a .txt file with a '# instruction:' line");
  if (v.files)
    print_summary(&v);
  else
    json_decref(v.mismatches);
  close_verification(&v);
  return smma_finish_output(v.failed ? SMMA_EXIT_FAILED : v.totals.mismatches ? SMMA_EXIT_DIFFERENT : SMMA_EXIT_EQUAL);
}
