#include <unistd.h>

#include "cli/choose.h"
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

static json_t *kernel_names(void) {
  json_t *names = json_array();
  const char *name;
  for (size_t i = 0; (name = smma_kernel_name(i)); i++) json_array_append_new(names, json_string(name));
  return names;
}

/* What is done with a device, or instead of one with the reason why there is none. */
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

/* A vendor's libraries may end the process that asks them for devices (PoCL does where there is no /sys), or hang: a
   child asks first. */
static bool can_be_asked(const char *driver, char why[SMMA_DEVICE_MESSAGE]) {
  const double patience = 60;
  char end[128];
  int status = 0;
  bool by_itself;
  const pid_t child = smma_child_start();
  if (!child) {
    for_devices_of(driver, ignore_device, NULL);
    _exit(0);
  }
  if (child < 0) return true;
  by_itself = smma_child_end(child, patience, &status);
  if (by_itself && status == 0) return true;
  smma_child_end_text(status, end, sizeof end);
  if (by_itself)
    snprintf(why, SMMA_DEVICE_MESSAGE, "a process that asked its libraries for devices %s", end);
  else
    snprintf(why, SMMA_DEVICE_MESSAGE, "its libraries have not answered for %g seconds", patience);
  return false;
}

static void for_devices(device_action *act, void *context) {
  for (size_t d = 0; smma_drivers[d]; d++) {
    char why[SMMA_DEVICE_MESSAGE];
    if (can_be_asked(smma_drivers[d], why))
      for_devices_of(smma_drivers[d], act, context);
    else
      act(smma_drivers[d], NULL, why, context);
  }
}

static void add_device(const char *kernel, const smma_device_info *info, const char *why, void *context) {
  json_array_append_new(context, info ? json_pack("{s:s, s:o, s:o, s:I, s:b}", "kernel", kernel, "name",
                                                  smma_json_text(info->name), "driver", smma_json_text(info->driver),
                                                  "memory", (json_int_t)info->memory, "binary64", info->has_f64)
                                      : json_pack("{s:s, s:o}", "kernel", kernel, "why_not", smma_json_text(why)));
}

static void print_device(const char *kernel, const smma_device_info *info, const char *why, void *context) {
  (void)context;
  if (info)
    printf("%-12s  %s, %.3g GB%s (%s)\n", kernel, info->name, (double)info->memory * 1e-9,
           info->has_f64 ? "" : ", no FP64: slow", info->driver);
  else
    printf("%-12s  not to be had: %s\n", kernel, why);
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
  const char *mpi;
  smma_error why;
  struct poptOption options[] = {{"json", 0, POPT_ARG_NONE, &json, 0, "print as JSON", NULL}, POPT_TABLEEND};
  smma_parse_options(argc, argv, options, 0, 0, NULL);
  mpi = smma_ranks_library(&why);
  if (json) {
    json_t *devices = json_array();
    for_devices(add_device, devices);
    smma_print_json(json_pack("{s:s, s:s, s:b, s:o, s:o, s:o, s:s, s:I, s:i}", "version", smma_version(), "compiler",
                              compiler(), "openmp", has_openmp(), "mpi", mpi ? smma_json_text(mpi) : json_null(),
                              "kernels", kernel_names(), "devices", devices, "jansson", JANSSON_VERSION, "instructions",
                              (json_int_t)smma_instruction_count(), "architectures", SMMA_ARCH_COUNT));
  } else {
    printf("softmma %s\n", smma_version());
    printf("compiler      %s\n", compiler());
    printf("OpenMP        %s\n", has_openmp() ? "yes" : "no: one thread");
    printf("MPI           %s%s\n", mpi ? mpi : "no: ", mpi ? "" : why.text);
    printf("kernels       %s (of this CPU, fastest first)\n", smma_kernel_list(kernels));
    for_devices(print_device, NULL);
    printf("jansson       %s\n", JANSSON_VERSION);
    printf("instructions  %zu on %d architectures", smma_instruction_count(), SMMA_ARCH_COUNT);
    print_unlisted();
    putchar('\n');
  }
  return smma_finish_output(SMMA_EXIT_EQUAL);
}
