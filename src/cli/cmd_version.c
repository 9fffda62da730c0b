/* softmma version: prints the version, the compiler and the optional parts of this build. */
#include "cli/cli.h"
#include "cli/kernel.h"
#include "cluster/ranks.h"
#include "facts/facts.h"

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

static smma_datum *kernel_names(void) {
  smma_datum *names = smma_datum_list();
  const char *name;
  for (size_t i = 0; (name = smma_kernel_name(i)); i++) smma_datum_append(names, smma_datum_text(name));
  return names;
}

static void print_devices(const smma_datum *devices) {
  for (size_t i = 0; i < smma_datum_size(devices); i++) {
    const smma_datum *device = smma_datum_at(devices, i);
    const char *kernel = smma_text_at(device, "kernel"), *why = smma_text_at(device, "why_not");
    if (why)
      printf("%-12s  not available: %s\n", kernel, why);
    else
      printf("%-12s  %s, %.3g GB%s (%s)\n", kernel, smma_text_at(device, "name"),
             smma_datum_real_of(smma_datum_get(device, "memory")) * 1e-9,
             smma_datum_flag_of(smma_datum_get(device, "binary64")) ? "" : ", no FP64: slow",
             smma_text_at(device, "driver"));
  }
}

/* Appends the number of instructions of each architecture that 'list' omits by default. */
static void print_unlisted(void) {
  for (int i = 0; i < SMMA_ARCH_COUNT; i++)
    if (!smma_architectures[i].listed)
      printf(", with the %zu of %s", smma_architectures[i].table->count, smma_architectures[i].name);
}

/* Prints everything as JSON. `mpi` is the name of the MPI library, or NULL. */
static void print_json(const char *mpi) {
  smma_datum *record = smma_datum_record();
  smma_put_text(record, "version", smma_version());
  smma_put_text(record, "compiler", compiler());
  smma_put_flag(record, "openmp", has_openmp());
  smma_put_text(record, "mpi", mpi);
  smma_datum_put(record, "kernels", kernel_names());
  smma_datum_put(record, "devices", smma_devices_datum());
  smma_put_count(record, "instructions", smma_instruction_count());
  smma_put_count(record, "architectures", SMMA_ARCH_COUNT);
  smma_print_datum(record);
}

int smma_command_version(int argc, const char **argv) {
  int json = 0, status;
  char kernels[128];
  const char *mpi;
  smma_datum *devices;
  smma_error why;
  struct poptOption options[] = {{"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON", NULL}, POPT_TABLEEND};
  if (!smma_parse_options(argc, argv, options, 0, 0, NULL, &status)) return status;
  mpi = smma_ranks_library(&why);
  if (json) {
    print_json(mpi);
  } else {
    printf("softmma %s\n", smma_version());
    printf("compiler      %s\n", compiler());
    printf("OpenMP        %s\n", has_openmp() ? "yes" : "no: one thread");
    printf("MPI           %s%s\n", mpi ? mpi : "no: ", mpi ? "" : why.text);
    printf("kernels       %s (of this CPU, fastest first)\n", smma_kernel_list(kernels));
    devices = smma_devices_datum();
    if (!smma_datum_is_complete(devices)) smma_die("out of memory");
    print_devices(devices);
    smma_datum_free(devices);
    printf("instructions  %zu on %d architectures", smma_instruction_count(), SMMA_ARCH_COUNT);
    print_unlisted();
    putchar('\n');
  }
  return smma_finish_output(SMMA_EXIT_EQUAL);
}
