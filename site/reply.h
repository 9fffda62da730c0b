/* Texts that the functions of the modules return: JSON, or lines. */
#ifndef SMMA_SITE_REPLY_H
#define SMMA_SITE_REPLY_H

#include <stdio.h>

#include "datum/datum.h"

/* A text that stays valid until the next begin. */
typedef struct {
  FILE *stream;
  char *text;
  size_t size;
} site_reply;

/* site_begin returns the stream to write the text to. site_end returns the text. Both abort without memory, because a
   page cannot continue then. */
FILE *site_begin(site_reply *reply);
const char *site_end(site_reply *reply);

/* Returns data as JSON, and releases the data. */
const char *site_reply_of(site_reply *reply, smma_datum *data);

#endif
