/* A child process as a unit. For each batch `sh -c COMMAND` is started. It reads a vector file without results on
   its standard input (header, then test vectors), and writes one hexadecimal result per vector, one per line, in
   order, on its standard output. The command may answer as late as the end of its input, and it ends after that.
   Therefore programs that do not flush their output work, too. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/clock.h"
#include "host/load.h"
#include "rows/rows.h"
#include "rows/text.h"
#include "unit/child.h"
#include "unit/unit.h"

enum { DEFAULT_SECONDS = 60, LINE_LIMIT = 64 };

typedef struct {
  char *command;
  long seconds; /* time without progress of 1 % of the batch, read or answered, after which the child counts as stuck */
} pipe_unit;

/* The exchange of one batch with the child. */
typedef struct {
  const pipe_unit *unit;
  pid_t child;
  int in, out; /* the child's standard input and output; -1: closed */
  char *text;  /* the text to send to the child */
  size_t length, sent;
  char line[LINE_LIMIT]; /* the child's output after the last complete line */
  size_t line_length;
  size_t answers, rows, container_bytes;
  void *d;
  char *message;
  size_t size;
} exchange;

static int pipe_open(const char *arguments, void **unit, char *message, size_t size) {
  const char *limit = getenv("SOFTMMA_PIPE_SECONDS");
  pipe_unit *u = calloc(1, sizeof *u);
  char *end = NULL;
  if (u) u->command = strdup(arguments);
  if (!u || !u->command) {
    free(u);
    snprintf(message, size, "no memory");
    return 1;
  }
  u->seconds = limit ? strtol(limit, &end, 10) : DEFAULT_SECONDS;
  if (limit && (*end || u->seconds < 1 || u->seconds > 86400)) {
    snprintf(message, size, "SOFTMMA_PIPE_SECONDS is '%.20s'; it takes seconds from 1 to 86400", limit);
    free(u->command);
    free(u);
    return 1;
  }
  *unit = u;
  return 0;
}

static void pipe_close(void *unit) {
  pipe_unit *u = unit;
  free(u->command);
  free(u);
}

static void pipe_describe(void *unit, smma_unit_description *description) {
  snprintf(description->device, sizeof description->device, "%s", ((pipe_unit *)unit)->command);
}

/* Accepts every instruction, because only running the program shows whether it can compute the instruction. */
static int pipe_computes(void *unit, const smma_instruction_info *i, char *message, size_t size) {
  (void)unit, (void)i, (void)message, (void)size;
  return 0;
}

/* Writes the header and the test vectors as text. */
static bool write_text(exchange *e, const smma_instruction *i, const smma_batch *batch) {
  smma_vector_header header;
  const smma_rows rows = smma_rows_of_batch(i, batch);
  smma_row row;
  FILE *stream = open_memstream(&e->text, &e->length);
  bool failed;
  if (!stream) return false;
  smma_vector_header_of(i, &header);
  smma_text_write_header(stream, &header);
  for (size_t index = 0; index < batch->rows; index++) {
    smma_rows_get(&rows, index, &row);
    smma_text_write_operands(stream, &rows.layout, &row);
  }
  failed = ferror(stream);
  return fclose(stream) == 0 && !failed &&
         e->length > 0; /* an empty text shows that memory ran out, even if the stream reports no error */
}

static void close_end(int *descriptor) {
  if (*descriptor >= 0) close(*descriptor);
  *descriptor = -1;
}

static bool start(exchange *e) {
  int to[2], from[2];
  if (pipe(to) != 0) return false;
  if (pipe(from) != 0) {
    close(to[0]), close(to[1]);
    return false;
  }
  e->child = smma_child_start();
  if (e->child == 0) {
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    close(to[0]), close(to[1]), close(from[0]), close(from[1]);
    execl("/bin/sh", "sh", "-c", e->unit->command, (char *)NULL);
    _exit(127);
  }
  close(to[0]), close(from[1]);
  e->in = to[1], e->out = from[0];
  if (e->child < 0) {
    close_end(&e->in), close_end(&e->out);
    return false;
  }
  fcntl(e->in, F_SETFL, fcntl(e->in, F_GETFL) | O_NONBLOCK);
  return true;
}

/* Takes one line of the child's output. Returns false with a message if it is not a result. */
static bool take_line(exchange *e) {
  char *end = NULL, *text = e->line;
  unsigned long long value;
  size_t length;
  e->line[e->line_length] = 0;
  if (e->line_length && text[e->line_length - 1] == '\r') text[--e->line_length] = 0;
  length = e->line_length;
  e->line_length = 0;
  if (e->answers == e->rows) {
    snprintf(e->message, e->size, "the program answered more than %zu rows; it must write one result a row", e->rows);
    return false;
  }
  errno = 0;
  value = strtoull(text, &end, 16);
  if (!*text || !strchr("0123456789abcdefABCDEF", *text) || end != text + length || errno) {
    snprintf(e->message, e->size, "line %zu of the program's output is '%.40s'%s; it must be one result in hexadecimal",
             e->answers + 1, text, strlen(text) < length ? " and a NUL byte" : "");
    return false;
  }
  if (e->container_bytes < 8 && value >> (8 * e->container_bytes)) {
    snprintf(e->message, e->size, "line %zu of the program's output, %.20s, is wider than the result's %zu bits",
             e->answers + 1, text, 8 * e->container_bytes);
    return false;
  }
  smma_store(e->container_bytes, e->d, e->answers++, value);
  return true;
}

static bool take_bytes(exchange *e, const char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (bytes[i] == '\n') {
      if (!take_line(e)) return false;
    } else if (e->line_length == sizeof e->line - 1) {
      snprintf(e->message, e->size, "line %zu of the program's output is longer than any result", e->answers + 1);
      return false;
    } else {
      e->line[e->line_length++] = bytes[i];
    }
  }
  return true;
}

/* Reads the available output and takes its lines. Returns false at the end of the output, if it cannot be read, or,
   with a message, if a line is not a result. */
static bool receive_more(exchange *e) {
  char bytes[65536];
  ssize_t count = read(e->out, bytes, sizeof bytes);
  if (count < 0) return errno == EINTR;
  if (count == 0) {
    if (e->line_length) take_line(e); /* the last line may lack a newline */
    return false;
  }
  return take_bytes(e, bytes, (size_t)count);
}

/* Sends more input. A child that has closed its input may still answer. */
static void send_more(exchange *e) {
  ssize_t count = write(e->in, e->text + e->sent, e->length - e->sent);
  if (count >= 0)
    e->sent += (size_t)count;
  else if (errno != EAGAIN && errno != EINTR)
    close_end(&e->in);
  if (e->sent == e->length) close_end(&e->in);
}

/* Returns the progress of the child: percent read plus percent answered. A count of bytes alone would let a program
   continue for days by writing an occasional line. */
static size_t hundredths(const exchange *e) { return 100 * e->sent / e->length + 100 * e->answers / e->rows; }

/* Exchanges data until the child closes its output. Stops earlier, with a message, if the child makes an error or no
   progress, or after a stop request. */
static void talk(exchange *e) {
  enum { MOMENT = 100 }; /* poll interval in ms, because another thread may receive the signals */
  size_t known = hundredths(e);
  double since = smma_seconds();
  for (;;) {
    struct pollfd ends[2] = {{.fd = e->out, .events = POLLIN}, {.fd = e->in, .events = POLLOUT}};
    const int ready = poll(ends, 2, MOMENT);
    if (smma_units_stopped()) {
      snprintf(e->message, e->size, "interrupted");
      return;
    }
    if (ready > 0 && ends[1].revents) send_more(e);
    if (ready > 0 && ends[0].revents && !receive_more(e)) return;
    if (hundredths(e) > known) {
      known = hundredths(e);
      since = smma_seconds();
    } else if (smma_seconds() - since > (double)e->unit->seconds) {
      snprintf(e->message, e->size,
               "the program took more than %ld s for a hundredth of a batch, after %zu of %zu results; "
               "SOFTMMA_PIPE_SECONDS=N waits longer, and fewer rows are sooner done",
               e->unit->seconds, e->answers, e->rows);
      return;
    }
  }
}

/* Closes the pipes and ends the child. Sets the message if there is none yet and the child ended with an error or
   without all results. */
static void finish(exchange *e) {
  const bool wrong = *e->message != 0;
  char how[96];
  int status;
  close_end(&e->in), close_end(&e->out);
  if (!smma_child_end(e->child, wrong ? 0 : (double)e->unit->seconds, &status) && !wrong)
    snprintf(e->message, e->size, "the program closed its output after %zu of %zu results, but does not end",
             e->answers, e->rows);
  if (*e->message) return;
  smma_child_end_text(status, how, sizeof how);
  if (WIFSIGNALED(status))
    snprintf(e->message, e->size, "the program %s after %zu of %zu results", how, e->answers, e->rows);
  else if (WEXITSTATUS(status) == 127 && e->answers == 0)
    snprintf(e->message, e->size, "the shell cannot run it; is it installed, and its name right?");
  else if (WEXITSTATUS(status) != 0)
    snprintf(e->message, e->size, "the program ended with status %d after %zu of %zu results", WEXITSTATUS(status),
             e->answers, e->rows);
  else if (e->answers < e->rows)
    snprintf(e->message, e->size, "the program ended after %zu of %zu results; it must write one a row", e->answers,
             e->rows);
}

static int pipe_run(void *unit, const smma_instruction_info *info, const smma_batch *batch, char *message,
                    size_t size) {
  struct sigaction ignored = {.sa_handler = SIG_IGN}, before;
  exchange e = {.unit = unit,
                .rows = batch->rows,
                .container_bytes = smma_format_bytes(info->d),
                .d = batch->d,
                .message = message,
                .size = size};
  *message = 0;
  if (!write_text(&e, info->instruction, batch)) {
    free(e.text);
    snprintf(message, size, "no memory for %zu rows", batch->rows);
    return 1;
  }
  sigaction(SIGPIPE, &ignored, &before);
  if (start(&e)) {
    talk(&e);
    finish(&e);
  } else {
    snprintf(message, size, "cannot start the program: %s", strerror(errno));
  }
  sigaction(SIGPIPE, &before, NULL);
  free(e.text);
  return *message != 0;
}

const smma_unit_methods smma_unit_pipe = {SMMA_UNIT_ABI, pipe_open, pipe_close, pipe_describe, pipe_computes, pipe_run};
