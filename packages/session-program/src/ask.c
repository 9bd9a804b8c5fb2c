#include "ask.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"

/* How often it is tried to say a line, and how long is waited between: five seconds. */
enum { MAX_LINE_BYTES = 128, MAX_TRIES = 250, TRY_MS = 20 };

static const char *path_of(const char *identity, const char *suffix) {
  static char path[NAME_MAX];
  snprintf(path, sizeof path, "%.64s.%s", identity, suffix);
  return path;
}

void remove_asked(int io, const char *identity) {
  static const char *const suffixes[] = {"in", "out", "err", "exit", "cmd"};
  for (size_t index = 0; index < sizeof suffixes / sizeof *suffixes; index++) (void)unlinkat(io, path_of(identity, suffixes[index]), 0);
}

static bool make_pipe(int io, const char *identity, const char *suffix) {
  const char *path = path_of(identity, suffix);
  return mkfifoat(io, path, 0600) == 0 && fchmodat(io, path, 0666, 0) == 0;
}

static bool write_plan(int io, const char *identity, const char *bytes, size_t length) {
  int file = openat(io, path_of(identity, "cmd"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (file < 0) return false;
  bool is_written = write_all(file, bytes, length);
  return close(file) == 0 && is_written;
}

static bool is_marked(int io, const char *mark) {
  struct stat found;
  return fstatat(io, mark, &found, AT_SYMLINK_NOFOLLOW) == 0;
}

/*
 * Says a line to the first process, whole or not at all. Programs inside can stop that one and fill its pipe: who waited for room there would wait for ever,
 * and hold the sandbox meanwhile.
 */
static bool say_line(int control, const char *line, size_t length) {
  for (int tries = 0; tries < MAX_TRIES; tries++) {
    if (write(control, line, length) == (ssize_t)length) return true;
    if (errno != EAGAIN && errno != EINTR) return false;
    (void)poll(NULL, 0, TRY_MS);
  }
  return false;
}

static const char *ask(int io, const char *identity, const char *bytes, size_t length) {
  static const char *const suffixes[] = {"out", "err", "exit", "in"};
  for (size_t index = 0; index < sizeof suffixes / sizeof *suffixes; index++)
    if (!make_pipe(io, identity, suffixes[index])) return "no-fifo";
  if (is_marked(io, "../dying")) return "ending";
  if (is_marked(io, "../paused")) return "paused";
  if (is_marked(io, "../stopped")) return "stopped";
  if (length > 0 && !write_plan(io, identity, bytes, length)) return "no-fifo";
  int control = openat(io, "control", O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  if (control < 0) return is_marked(io, "../dying") ? "ending" : "no-fifo";
  char line[MAX_LINE_BYTES];
  int said = snprintf(line, sizeof line, "run %.64s\n", identity);
  bool is_asked = said > 0 && say_line(control, line, (size_t)said);
  close(control);
  if (is_asked) return NULL;
  return is_marked(io, "../dying") ? "ending" : "deaf";
}

const char *ask_for(int io, const char *identity, const char *bytes, size_t length) {
  const char *refusal = ask(io, identity, bytes, length);
  if (refusal != NULL) remove_asked(io, identity);
  return refusal;
}
