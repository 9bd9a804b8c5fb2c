#include "ending.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"

/* A process that the kernel holds (a disk that does not answer) is not waited for any longer. */
enum { MAX_PASSES = 1000, MAX_PROCESSES = 4 * 1024 * 1024 + 1, MAX_STATUS_BYTES = 4096, PIECE_BYTES = 64 * 1024, MAX_MARK_BYTES = 128 };

/* One bit for each number that a process can have: PID_MAX_LIMIT of Linux is four million. */
static unsigned char seen[MAX_PROCESSES / 8 + 1];

static bool is_seen(pid_t process) { return process > 0 && process < MAX_PROCESSES && (seen[process / 8] >> (process % 8) & 1) != 0; }

static void note_seen(pid_t process) {
  if (process > 0 && process < MAX_PROCESSES) seen[process / 8] |= (unsigned char)(1U << (process % 8));
}

struct look {
  char state;
  pid_t parent;
};

static bool look_at(int proc, const char *process, struct look *look) {
  char path[64], text[MAX_STATUS_BYTES];
  snprintf(path, sizeof path, "%.16s/status", process);
  if (read_file(proc, path, text, sizeof text) < 0) return false;
  /* The name of a process has no line end here: the kernel writes one as two characters. */
  const char *state = strstr(text, "\nState:\t"), *parent = strstr(text, "\nPPid:\t");
  if (state == NULL || parent == NULL) return false;
  *look = (struct look){.state = state[8], .parent = (pid_t)strtol(parent + 7, NULL, 10)};
  return true;
}

enum mark { NO_MARK, OTHER_MARK, OWN_MARK };

/* Which mark a process has in its environment, however long that is. */
static enum mark mark_of(int proc, const char *process, const char *call) {
  static const char name[] = "LITTERBOX_CALL=";
  static char text[PIECE_BYTES + 2 * MAX_MARK_BYTES];
  char path[64], own[MAX_MARK_BYTES];
  enum mark found = NO_MARK;
  snprintf(path, sizeof path, "%.16s/environ", process);
  size_t own_length = (size_t)snprintf(own, sizeof own, "%s%s", name, call);
  int file = openat(proc, path, O_RDONLY | O_CLOEXEC);
  if (file < 0 || own_length >= sizeof own) {
    if (file >= 0) close(file);
    return NO_MARK;
  }
  for (size_t kept = 0;;) {
    ssize_t got = read(file, text + kept, PIECE_BYTES);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    size_t length = kept + (size_t)got;
    if (memmem(text, length, own, own_length) != NULL) {
      found = OWN_MARK;
      break;
    }
    if (memmem(text, length, name, sizeof name - 1) != NULL) found = OTHER_MARK;
    kept = length < sizeof own ? length : sizeof own;
    memmove(text, text + length - kept, kept);
  }
  close(file);
  return found;
}

static bool is_of_call(int proc, const char *process, pid_t parent, pid_t worker, const char *call) {
  if (parent == worker || is_seen(parent)) return true;
  return parent == 1 && mark_of(proc, process, call) != OTHER_MARK;
}

/* Returns whether another pass has to follow: something new was found, or something is not stopped yet. */
static bool stop_all(DIR *processes, pid_t worker, const char *call) {
  bool is_unfinished = false;
  rewinddir(processes);
  for (struct dirent *entry; (entry = readdir(processes)) != NULL;) {
    struct look look;
    pid_t process = (pid_t)strtol(entry->d_name, NULL, 10);
    if (process <= 1 || process == getpid() || !look_at(dirfd(processes), entry->d_name, &look)) continue;
    if (is_seen(process)) {
      if (strchr("RSD", look.state) != NULL) is_unfinished = true;
      continue;
    }
    if (look.parent == 0 || look.state == 'Z' || !is_of_call(dirfd(processes), entry->d_name, look.parent, worker, call)) continue;
    (void)kill(process, SIGSTOP);
    note_seen(process);
    is_unfinished = true;
  }
  return is_unfinished;
}

void end_call(pid_t worker, const char *call) {
  DIR *processes = opendir("/proc");
  if (processes == NULL) return;
  memset(seen, 0, sizeof seen);
  for (int pass = 0; pass < MAX_PASSES && stop_all(processes, worker, call); pass++) (void)sched_yield();
  rewinddir(processes);
  for (struct dirent *entry; (entry = readdir(processes)) != NULL;) {
    pid_t process = (pid_t)strtol(entry->d_name, NULL, 10);
    if (is_seen(process)) (void)kill(process, SIGKILL);
  }
  closedir(processes);
}

void send_signal(pid_t process, const char *name) {
  for (int number = 1; number < NSIG; number++) {
    const char *known = sigabbrev_np(number);
    if (known == NULL || strcmp(known, name) != 0) continue;
    if (kill(-process, number) != 0) (void)kill(process, number);
    return;
  }
}
