/* Options that users try although another option or command does this, or the command does it anyway. */
#ifndef SMMA_CLI_ADVICE_H
#define SMMA_CLI_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

/* Reports whether `words`, which are separated by spaces, contain the word. */
bool smma_has_word(const char *words, const char *word);

/* Returns a sentence that says why a flag has no effect, because the command does this anyway; or NULL. */
const char *smma_why_needless(const char *command, const char *option);

/* Returns the next advice for an option of a command, from entry `*at` of the table on: the name of the right option,
   which the command may lack, or a text with spaces that says what to do. Sets `*at` to the entry after it. Returns
   NULL if there is none. */
const char *smma_advice(const char *command, const char *option, size_t *at);

#endif
