/* CRC-32C (Castagnoli; RFC 3720, B.4), which notices any change of up to 32 bits in a row. */
#ifndef SMMA_IO_CRC32C_H
#define SMMA_IO_CRC32C_H

#include <stddef.h>
#include <stdint.h>

/* Of bytes behind those whose checksum is `before`; 0 where there are none. */
uint32_t smma_crc32c(uint32_t before, const void *bytes, size_t size);

/* Of four pieces of so many bytes, one behind the other: in the time of one where the CPU has an instruction for it. */
void smma_crc32c_of_four(const void *bytes, size_t size, uint32_t checksum[4]);

#endif
