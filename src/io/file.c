#define _XOPEN_SOURCE 700 /* POSIX 2008, including fchown */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/input.h"

bool smma_file_load(const char *path, size_t limit, smma_file_bytes *file, smma_error *error) {
  smma_input input;
  *file = (smma_file_bytes){.bytes = NULL, .size = 0};
  if (!smma_input_open(path, &input, error)) return false;
  if (input.size != SMMA_SIZE_UNKNOWN && input.size > limit)
    smma_fail(error, "%s: %llu bytes; such a file has at most %zu", path, (unsigned long long)input.size, limit);
  else
    file->bytes = smma_input_take(&input, limit + 1, &file->size, error);
  smma_input_close(&input);
  if (!file->bytes || file->size <= limit) return file->bytes != NULL;
  smma_file_release(file);
  return smma_fail(error, "%s: more than %zu bytes, which is the most that such a file has", path, limit);
}

void smma_file_release(smma_file_bytes *file) {
  free(file->bytes);
  *file = (smma_file_bytes){.bytes = NULL, .size = 0};
}

static bool is_file(const char *path, size_t length) {
  char name[PATH_MAX];
  struct stat status;
  if (length >= sizeof name) return false;
  memcpy(name, path, length);
  name[length] = 0;
  return stat(name, &status) == 0 && !S_ISDIR(status.st_mode);
}

size_t smma_list_item(const char *list) {
  const size_t first = strcspn(list, ",");
  size_t item = first;
  for (size_t end = first; list[end] == ',';) {
    end += 1 + strcspn(list + end + 1, ",");
    if (is_file(list, end)) item = end;
  }
  return item;
}

/* ---- Output ---- */

enum {
  MOST_LINKS = 40,  /* symbolic links that are followed at most, as in Linux */
  NAME_LENGTH = 200 /* bytes of the final name that the temporary name begins with; the whole must fit NAME_MAX */
};

/* ---- Temporary files, which a signal handler can remove when the program ends ---- */

/* One temporary file. It is in the list for as long as the file exists. */
typedef struct temporary_file {
  struct temporary_file *next;
  char name[];
} temporary_file;

static temporary_file *unfinished; /* changed only in state CHANGING */

/* State of the list of temporary files. A signal handler that finds CHANGING sets ASKED and returns; the thread that
   changes the list then calls asked_end. In state ENDING the list stays as it is, because the program ends. */
enum { IDLE, CHANGING, ASKED, ENDING };
static atomic_int list_state;
static void (*asked_end)(int number);
static volatile int asked_number;

/* Enters state CHANGING; waits while another thread is in it. If the program is ending, waits until it has ended. */
static void begin_change(void) {
  for (int idle = IDLE; !atomic_compare_exchange_weak(&list_state, &idle, CHANGING); idle = IDLE) sched_yield();
}

static void end_change(void) {
  int changing = CHANGING;
  if (atomic_compare_exchange_strong(&list_state, &changing, IDLE)) return;
  const int cause = errno;
  atomic_store(&list_state, IDLE);
  asked_end(asked_number);
  errno = cause;
}

bool smma_outputs_remove_unfinished(void (*end)(int number), int number) {
  int state = IDLE;
  while (!atomic_compare_exchange_strong(&list_state, &state, ENDING) && state != ENDING) {
    asked_end = end, asked_number = number;
    if (state == ASKED || atomic_compare_exchange_strong(&list_state, &state, ASKED)) return false;
    state = IDLE;
  }
  for (const temporary_file *t = unfinished; t; t = t->next) unlink(t->name);
  return true;
}

static temporary_file *entry_of(char *name) {
  return (temporary_file *)(void *)(name - offsetof(temporary_file, name));
}

static void add_to_list(char *name) {
  entry_of(name)->next = unfinished;
  unfinished = entry_of(name);
}

static void remove_from_list(const char *name) {
  for (temporary_file **at = &unfinished; *at; at = &(*at)->next)
    if ((*at)->name == name) {
      *at = (*at)->next;
      return;
    }
}

static void remove_temporary(const smma_output *output) {
  if (!output->temporary) return;
  begin_change();
  unlink(output->temporary);
  remove_from_list(output->temporary);
  end_change();
}

/* Renames the file to its final name; returns false with errno set. */
static bool rename_temporary(const smma_output *output) {
  begin_change();
  const bool renamed = rename(output->temporary, output->path) == 0;
  const int cause = errno;
  if (renamed) remove_from_list(output->temporary);
  end_change();
  errno = cause;
  return renamed;
}

/* Returns the length of a path's directory part, including the last slash. */
static size_t directory_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

/* Returns `name` as a path in the directory of `path`, or `name` itself if it is absolute. The caller frees it. */
static char *beside(const char *path, const char *name) {
  size_t directory = name[0] == '/' ? 0 : directory_length(path), size = directory + strlen(name) + 1;
  char *joined = malloc(size);
  if (joined) snprintf(joined, size, "%.*s%s", (int)directory, path, name);
  return joined;
}

/* Follows the symbolic links at a path's last name and returns the final target, which need not exist. The caller frees
   it. Returns NULL with errno set. */
static char *follow_links(const char *path) {
  char *at = strdup(path), target[PATH_MAX];
  for (int links = 0; at; links++) {
    ssize_t length = readlink(at, target, sizeof target - 1);
    if (length < 0) return at;
    target[length] = '\0';
    char *next = links < MOST_LINKS ? beside(at, target) : NULL;
    if (links == MOST_LINKS) errno = ELOOP;
    free(at);
    at = next;
  }
  return NULL;
}

/* Copies the permissions and the owner of the file to be replaced. If the group cannot be copied, the group gets no
   more rights than everybody. */
static bool keep_permissions(int descriptor, const struct stat *old) {
  mode_t mode = old->st_mode & 07777;
  if (fchown(descriptor, old->st_uid, old->st_gid) != 0 && fchown(descriptor, (uid_t)-1, old->st_gid) != 0)
    mode = (mode & 0707) | (mode & 07) << 3;
  return fchmod(descriptor, mode) == 0;
}

/* Creates a file in the directory of output->path, under a name that is not in use, and writes this name to
   output->temporary (`size` bytes). Returns the file's descriptor, or -1 with errno set. */
static int create_file(smma_output *output, size_t size, mode_t mode) {
  const size_t directory = directory_length(output->path);
  int descriptor = -1;
  errno = EEXIST;
  for (int attempt = 0; descriptor < 0 && errno == EEXIST && attempt < 1000; attempt++) {
    snprintf(output->temporary, size, "%.*s%.*s.%ld-%d.tmp", (int)directory, output->path, NAME_LENGTH,
             output->path + directory, (long)getpid(), attempt);
    descriptor = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  }
  return descriptor;
}

/* Creates the temporary file of an output and adds it to the list. It gets the permissions of the file `old` that it
   will replace (NULL: none). Returns its descriptor, or -1 with errno set. */
static int create_temporary(smma_output *output, const struct stat *old) {
  const size_t size = directory_length(output->path) + NAME_LENGTH + 48;
  temporary_file *entry = malloc(sizeof *entry + size);
  if (!entry) return -1;
  output->temporary = entry->name;
  begin_change();
  const int descriptor = create_file(output, size, old ? 0600 : 0666);
  int cause = errno;
  if (descriptor >= 0) add_to_list(output->temporary);
  end_change();
  errno = cause;
  if (descriptor < 0 || !old || keep_permissions(descriptor, old)) return descriptor;
  cause = errno;
  close(descriptor);
  remove_temporary(output);
  errno = cause;
  return -1;
}

static void free_names(smma_output *output) {
  free(output->path);
  if (output->temporary) free(entry_of(output->temporary));
  *output = (smma_output){.stream = NULL, .path = NULL, .temporary = NULL};
}

bool smma_output_open(const char *path, smma_output *output, smma_error *error) {
  struct stat status;
  const bool exists = stat(path, &status) == 0, direct = exists && !S_ISREG(status.st_mode);
  const bool possible = exists || errno == ENOENT; /* otherwise no file can have this name: it may be too long */
  int descriptor = -1;
  *output = (smma_output){.stream = NULL, .path = NULL, .temporary = NULL};
  if (!*path) return smma_fail(error, "cannot write: the name of the file is empty");
  if (!possible) return smma_fail(error, "%s: cannot write: %s", path, strerror(errno));
  if (exists && S_ISDIR(status.st_mode))
    return smma_fail(error, "%s: cannot write: this is a directory; name a file in it", path);
  if (!exists || direct || access(path, W_OK) == 0) output->path = direct ? strdup(path) : follow_links(path);
  if (output->path)
    descriptor = direct ? open(path, O_WRONLY | O_CLOEXEC) : create_temporary(output, exists ? &status : NULL);
  if (descriptor >= 0) output->stream = fdopen(descriptor, "wb");
  if (output->stream) return true;
  smma_fail(error, "%s: cannot write: %s", path, strerror(errno));
  if (descriptor >= 0) {
    close(descriptor);
    remove_temporary(output);
  }
  free_names(output);
  return false;
}

/* Waits until the data are on the disk. Some file systems do not support this, which is not an error. */
static bool synchronise(int descriptor) { return fsync(descriptor) == 0 || errno == EINVAL || errno == ENOSYS; }

/* Waits until the directory entry is on the disk, too. This needs read permission for the directory. */
static bool synchronise_directory(const char *path) {
  char *directory = beside(path, ".");
  int descriptor = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  bool done = descriptor < 0 || synchronise(descriptor);
  if (descriptor >= 0) close(descriptor);
  free(directory);
  return done;
}

/* Writes out all buffered data; waits until they are on the disk unless the output is a pipe or device. */
static bool finish_stream(smma_output *output) {
  bool written = !ferror(output->stream);
  int cause = errno ? errno : EIO; /* errno of the first failed write, unless a later call changed it */
  if (written && (fflush(output->stream) != 0 || (output->temporary && !synchronise(fileno(output->stream))))) {
    written = false;
    cause = errno;
  }
  if (fclose(output->stream) != 0 && written) return false;
  if (!written) errno = cause;
  return written;
}

bool smma_output_commit(smma_output *output, smma_error *error) {
  bool written = finish_stream(output);
  if (written && output->temporary) written = rename_temporary(output);
  if (!written) {
    const int cause = errno;
    const bool replaces = output->temporary && access(output->path, F_OK) == 0;
    remove_temporary(output);
    smma_fail(error, "%s: cannot write: %s%s", output->path, strerror(cause),
              replaces            ? "; the file that was there before is unchanged"
              : output->temporary ? "; no file is left there"
                                  : "");
  } else if (output->temporary && !synchronise_directory(output->path)) {
    written = smma_fail(error, "%s: is written, but the disk does not confirm it: %s", output->path, strerror(errno));
  }
  free_names(output);
  return written;
}

void smma_output_abandon(smma_output *output) {
  fclose(output->stream);
  remove_temporary(output);
  free_names(output);
}
