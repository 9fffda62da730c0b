/* Finds the command that the first words of a command line name. A command can also be called by an alias or by a
   former name. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"

const smma_command smma_commands[] = {
#define SMMA_COMMAND(name, arguments, summary, examples) {#name, arguments, summary, examples, smma_command_##name},
#define SMMA_COMMAND_OF_TWO(one, two, arguments, summary, examples) \
  {#one "-" #two, arguments, summary, examples, smma_command_##one##_##two},
#define SMMA_COMMAND_IN(word, name, arguments, summary, examples) \
  {#word " " #name, arguments, summary, examples, smma_command_##name},
#include "cli/commands.h"
};
const size_t smma_command_count = sizeof smma_commands / sizeof smma_commands[0];

const smma_command_name smma_command_names[] = {
#define SMMA_COMMAND_ALIAS(name, line) {#name, line, false},
#define SMMA_COMMAND_FORMER(name, line) {#name, line, true},
#include "cli/commands.h"
};
const size_t smma_command_name_count = sizeof smma_command_names / sizeof smma_command_names[0];

const smma_command *smma_find_command(const char *name) {
  for (size_t i = 0; i < smma_command_count; i++)
    if (strcmp(name, smma_commands[i].name) == 0) return &smma_commands[i];
  return NULL;
}

/* ---- Command lines: argv[1] becomes the full name of a command ---- */

/* The words of another name, and a name of two words. */
static char name_words[64], two_words[64];

/* The name that was given, if it is a former one. */
static const smma_command_name *former_name;

static const smma_command_name *find_name(const char *name) {
  for (size_t i = 0; i < smma_command_name_count; i++)
    if (strcmp(name, smma_command_names[i].name) == 0) return &smma_command_names[i];
  return NULL;
}

static void insert(const char **words, int *count, int at, const char *word) {
  memmove(&words[at + 1], &words[at], (size_t)(*count - at) * sizeof *words);
  words[at] = word;
  ++*count;
}

static void drop(const char **words, int *count, int at) {
  --*count;
  memmove(&words[at], &words[at + 1], (size_t)(*count - at) * sizeof *words);
}

/* Moves the options of every command from before the command to the end: "-q dot" and "help dot" become "dot -q" and
   "dot --help". */
static void move_options(const char **words, int *count) {
  static const char *const option[][2] = {
      {"-q", "-q"}, {"--quiet", "-q"}, {"-h", "--help"}, {"help", "--help"}, {"--help", "--help"}};
  for (size_t i = 0; i < sizeof option / sizeof *option; i++)
    if (strcmp(words[1], option[i][0]) == 0) {
      drop(words, count, 1);
      insert(words, count, *count, option[i][1]);
      return;
    }
}

static void expand_name(const char **words, int *count) {
  const smma_command_name *name = find_name(words[1]);
  char *blank;
  if (!name) return;
  if (name->former) former_name = name;
  snprintf(name_words, sizeof name_words, "%s", name->line);
  words[1] = name_words;
  blank = strchr(name_words, ' ');
  if (!blank) return;
  *blank = 0;
  insert(words, count, 2, blank + 1);
}

const char **smma_command_line(int *argc, const char **argv) {
  const char **words = calloc((size_t)*argc + 3, sizeof *words);
  int count = *argc;
  if (!words) return NULL;
  memcpy(words, argv, (size_t)count * sizeof *words);
  if (count > 1 && (strcmp(words[1], "--version") == 0 || strcmp(words[1], "-V") == 0)) words[1] = "version";
  if (count > 1) move_options(words, &count);
  if (count > 1) expand_name(words, &count);
  if (count > 2) {
    snprintf(two_words, sizeof two_words, "%.30s %.30s", words[1], words[2]);
    if (smma_find_command(two_words)) {
      drop(words, &count, 2);
      words[1] = two_words;
    }
  }
  *argc = count;
  return words;
}

void smma_note_former_name(void) {
  if (former_name) smma_note("'softmma %s' is 'softmma %s' now", former_name->name, former_name->line);
}
