#include "end_session.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "files.h"
#include "locks.h"

enum { MAX_STOPS = 30, STOP_MS = 1000 };

void say_to(const char *path, const char *word) {
  struct stat found;
  int pipe = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  if (pipe < 0) return;
  if (fstat(pipe, &found) == 0 && S_ISFIFO(found.st_mode)) (void)write_all(pipe, word, strlen(word));
  close(pipe);
}

const char *end_session(const struct groups *groups) {
  struct stat found;
  if (lstat("stop.fifo", &found) == 0 && S_ISFIFO(found.st_mode)) {
    int alive = open_lock("alive.lock");
    for (int round = 0; !lock_within(alive, LOCK_EX, 0); round++) {
      if (round == MAX_STOPS) return "its processes do not end";
      say_to("stop.fifo", "stop\n");
      if (lock_within(alive, LOCK_EX, STOP_MS)) break;
      thaw_groups(groups);
    }
  }
  return empty_groups(groups) ? NULL : "it cannot be ended: processes are left in its control groups";
}
