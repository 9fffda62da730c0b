#include "cli/shard.h"

#include <string.h>

#include "cli/cli.h"
#include "report/report.h"

void smma_read_shard(const char *text, uint64_t *index, uint64_t *count) {
  unsigned long long i, n;
  char end;
  if (strspn(text, "0123456789/") != strlen(text) || sscanf(text, "%llu/%llu%c", &i, &n, &end) != 2 || i < 1 || i > n ||
      n > SMMA_MOST_SHARDS)
    smma_die("--shard: '%s' is not I/N, part I of N, from 1 to at most %d; for example 1/4", text, SMMA_MOST_SHARDS);
  *index = i - 1, *count = n;
}
