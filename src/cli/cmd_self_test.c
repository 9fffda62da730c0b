#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"
#include "selftest/self_test.h"

enum { MOST_SHOWN = 20 };

typedef struct {
  size_t told;
  json_t *lines; /* NULL: they are printed */
} differences;

static void tell(const char *line, void *context) {
  differences *d = context;
  if (d->lines)
    json_array_append_new(d->lines, smma_json_text(line));
  else if (d->told < MOST_SHOWN)
    printf("%s\n", line);
  d->told++;
}

static json_t *result_json(const smma_self_test *result, json_t *lines) {
  json_t *kernels = json_array();
  for (size_t k = 0; k < result->kernels; k++) json_array_append_new(kernels, json_string(result->kernel[k]));
  return json_pack("{s:o, s:I, s:I, s:I, s:I, s:o}", "kernels", kernels, "operations", (json_int_t)result->operations,
                   "outputs", (json_int_t)result->outputs, "recordings", (json_int_t)result->recordings, "rows",
                   (json_int_t)result->rows, "differences", lines);
}

/* Prints a line for each operation of the catalogue, named by its first instruction. */
static void print_digests(void) {
  for (size_t i = 0; i < smma_catalogue_count(); i++) {
    const smma_instruction *x = smma_catalogue_at(i);
    unsigned long long outputs = 0;
    uint64_t digest;
    size_t same = 0;
    while (!smma_same_operation(smma_catalogue_at(same), x)) same++;
    if (same < i) continue;
    if (!smma_self_test_compute(x, "core", &digest, &outputs)) smma_die("no memory");
    printf("SMMA_DIGEST(\"%s\", \"%s\", 0x%016" PRIx64 ")\n", smma_architectures[x->arch].name, x->name, digest);
  }
}

int smma_command_self_test(int argc, const char **argv) {
  int json = 0, digests = 0;
  differences told = {0, NULL};
  smma_self_test result;
  smma_error error;
  char text[512];
  struct poptOption options[] = {
      {"digests", 0, POPT_ARG_NONE, &digests, 0, "print the digests that the core computes, and compare nothing", NULL},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON", NULL},
      POPT_TABLEEND};
  smma_parse_options(argc, argv, options, 0, 0,
                     "Every kernel of this CPU computes products of every operation, whose digests are compared with\n"
                     "those of the core, and rows that GPUs and CPUs have returned. Both are compiled in.\n");
  if (digests && json) smma_die("--digests and --json: --digests prints text; give one of them");
  if (digests) {
    print_digests();
    return smma_finish_output(SMMA_EXIT_EQUAL);
  }
  if (json) told.lines = json_array();
  if (!smma_self_test_run(&smma_self_test_shipped, tell, &told, &result, &error)) smma_die("%s", error.text);
  smma_self_test_text(&result, text, sizeof text);
  if (json) {
    smma_print_json(result_json(&result, told.lines));
  } else {
    if (told.told > MOST_SHOWN) printf("... and %zu more\n", told.told - MOST_SHOWN);
    printf("%s\n", text);
  }
  return smma_finish_output(result.differences ? SMMA_EXIT_DIFFERENT : SMMA_EXIT_EQUAL);
}
