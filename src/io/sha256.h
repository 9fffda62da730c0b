/* SHA-256 (FIPS 180-4), for digests of what was compared. */
#ifndef SMMA_IO_SHA256_H
#define SMMA_IO_SHA256_H

#include <stddef.h>

/* The digest in hexadecimal; returns `text`. */
const char *smma_sha256(const void *bytes, size_t size, char text[65]);

#endif
