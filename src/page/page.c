#include "page/page.h"

#include <stdlib.h>
#include <string.h>

static const char template[] = {
#include "page.inc"
};

static const char marker[] = "@DATA@";

void smma_page_add(smma_datum *parts, const char *kind, smma_datum *content) {
  smma_datum *part = smma_datum_record();
  smma_datum_put(part, kind, content);
  smma_datum_append(parts, part);
}

/* Writes JSON for use inside an HTML element. '<' occurs only in JSON texts, where its escape has the same meaning. */
static void put_json(FILE *stream, const char *json) {
  for (; *json; json++)
    if (*json == '<')
      fputs("\\u003c", stream);
    else
      fputc(*json, stream);
}

bool smma_page_write(FILE *stream, const smma_datum *parts) {
  const char *place = strstr(template, marker);
  char *json = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&json, &size);
  bool made = memory && smma_datum_is_complete(parts) && smma_datum_write(parts, memory, SMMA_JSON_COMPACT);
  if (memory && fclose(memory) != 0) made = false;
  if (made) {
    fwrite(template, 1, (size_t)(place - template), stream);
    put_json(stream, json);
    fputs(place + sizeof marker - 1, stream);
  }
  free(json);
  return made && !ferror(stream);
}
