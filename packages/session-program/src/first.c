#include "first.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asked.h"
#include "child.h"
#include "ending.h"
#include "files.h"
#include "start.h"

/* Descriptor of `control`: the facts of a session expect it there, and nothing else. */
enum { CONTROL = 7, MAX_READY_BYTES = 4096 };

static void close_standard(void) {
  int nothing = open("/dev/null", O_RDWR);
  if (nothing < 0) _exit(1);
  for (int descriptor = 0; descriptor < 3; descriptor++)
    if (dup2(nothing, descriptor) < 0) _exit(1);
  if (nothing > 2) close(nothing);
}

/* Appends the descriptors that a process has open, as paths. */
static size_t add_descriptors(char *line, size_t length, const char *process) {
  char path[32];
  snprintf(path, sizeof path, "/proc/%s/fd", process);
  DIR *directory = opendir(path);
  if (directory == NULL) return length; /* nothing is readable there, so nobody gets anything there */
  bool is_own = strcmp(process, "self") == 0;
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    if (*entry->d_name == '.' || (is_own && atoi(entry->d_name) == dirfd(directory))) continue;
    int written = snprintf(line + length, MAX_READY_BYTES - length, " %s/%.12s", path, entry->d_name);
    if (written < 0 || (size_t)written >= MAX_READY_BYTES - length) _exit(1);
    length += (size_t)written;
  }
  closedir(directory);
  return length;
}

static void say_ready(const char *io) {
  static char line[MAX_READY_BYTES + 1];
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/ready", io);
  size_t length = (size_t)snprintf(line, MAX_READY_BYTES, "ready %d", getpid());
  length = add_descriptors(line, length, "1");
  length = add_descriptors(line, length, "self");
  line[length++] = '\n';
  int ready = open(path, O_WRONLY | O_CLOEXEC | O_NOFOLLOW);
  if (ready < 0 || !write_all(ready, line, length)) _exit(1);
  close(ready);
}

static char *split(char *line) {
  char *rest = line + strcspn(line, " ");
  if (*rest == ' ') *rest++ = '\0';
  return rest;
}

static pid_t number_of(const char *text) {
  char *end;
  long number = strtol(text, &end, 10);
  return *text == '\0' || *end != '\0' || number < 2 || number > INT_MAX ? 0 : (pid_t)number;
}

static void obey(char *line, const void *io) {
  char *first = split(line);
  char *second = split(first);
  if (strcmp(line, "run") == 0) start_process(io, first);
  pid_t process = number_of(first);
  if (process == 0 || process == getpid()) return;
  if (strcmp(line, "kill") == 0) end_call(process, second);
  if (strcmp(line, "signal") == 0) send_signal(process, second);
}

static _Noreturn void serve(const char *io) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/control", io);
  int control = open(path, O_RDWR | O_NOFOLLOW);
  if (control < 0 || (control != CONTROL && (dup2(control, CONTROL) < 0 || close(control) != 0))) _exit(1);
  if (fcntl(CONTROL, F_SETFD, FD_CLOEXEC) != 0) _exit(1);
  say_ready(io);
  obey_lines(CONTROL, obey, io);
}

int run_place(const char *io) {
  close_standard();
  close_from(3);
  reset_signals();
  (void)signal(SIGPIPE, SIG_IGN);
  pid_t first = fork();
  if (first < 0) return 1;
  if (first == 0) {
    (void)signal(SIGCHLD, SIG_IGN); /* nobody asks how what it started ended */
    serve(io);
  }
  for (pid_t ended; (ended = waitpid(-1, NULL, 0)) != first;)
    if (ended < 0 && errno != EINTR) break;
  return 0;
}
