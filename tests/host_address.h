/* Addresses of memory of the tests' device: the host's with a bit that no address of the host's has, so that nothing
   reads it by mistake. */
#ifndef SOFTMMA_TESTS_HOST_ADDRESS_H
#define SOFTMMA_TESTS_HOST_ADDRESS_H

#include <stdint.h>

#define DEVICE_BIT ((uintptr_t)1 << 62)

static inline void *here(const void *of_device) { return (void *)((uintptr_t)of_device & ~DEVICE_BIT); }
static inline void *there(const void *of_host) { return (void *)((uintptr_t)of_host | DEVICE_BIT); }

#endif
