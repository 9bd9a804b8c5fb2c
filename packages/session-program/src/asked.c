#include "asked.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "files.h"

enum { TRIES = 500, WAIT_NS = 2000000 };

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
