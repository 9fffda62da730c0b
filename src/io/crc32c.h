/* CRC-32C (Castagnoli; RFC 3720, B.4), which detects every error burst of up to 32 bits. */
#ifndef SMMA_IO_CRC32C_H
#define SMMA_IO_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Returns the checksum of some earlier bytes followed by these bytes. `before` is the checksum of the earlier bytes, or
   0 at the start. */
uint32_t smma_crc32c(uint32_t before, const void *bytes, size_t size);

/* Computes the checksums of four consecutive pieces of `size` bytes each. On a CPU with a CRC instruction this takes
   the time of one piece. */
void smma_crc32c_of_four(const void *bytes, size_t size, uint32_t checksum[4]);

#endif
