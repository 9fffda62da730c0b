#include "cli/program.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/cli.h"

extern char **environ;

const smma_program smma_gnuplot = {"gnuplot", NULL, "gnuplot-nox"}, smma_graphviz = {"dot", "-Tsvg", "graphviz"};

/* Runs the program with these files as stdin, stdout and stderr. Returns whether it ran and exited with status 0. */
static bool run(const smma_program *p, int script, int output, int messages, smma_error *error) {
  char *arguments[] = {(char *)p->name, (char *)p->option, NULL};
  posix_spawn_file_actions_t files;
  pid_t child;
  int status = 0, failure;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_adddup2(&files, script, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&files, messages, STDERR_FILENO);
  failure = posix_spawnp(&child, arguments[0], &files, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&files);
  if (failure == ENOENT)
    return smma_fail(error, "%s is not installed (Debian and Ubuntu: install %s)", p->name, p->package);
  if (failure) return smma_fail(error, "cannot run %s: %s", p->name, strerror(failure));
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Runs the program on a script, which is read from its start, and writes its output to the open file `output`. */
static bool run_program(const smma_program *p, FILE *script, int output, smma_error *error) {
  FILE *messages = tmpfile();
  char line[512] = "";
  bool done;
  if (!messages) return smma_fail(error, "cannot make a temporary file: %s", strerror(errno));
  smma_fail(error, "%s failed", p->name);
  rewind(script); /* also flushes it */
  done = run(p, fileno(script), output, fileno(messages), error);
  rewind(messages);
  while (!done && fgets(line, sizeof line, messages))
    if (strcspn(line, "\n")) smma_fail(error, "%s failed: %.*s", p->name, (int)strcspn(line, "\n"), line);
  fclose(messages);
  return done;
}

bool smma_program_is_there(const smma_program *p, smma_error *error) {
  FILE *nothing = tmpfile();
  bool there;
  if (!nothing) return smma_fail(error, "cannot make a temporary file: %s", strerror(errno));
  there = run_program(p, nothing, STDOUT_FILENO, error);
  fclose(nothing);
  return there;
}

/* Runs the program on a script, and writes its output to the file `path`. */
static bool draw(const smma_program *p, FILE *script, const char *path, smma_error *error) {
  smma_output output;
  bool drawn;
  if (smma_is_standard_output(path)) return run_program(p, script, STDOUT_FILENO, error);
  if (!smma_output_open(path, &output, error)) return false;
  drawn = run_program(p, script, fileno(output.stream), error);
  if (drawn) return smma_output_commit(&output, error);
  smma_output_abandon(&output);
  return false;
}

bool smma_draw_file(const smma_program *p, smma_output_writer *write, const void *content, const char *path,
                    smma_error *error) {
  FILE *script = tmpfile();
  bool drawn;
  if (!script) return smma_fail(error, "cannot make a temporary file: %s", strerror(errno));
  drawn = write(script, content, error) && draw(p, script, path, error);
  fclose(script);
  return drawn;
}
