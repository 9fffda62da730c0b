#include "reply.h"

#include <stdlib.h>

FILE *site_begin(site_reply *r) {
  free(r->text);
  *r = (site_reply){NULL, NULL, 0};
  r->stream = open_memstream(&r->text, &r->size);
  if (!r->stream) abort();
  return r->stream;
}

const char *site_end(site_reply *r) {
  if (fclose(r->stream) != 0) abort();
  return r->text;
}

const char *site_reply_of(site_reply *r, smma_datum *data) {
  if (!smma_datum_is_complete(data)) abort();
  smma_datum_write(data, site_begin(r), SMMA_JSON_COMPACT);
  smma_datum_free(data);
  return site_end(r);
}
