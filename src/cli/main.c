/* The program softmma: prints help, runs the command that the first words name, and suggests a command for a word that
   names none. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cluster/ranks.h"
#include "host/cpu.h"
#include "isa/key.h"
#include "isa/nearest.h"

static void print_commands(void) {
#define SMMA_COMMAND_GROUP(heading) printf("\n%s:\n", heading);
#define SMMA_COMMAND(name, arguments, summary, examples) printf("  %-15s  %s\n", #name, summary);
#define SMMA_COMMAND_OF_TWO(one, two, arguments, summary, examples) printf("  %-15s  %s\n", #one "-" #two, summary);
#define SMMA_COMMAND_IN(word, name, arguments, summary, examples) printf("  %-15s  %s\n", #word " " #name, summary);
#include "cli/commands.h"
}

static int print_help(void) {
  printf(
      "SoftMMA computes D = A*B + C as the matrix units of GPUs and CPUs do, bit for bit.\n\n"
      "Usage: softmma COMMAND [options]\n\n"
      "Examples:\n"
      "  softmma gemm H100:f16 A.npy B.npy -o D.npy\n"
      "  softmma compare V100 H100 MI300X A.npy B.npy\n");
  print_commands();
  printf(
      "\n'softmma COMMAND --help' lists the options of a command; 'man softmma' describes all commands.\n"
      "Exit status: 0 done, and equal if it compared; 1 done, and different; 2 failed.\n");
  return smma_finish_output(SMMA_EXIT_EQUAL);
}

static int missing_command(void) {
  char list[256] = "";
  for (size_t i = 0; i < smma_command_count; i++)
    smma_append_text(list, sizeof list, "%s%s", i ? ", " : "", smma_commands[i].name);
  return smma_complain("a command is missing: one of %s (see 'softmma --help')", list);
}

static int unknown_command(const char *name) {
  smma_nearest nearest;
  char list[256];
  smma_nearest_start(&nearest, name);
  for (size_t i = 0; i < smma_command_count; i++)
    smma_nearest_consider(&nearest, smma_commands[i].name, smma_commands[i].name);
  for (size_t i = 0; i < smma_command_name_count; i++)
    smma_nearest_consider(&nearest, smma_command_names[i].line, smma_command_names[i].name);
  smma_nearest_hint(&nearest, list, sizeof list);
  return smma_complain("unknown command '%s'%s (see 'softmma --help')", name, list);
}

/* Reports whether all ranks work on the command. Other commands run on rank 0 only. */
static bool is_shared(int argc, const char **argv) {
  static const char *const shared[] = {"test", "experiment", "gemm", "match", "verify"};
  for (int i = 2; i < argc; i++)
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return false;
  for (size_t i = 0; argc > 1 && i < sizeof shared / sizeof *shared; i++)
    if (strcmp(shared[i], argv[1]) == 0) return true;
  return false;
}

/* Joins the ranks of an MPI launcher, unless --shard says which part of the work this process does. */
static bool start_ranks(int argc, const char **argv, smma_error *error) {
  for (int i = 2; i < argc; i++)
    if (strncmp(argv[i], "--shard", strlen("--shard")) == 0) return true;
  return !smma_ranks_launched() || smma_ranks_start(error);
}

static bool begins_with_word(const char *name, const char *word) {
  return strncmp(name, word, strlen(word)) == 0 && name[strlen(word)] == ' ';
}

/* Handles a word that is no command: the first of two words, such as "vectors", or an unknown one. */
static int incomplete_command(const char *word, bool asks_help) {
  char list[256] = "";
  for (size_t i = 0; i < smma_command_count; i++) {
    const smma_command *c = &smma_commands[i];
    if (!begins_with_word(c->name, word)) continue;
    if (asks_help) printf("  %-15s  %s\n", c->name, c->summary);
    smma_append_text(list, sizeof list, "%s%s", *list ? ", " : "", c->name);
  }
  if (*list && asks_help) return smma_finish_output(SMMA_EXIT_EQUAL);
  return *list ? smma_complain("'%s' is the first word of a command: %s (see 'softmma --help')", word, list)
               : unknown_command(word);
}

static int run(int argc, const char **argv) {
  const smma_command *command;
  if (argc < 2) return missing_command();
  if (strcmp(argv[1], "--help") == 0) return print_help();
  command = smma_find_command(argv[1]);
  return command
             ? smma_run_command(command, argc - 1, argv + 1)
             : incomplete_command(argv[1], argc > 2 && (strcmp(argv[2], "--help") == 0 || strcmp(argv[2], "-h") == 0));
}

/* Shortens the time that OpenMP threads (of GCC and clang) spin while they wait. By default they spin so long that, on
   a busy machine, they take the processor from the threads they wait for (docs/performance.md). The library reads the
   time when it is loaded, so the program is executed again. `bench` keeps the default, as other programs do. */
static void wait_shortly(int argc, const char **argv) {
  if (getenv("OMP_WAIT_POLICY") || getenv("GOMP_SPINCOUNT") || getenv("KMP_BLOCKTIME")) return;
  if (argc < 2 || strcmp(argv[1], "bench") == 0) return;
  if (setenv("GOMP_SPINCOUNT", "10000", 1) != 0 || setenv("KMP_BLOCKTIME", "1", 1) != 0) return;
  execv("/proc/self/exe", (char *const *)argv); /* if this fails, the threads spin for the default time */
}

/* Runs the command in this rank. */
static int start(int argc, const char **argv) {
  smma_error error;
  if (smma_cpu_complaint()) return smma_complain("%s", smma_cpu_complaint());
  if (!start_ranks(argc, argv, &error)) return smma_complain("%s", error.text);
  return smma_rank() == 0 || is_shared(argc, argv) ? run(argc, argv) : SMMA_EXIT_EQUAL;
}

int main(int argc, const char **argv) {
  int status;
  wait_shortly(argc, argv);
  argv = smma_command_line(&argc, argv);
  setlocale(LC_ALL, "C"); /* numbers are read and written with a decimal point in every locale */
  smma_handle_signals();
  if (!argv) return smma_complain("out of memory");
  smma_handle_library_exits();
  status = start(argc, argv);
  if (status == SMMA_EXIT_FAILED) smma_ranks_abort(status);
  smma_ranks_end();
  smma_end_normally();
  free((void *)argv);
  return status;
}
