/* softmma version: prints the version, the compiler and the optional parts of this build. */
#include <unistd.h>

#include "cli/cli.h"
#include "cli/kernel.h"
#include "cluster/ranks.h"
#include "device/device.h"
#include "softmma/device.h"
#include "unit/child.h"

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

/* Called for each device. If a driver has no device, `info` is NULL and `why` says why. */
typedef void device_action(const char *kernel, const smma_device_info *info, const char *why, void *context);

static void for_devices_of(const char *driver, device_action *act, void *context) {
  char why[SMMA_DEVICE_MESSAGE] = "", kernel[64];
  smma_error error;
  smma_device_info info;
  const size_t count = smma_device_count(driver, why);
  if (!count) act(driver, NULL, why, context);
  for (size_t i = 0; i < count; i++) {
    const bool usable = smma_device_describe(driver, i, &info, sizeof info, &error) == SMMA_OK;
    snprintf(kernel, sizeof kernel, "%s:%zu", driver, i);
    act(kernel, usable ? &info : NULL, error.text, context);
  }
}

static void ignore_device(const char *kernel, const smma_device_info *info, const char *why, void *context) {
  (void)kernel, (void)info, (void)why, (void)context;
}

/* Tests in a child process whether a driver can list its devices. A vendor's libraries may end the process that calls
   them (PoCL does if there is no /sys), or hang. Returns true if no child process can be started. */
static bool can_list_devices(const char *driver, char why[SMMA_DEVICE_MESSAGE]) {
  const double timeout_seconds = 60;
  char end[128];
  int status = 0;
  bool has_exited;
  const pid_t child = smma_child_start();
  if (!child) {
    for_devices_of(driver, ignore_device, NULL);
    _exit(0);
  }
  if (child < 0) return true;
  has_exited = smma_child_end(child, timeout_seconds, &status);
  if (has_exited && status == 0) return true;
  smma_child_end_text(status, end, sizeof end);
  if (has_exited)
    snprintf(why, SMMA_DEVICE_MESSAGE, "a process that searched its libraries for devices %s", end);
  else
    snprintf(why, SMMA_DEVICE_MESSAGE, "its libraries have not answered for %g seconds", timeout_seconds);
  return false;
}

static void for_devices(device_action *act, void *context) {
  for (size_t d = 0; smma_drivers[d]; d++) {
    char why[SMMA_DEVICE_MESSAGE];
    if (can_list_devices(smma_drivers[d], why))
      for_devices_of(smma_drivers[d], act, context);
    else
      act(smma_drivers[d], NULL, why, context);
  }
}

static void add_device(const char *kernel, const smma_device_info *info, const char *why, void *list) {
  smma_datum *record = smma_datum_record();
  smma_put_text(record, "kernel", kernel);
  if (info) {
    smma_put_text(record, "name", info->name);
    smma_put_text(record, "driver", info->driver);
    smma_put_count(record, "memory", info->memory);
    smma_put_flag(record, "binary64", info->has_f64);
  } else {
    smma_put_text(record, "why_not", why);
  }
  smma_datum_append(list, record);
}

static void print_device(const char *kernel, const smma_device_info *info, const char *why, void *context) {
  (void)context;
  if (info)
    printf("%-12s  %s, %.3g GB%s (%s)\n", kernel, info->name, (double)info->memory * 1e-9,
           info->has_f64 ? "" : ", no FP64: slow", info->driver);
  else
    printf("%-12s  not available: %s\n", kernel, why);
}

/* Appends the number of instructions of each architecture that 'list' omits by default. */
static void print_unlisted(void) {
  for (int i = 0; i < SMMA_ARCH_COUNT; i++)
    if (!smma_architectures[i].listed)
      printf(", with the %zu of %s", smma_architectures[i].table->count, smma_architectures[i].name);
}

/* Prints everything as JSON. `mpi` is the name of the MPI library, or NULL. */
static void print_json(const char *mpi) {
  smma_datum *record = smma_datum_record(), *devices = smma_datum_list();
  for_devices(add_device, devices);
  smma_put_text(record, "version", smma_version());
  smma_put_text(record, "compiler", compiler());
  smma_put_flag(record, "openmp", has_openmp());
  smma_put_text(record, "mpi", mpi);
  smma_datum_put(record, "kernels", kernel_names());
  smma_datum_put(record, "devices", devices);
  smma_put_count(record, "instructions", smma_instruction_count());
  smma_put_count(record, "architectures", SMMA_ARCH_COUNT);
  smma_print_datum(record);
}

int smma_command_version(int argc, const char **argv) {
  int json = 0, status;
  char kernels[128];
  const char *mpi;
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
    for_devices(print_device, NULL);
    printf("instructions  %zu on %d architectures", smma_instruction_count(), SMMA_ARCH_COUNT);
    print_unlisted();
    putchar('\n');
  }
  return smma_finish_output(SMMA_EXIT_EQUAL);
}
