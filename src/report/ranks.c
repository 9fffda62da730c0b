#include "report/ranks.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/crc32c.h"

/* ---- State files ---- */

char *smma_report_state_of(const char *state, size_t rank, size_t ranks) {
  const size_t size = strlen(state) + 64;
  char *name = malloc(size);
  if (name) snprintf(name, size, "%s.shard-%zu-of-%zu", state, rank + 1, ranks);
  return name;
}

/* Reads a number above 0. Returns the text after it, or NULL if there is no number. */
static const char *skip_number(const char *text, unsigned long *number) {
  char *end;
  if (!text || *text < '1' || *text > '9') return NULL;
  *number = strtoul(text, &end, 10);
  return end;
}

static const char *skip_text(const char *text, const char *expected) {
  const size_t length = strlen(expected);
  return text && strncmp(text, expected, length) == 0 ? text + length : NULL;
}

/* Parses the name of a rank's state file, FILE.shard-I-of-N, where `base` is the name of FILE. Returns the text after
   it and sets `*ranks` to N; returns NULL if the name does not have this form. */
static const char *skip_shard_name(const char *name, const char *base, unsigned long *ranks) {
  unsigned long rank;
  const char *at = skip_number(skip_text(skip_text(name, base), ".shard-"), &rank);
  return skip_number(skip_text(at, "-of-"), ranks);
}

/* Reports whether `at` is the ending that smma_output_open gives to an unfinished file: ".PID-ATTEMPT.tmp". */
static bool ends_temporary(const char *at) {
  unsigned long number;
  at = skip_text(skip_number(skip_text(at, "."), &number), "-");
  return at && at[0] && strcmp(at + strspn(at, "0123456789"), ".tmp") == 0;
}

/* Checks one file of the folder. Removes it if it is an unfinished state of an earlier run, and fails if it is the
   state of a run with another number of ranks. `folder` ends with a slash or is empty. */
static bool check_state(const char *folder, const char *name, const char *base, size_t ranks, smma_error *error) {
  unsigned long of;
  const char *end = skip_shard_name(name, base, &of);
  const size_t size = strlen(folder) + strlen(name) + 1;
  bool good = true;
  char *path;
  if (!end || (*end && !ends_temporary(end))) return true;
  path = malloc(size);
  if (!path) return smma_no_memory(error);
  snprintf(path, size, "%s%s", folder, name);
  if (*end) unlink(path);
  if (!*end && of != ranks)
    good =
        smma_fail(error, "--resume: %s is there, of another number of ranks; go on with as many, or remove it", path);
  free(path);
  return good;
}

bool smma_report_check_states(const char *state, size_t ranks, smma_error *error) {
  const char *slash = strrchr(state, '/'), *base = slash ? slash + 1 : state;
  char *folder = strndup(state, slash ? (size_t)(slash - state) + 1 : 0);
  DIR *entries = folder ? opendir(*folder ? folder : "./") : NULL;
  const struct dirent *entry;
  bool good = folder || smma_no_memory(error);
  while (good && entries && (entry = readdir(entries))) good = check_state(folder, entry->d_name, base, ranks, error);
  if (entries) closedir(entries);
  free(folder);
  return good;
}

/* ---- The same campaign ---- */

/* Fails if rank 0 has another value for the option `what`. */
static bool check_same(const smma_group *group, const char *what, const char *own, smma_error *error) {
  char first[512] = "", here[512] = "";
  snprintf(here, sizeof here, "%s", own);
  memcpy(first, here, sizeof first);
  group->share(first, sizeof first);
  return strcmp(first, here) == 0 ||
         smma_fail(error, "%s: %s here, and %s at rank 0; start all ranks with the same arguments", what,
                   *here ? here : "none", *first ? first : "none");
}

static bool check_campaign(const smma_report *r, const char *state, const smma_group *group, smma_error *error) {
  const smma_campaign *c = r->campaign;
  char seed[64], rows[64], list[64];
  uint32_t names = 0;
  snprintf(seed, sizeof seed, "%lld", (long long)c->recipe.seed);
  snprintf(rows, sizeof rows, "%llu", (unsigned long long)c->rows);
  for (size_t i = 0; i < r->count; i++) {
    const smma_instruction *x = r->results[i].instruction;
    const char *arch = smma_arch_name(x), *name = x->name;
    names = smma_crc32c(smma_crc32c(names, arch, strlen(arch) + 1), name, strlen(name) + 1);
  }
  snprintf(list, sizeof list, "%zu instructions, checksum %08x", r->count, (unsigned)names);
  return check_same(group, "--unit", c->unit->name, error) && check_same(group, "--against", c->against->name, error) &&
         check_same(group, "--seed", seed, error) &&
         check_same(group, "--kind", c->recipe.covers ? "default" : smma_row_kind_text(c->recipe.kind), error) &&
         check_same(group, "--rows", rows, error) && check_same(group, "--resume", state ? state : "", error) &&
         check_same(group, "--on and --instr", list, error);
}

/* Fails unless the units have the device, driver, toolkit, file and size of a batch of those of rank 0. */
static bool check_alike(const smma_campaign *c, const smma_group *group, smma_error *error) {
  const struct {
    const smma_unit *unit;
    const char *option;
  } units[] = {{c->unit, "--unit"}, {c->against, "--against"}};
  uint64_t part = smma_campaign_part(c);
  group->share(&part, sizeof part);
  for (int i = 0; i < 2; i++) {
    const smma_unit_description *own = &units[i].unit->description;
    smma_unit first = *units[i].unit;
    const char *difference;
    group->share(&first.description, sizeof first.description);
    group->share(first.crc32c, sizeof first.crc32c);
    difference = smma_unit_changed(&first, units[i].unit);
    if (difference && strcmp(difference, "file") == 0)
      return smma_fail(error, "%s: the file of %s is another here than at rank 0; give all ranks the same file",
                       units[i].option, units[i].unit->name);
    if (difference || part != smma_campaign_part(c))
      return smma_fail(error,
                       "%s: %s is %s (%s) here, and %s (%s) at rank 0; run a campaign on machines that are alike",
                       units[i].option, units[i].unit->name, own->device, own->driver, first.description.device,
                       first.description.driver);
  }
  return true;
}

bool smma_report_check_ranks(const smma_report *r, const char *state, const smma_group *group, smma_error *error) {
  return check_campaign(r, state, group, error) && check_alike(r->campaign, group, error);
}

/* ---- Merging ---- */

static bool send_report(const smma_report *r, const smma_group *group, smma_error *error) {
  smma_datum *data = smma_report_datum(r);
  char *text = NULL;
  size_t size;
  FILE *stream = smma_datum_is_complete(data) ? open_memstream(&text, &size) : NULL;
  const bool written = stream && smma_datum_write(data, stream, SMMA_JSON_COMPACT);
  const bool done = stream && fclose(stream) == 0 && written;
  if (done) group->send(text, size);
  free(text);
  smma_datum_free(data);
  return done || smma_no_memory(error);
}

/* Receives the report of a rank and adds it to `whole`, which is like `own`. */
static bool add_report(const smma_report *own, size_t rank, const smma_group *group, smma_report *whole,
                       smma_error *error) {
  smma_report part = {0};
  char name[32];
  size_t size;
  char *text = group->receive(rank, &size);
  smma_datum *data;
  bool done;
  snprintf(name, sizeof name, "rank %zu", rank);
  if (!text) smma_no_memory(error);
  data = text ? smma_datum_read(name, text, size, error) : NULL;
  done = data && smma_report_start_like(&part, whole, error);
  part.shard = own->shard;
  part.shard.index = rank;
  done = done && smma_report_take(&part, data, name, error) && smma_report_add(whole, &part, error);
  smma_report_free(&part);
  smma_datum_free(data);
  free(text);
  return done;
}

bool smma_report_gather(smma_report *r, const smma_group *group, smma_error *error) {
  smma_report whole = {0};
  bool done;
  if (group->rank) return send_report(r, group, error);
  done = smma_report_start_like(&whole, r, error) && smma_report_add(&whole, r, error);
  for (size_t rank = 1; done && rank < group->ranks; rank++) done = add_report(r, rank, group, &whole, error);
  if (!done) return smma_report_free(&whole), false;
  smma_report_free(r);
  *r = whole;
  r->complete = true;
  smma_report_settle(r);
  return true;
}
