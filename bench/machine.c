#ifdef __linux__
#define _GNU_SOURCE /* sched_setaffinity */
#endif
#include "bench/machine.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *smma_cpu_model(char text[128]) {
  FILE *file = fopen("/proc/cpuinfo", "r");
  char line[512];
  snprintf(text, 128, "unknown CPU");
  while (file && fgets(line, sizeof line, file)) {
    if (strncmp(line, "model name", 10) != 0 || sscanf(line, "%*[^:]: %127[^\n]", text) != 1) continue;
    break;
  }
  if (file) fclose(file);
  return text;
}

#ifdef __linux__

int smma_processor_count(void) {
  cpu_set_t usable;
  return sched_getaffinity(0, sizeof usable, &usable) == 0 ? CPU_COUNT(&usable) : (int)sysconf(_SC_NPROCESSORS_ONLN);
}

void smma_keep_to_processors(int count) {
  cpu_set_t usable, kept;
  CPU_ZERO(&kept);
  if (sched_getaffinity(0, sizeof usable, &usable) != 0) return;
  for (int p = CPU_SETSIZE - 1; p >= 0 && count > 0; p--) {
    if (!CPU_ISSET(p, &usable)) continue;
    CPU_SET(p, &kept);
    count--;
  }
  sched_setaffinity(0, sizeof kept, &kept);
}

#else

int smma_processor_count(void) { return (int)sysconf(_SC_NPROCESSORS_ONLN); }

void smma_keep_to_processors(int count) { (void)count; }

#endif
