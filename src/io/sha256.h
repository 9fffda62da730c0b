/* SHA-256 (FIPS 180-4), for digests of compared data. */
#ifndef SMMA_IO_SHA256_H
#define SMMA_IO_SHA256_H

#include <stddef.h>

/* Writes the digest in hexadecimal; returns `text`. */
const char *smma_sha256(const void *bytes, size_t size, char text[65]);

#endif
