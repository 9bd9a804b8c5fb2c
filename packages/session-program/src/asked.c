#include "asked.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "files.h"

enum { TRIES = 500, WAIT_NS = 2000000, MAX_LINE_BYTES = 512 };

void obey_lines(int pipe, void (*obey)(char *line, const void *context), const void *context) {
  char text[MAX_LINE_BYTES];
  size_t length = 0;
  for (;;) {
    ssize_t got = read(pipe, text + length, sizeof text - length);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) _exit(1);
    length += (size_t)got;
    for (char *end; (end = memchr(text, '\n', length)) != NULL;) {
      *end = '\0';
      size_t used = (size_t)(end - text) + 1;
      obey(text, context);
      memmove(text, text + used, length - used);
      length -= used;
    }
    if (length == sizeof text) length = 0;
  }
}

bool is_identity(const char *text) {
  size_t length = strlen(text);
  return length > 0 && length <= 64 && strspn(text, "0123456789abcdefghijklmnopqrstuvwxyz-") == length;
}

void refuse_asked(const char *io, const char *identity, const char *word) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s.exit", io, identity);
  for (int tries = 0; tries < TRIES; tries++) {
    int ending = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
    if (ending >= 0) {
      (void)write_all(ending, word, strlen(word));
      (void)write_all(ending, "\n", 1);
      close(ending);
      return;
    }
    nanosleep(&(struct timespec){.tv_nsec = WAIT_NS}, NULL);
  }
}
