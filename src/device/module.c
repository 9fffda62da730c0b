#define _GNU_SOURCE /* for dladdr, which is not in POSIX */
#define _DARWIN_C_SOURCE
#include "device/module.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Stores the folder of the file that contains this code: the library, the command or Python's module. Returns false if
   the folder cannot be found. */
static bool own_folder(char *folder, size_t size) {
  Dl_info info;
  char *slash;
  if (!dladdr((void *)smma_load_driver, &info) || !info.dli_fname) return false;
  snprintf(folder, size, "%s", info.dli_fname);
  if (!strchr(folder, '/')) { /* without a slash it is the program, under the name that the shell searched in PATH */
    const ssize_t length = readlink("/proc/self/exe", folder, size - 1);
    folder[length < 0 ? 0 : length] = 0;
  }
  slash = strrchr(folder, '/');
  if (slash) *slash = 0;
  return slash != NULL;
}

/* Finds softmma-engine-NAME.so in the folder $SOFTMMA_ENGINES if that is set. Otherwise tries the folder of the file
   that contains this code, its subfolder softmma, then SMMA_ENGINE_FOLDER relative to that folder and to its parent. */
static bool find_module(const char *name, char *path, size_t size) {
  static const char *const places[] = {".", "softmma", SMMA_ENGINE_FOLDER, ("../" SMMA_ENGINE_FOLDER)};
  const char *folder = getenv("SOFTMMA_ENGINES");
  char own[1024];
  if (folder) {
    snprintf(path, size, "%s/softmma-engine-%s.so", folder, name);
    return access(path, R_OK) == 0;
  }
  for (size_t i = 0; i < sizeof places / sizeof *places && own_folder(own, sizeof own); i++) {
    snprintf(path, size, "%s/%s/softmma-engine-%s.so", own, places[i], name);
    if (access(path, R_OK) == 0) return true;
  }
  return false;
}

const smma_driver *smma_load_driver(const char *name, char message[SMMA_DEVICE_MESSAGE]) {
  char path[2048];
  void *module;
  union {
    void *symbol;
    smma_driver_getter *get;
  } found;
  if (!find_module(name, path, sizeof path)) {
    snprintf(message, SMMA_DEVICE_MESSAGE, "softmma-engine-%s.so is not there; SOFTMMA_ENGINES can name its folder",
             name);
    return NULL;
  }
  module = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  found.symbol = module ? dlsym(module, "smma_driver_of_module") : NULL;
  if (!found.symbol) {
    snprintf(message, SMMA_DEVICE_MESSAGE, "%s", dlerror());
    return NULL;
  }
  if (found.get()->abi == SMMA_DRIVER_ABI) return found.get();
  snprintf(message, SMMA_DEVICE_MESSAGE, "softmma-engine-%s.so is of another version of SoftMMA", name);
  return NULL;
}
