/* Addresses in the memory of the tests' device: host addresses with a bit that no host address has, so that an
   accidental access on the host fails. */
#ifndef SOFTMMA_TESTS_HOST_ADDRESS_H
#define SOFTMMA_TESTS_HOST_ADDRESS_H

#include <stdint.h>

#define DEVICE_BIT ((uintptr_t)1 << 62)

static inline void *here(const void *of_device) { return (void *)((uintptr_t)of_device & ~DEVICE_BIT); }
static inline void *there(const void *of_host) { return (void *)((uintptr_t)of_host | DEVICE_BIT); }

#endif
