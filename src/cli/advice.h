/* Options that users try although another option or command does this, or the command does it anyway. */
#ifndef SMMA_CLI_ADVICE_H
#define SMMA_CLI_ADVICE_H

#include <stdbool.h>
#include <stddef.h>

/* Reports whether `words`, which are separated by spaces, contain the word. */
bool smma_has_word(const char *words, const char *word);

/* Another name of an option: it stands for the option, if the command has it and has no option of the synonym's name.
 */
typedef struct {
  const char *name, *option;
} smma_synonym;

enum { SMMA_SYNONYMS = 70 };
extern const smma_synonym smma_synonyms[SMMA_SYNONYMS];

/* Reports whether an option has an advice in this command alone, or has no effect; then it is no synonym. */
bool smma_has_advice(const char *command, const char *option);

/* Returns a sentence that says why a flag has no effect, because the command does this anyway; or NULL. */
const char *smma_why_needless(const char *command, const char *option);

/* Returns such a sentence for the next option with a value, from number `*at` of the command's on, and writes the
   option's name. Adds 1 to `*at`. Returns NULL after the last one. */
const char *smma_needless_with_value(const char *command, size_t *at, char name[64]);

/* Returns the next advice for an option of a command, from entry `*at` of the table on: the name of the right option,
   which the command may lack, or a text with spaces that says what to do. Sets `*at` to the entry after it. Returns
   NULL if there is none. */
const char *smma_advice(const char *command, const char *option, size_t *at);

#endif
