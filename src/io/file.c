#define _XOPEN_SOURCE 700 /* POSIX 2008 with fchown */
#include "io/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

/* ---- Output ---- */

enum {
  MOST_LINKS = 40,  /* as Linux follows */
  NAME_LENGTH = 200 /* of the final name's bytes in the temporary one, which has to fit NAME_MAX too */
};

/* How much of a path is its directory, with the last slash. */
static size_t directory_length(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? (size_t)(slash - path) + 1 : 0;
}

/* A path in the directory of another one, or an absolute one, to be freed. */
static char *beside(const char *path, const char *name) {
  size_t directory = name[0] == '/' ? 0 : directory_length(path), size = directory + strlen(name) + 1;
  char *joined = malloc(size);
  if (joined) snprintf(joined, size, "%.*s%s", (int)directory, path, name);
  return joined;
}

/* What the path's last name is a link to, link by link; the last of them need not be there. To be freed; NULL with
   errno. */
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

/* The permissions and the owner of the file that will be replaced. Where the group cannot be kept, another one gets no
   more than everybody. */
static bool keep_permissions(int descriptor, const struct stat *old) {
  mode_t mode = old->st_mode & 07777;
  if (fchown(descriptor, old->st_uid, old->st_gid) != 0 && fchown(descriptor, (uid_t)-1, old->st_gid) != 0)
    mode = (mode & 0707) | (mode & 07) << 3;
  return fchmod(descriptor, mode) == 0;
}

/* Creates a new file beside output->path. Returns its descriptor, or -1 with errno. */
static int create_temporary(smma_output *output, const struct stat *old) {
  const size_t directory = directory_length(output->path), size = directory + NAME_LENGTH + 48;
  int descriptor = -1;
  output->temporary = malloc(size);
  if (!output->temporary) return -1;
  for (int attempt = 0; descriptor < 0 && attempt < 1000; attempt++) {
    snprintf(output->temporary, size, "%.*s%.*s.%ld-%d.tmp", (int)directory, output->path, NAME_LENGTH,
             output->path + directory, (long)getpid(), attempt);
    descriptor = open(output->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, old ? 0600 : 0666);
    if (descriptor < 0 && errno != EEXIST) return -1;
  }
  if (descriptor < 0 || !old || keep_permissions(descriptor, old)) return descriptor;
  close(descriptor);
  unlink(output->temporary);
  return -1;
}

static void free_names(smma_output *output) {
  free(output->path);
  free(output->temporary);
  *output = (smma_output){.stream = NULL, .path = NULL, .temporary = NULL};
}

bool smma_output_open(const char *path, smma_output *output, smma_error *error) {
  struct stat status;
  const bool exists = stat(path, &status) == 0, direct = exists && !S_ISREG(status.st_mode);
  int descriptor = -1;
  *output = (smma_output){.stream = NULL, .path = NULL, .temporary = NULL};
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
    if (output->temporary) unlink(output->temporary);
  }
  free_names(output);
  return false;
}

/* Waits until the disk has it; there are file systems that cannot say. */
static bool synchronise(int descriptor) { return fsync(descriptor) == 0 || errno == EINVAL || errno == ENOSYS; }

/* The name, too. A directory that may be written but not read cannot be opened for that. */
static bool synchronise_directory(const char *path) {
  char *directory = beside(path, ".");
  int descriptor = directory ? open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
  bool done = descriptor < 0 || synchronise(descriptor);
  if (descriptor >= 0) close(descriptor);
  free(directory);
  return done;
}

/* All that was written leaves this program, and is on the disk unless it goes to a pipe or device. */
static bool finish_stream(smma_output *output) {
  bool written = !ferror(output->stream);
  int cause = errno ? errno : EIO; /* of the write that failed, unless a later call changed it */
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
  if (written && output->temporary) written = rename(output->temporary, output->path) == 0;
  if (!written) {
    const int cause = errno;
    const bool replaces = output->temporary && access(output->path, F_OK) == 0;
    if (output->temporary) unlink(output->temporary);
    smma_fail(error, "%s: cannot write: %s%s", output->path, strerror(cause),
              replaces             ? "; the file that was there before is unchanged"
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
  if (output->temporary) unlink(output->temporary);
  free_names(output);
}
