/* Functions of a client of the single header that the test calls. The client is compiled as C11 and as C++17, in a
   folder with only this file and the header. */
#ifndef SOFTMMA_TESTS_SINGLE_HEADER_CLIENT_H
#define SOFTMMA_TESTS_SINGLE_HEADER_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An instruction as the client and the library describe it; formats are their numbers. */
typedef struct {
  char arch[32], rule[64], name[64];
  int m, n, k, a, b, c, d, scale, scale_block, sparse_group;
} described;

/* The result of the client's search, a status of smma_core_find. */
enum { CLIENT_FOUND, CLIENT_UNKNOWN_GPU, CLIENT_UNKNOWN_NAME, CLIENT_AMBIGUOUS };

typedef struct {
  const char *language;
  const char *version;
  int (*find)(const char *gpu, const char *name, described *found);
  bool (*at)(size_t index, described *found);
  /* Computes instruction number `index`. */
  uint64_t (*dot)(size_t index, const uint64_t *a, const uint64_t *b, uint64_t c, const uint64_t *scale_a,
                  const uint64_t *scale_b);
  bool (*same)(size_t index, uint64_t d, uint64_t other);
  const char *(*arch_of)(const char *gpu); /* NULL for an unknown GPU */
  const char *(*format_name)(int format);
  int (*format_bits)(int format);
  double (*value)(int format, uint64_t encoding);
  uint64_t (*encode)(int format, double value, int rounding, int overflow);
  uint64_t (*convert)(int from, uint64_t encoding, int to, int rounding, int overflow);
} client;

#ifdef __cplusplus
extern "C" const client client_in_cpp;
#else
extern const client client_in_c;
#endif

#endif
