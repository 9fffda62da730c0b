/* softmma self-test: compares digests of this build's results with the stored digests. */
#include <inttypes.h>

#include "cli/cli.h"
#include "selftest/self_test.h"

enum { MOST_SHOWN = 20 };

static void print_text(const smma_self_test *result) {
  const size_t lines = smma_datum_size(result->lines);
  char text[512];
  for (size_t n = 0; n < lines && n < MOST_SHOWN; n++)
    printf("%s\n", smma_datum_text_of(smma_datum_at(result->lines, n)));
  if (lines > MOST_SHOWN) printf("... and %zu more\n", lines - MOST_SHOWN);
  smma_self_test_text(result, text, sizeof text);
  printf("%s\n", text);
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
  int json = 0, digests = 0, status;
  smma_self_test result;
  smma_error error;
  struct poptOption options[] = {
      {"digests", 0, POPT_ARG_NONE, &digests, 0, "print the digests that the core computes, and compare nothing", NULL},
      {"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON", NULL},
      POPT_TABLEEND};
  if (!smma_parse_options(
          argc, argv, options, 0, 0,
          "Every kernel for this CPU computes products of every operation, and their digests are compared with\n"
          "the core's digests. Recorded test vectors of GPUs and CPUs are checked, too. The build contains the\n"
          "core's digests and the test vectors.\n",
          &status))
    return status;
  if (digests) smma_require(smma_check_options("--digests", "digests", &error), &error);
  if (digests) {
    print_digests();
    return smma_finish_output(SMMA_EXIT_EQUAL);
  }
  smma_require(smma_self_test_run(&smma_self_test_shipped, &result, &error), &error);
  if (json)
    smma_print_datum(smma_self_test_datum(&result));
  else
    print_text(&result);
  smma_self_test_free(&result);
  return smma_finish_output(result.differences ? SMMA_EXIT_DIFFERENT : SMMA_EXIT_EQUAL);
}
