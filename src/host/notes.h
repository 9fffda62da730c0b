/* Notes: lines of text that inform the user and need no action. */
#ifndef SMMA_HOST_NOTES_H
#define SMMA_HOST_NOTES_H

/* The receiver of notes. If `say` is NULL, notes are dropped. */
typedef struct {
  void (*say)(const char *text, void *context);
  void *context;
} smma_notes;

/* Formats a note as printf does, and gives it to the receiver, which may be NULL. */
void smma_say(const smma_notes *notes, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
