#include "cli/choose.h"

static const char *compiler(void) {
#if defined(__clang__)
  return "clang " __clang_version__;
#elif defined(__GNUC__)
  return "gcc " __VERSION__;
#else
  return "unknown";
#endif
}

static bool has_openmp(void) {
#ifdef _OPENMP
  return true;
#else
  return false;
#endif
}

static json_t *kernel_names(void) {
  json_t *names = json_array();
  const char *name;
  for (size_t i = 0; (name = smma_kernel_name(i)); i++) json_array_append_new(names, json_string(name));
  return names;
}

/* Of which architectures 'list' shows nothing unless asked. */
static void print_unlisted(void) {
  for (int i = 0; i < SMMA_ARCH_COUNT; i++)
    if (!smma_architectures[i].listed)
      printf(", with the %zu of %s", smma_architectures[i].table->count, smma_architectures[i].name);
}

int smma_command_version(int argc, const char **argv) {
  int json = 0;
  char kernels[128];
  struct poptOption options[] = {{"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON", NULL}, POPT_TABLEEND};
  smma_parse_options(argc, argv, options, 0, 0, NULL);
  if (json) {
    smma_print_json(json_pack("{s:s, s:s, s:b, s:o, s:s, s:I, s:i}", "version", smma_version(), "compiler", compiler(),
                              "openmp", has_openmp(), "kernels", kernel_names(), "jansson", JANSSON_VERSION,
                              "instructions", (json_int_t)smma_instruction_count(), "architectures", SMMA_ARCH_COUNT));
  } else {
    printf("softmma %s\n", smma_version());
    printf("compiler      %s\n", compiler());
    printf("OpenMP        %s\n", has_openmp() ? "yes" : "no: one thread");
    printf("kernels       %s (of this CPU, fastest first)\n", smma_kernel_list(kernels));
    printf("jansson       %s\n", JANSSON_VERSION);
    printf("instructions  %zu on %d architectures", smma_instruction_count(), SMMA_ARCH_COUNT);
    print_unlisted();
    putchar('\n');
  }
  return smma_finish_output(SMMA_EXIT_EQUAL);
}
