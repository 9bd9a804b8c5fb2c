#include "groups.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <fcntl.h>

#include "fail.h"
#include "files.h"

enum { MAX_ROUNDS = 100, PAUSE_MS = 20, MAX_LIST_BYTES = 1024 * 1024 };

static bool write_to(const char *group, const char *file, const char *text) {
  char path[PATH_MAX];
  int length = snprintf(path, sizeof path, "%s/%s", group, file);
  return length > 0 && (size_t)length < sizeof path && write_existing(path, text);
}

void enter_groups(const struct groups *groups) {
  for (size_t index = 0; index < groups->count; index++)
    if (!write_to(groups->paths[index], "cgroup.procs", "0\n")) fail_errno("cannot enter %s", groups->paths[index]);
}

void thaw_groups(const struct groups *groups) {
  if (groups->count == 0) return;
  if (groups->version == 1)
    (void)write_to(groups->freezer, "freezer.state", "THAWED\n");
  else
    (void)write_to(groups->freezer, "cgroup.freeze", "0\n");
}

/* Frozen meanwhile: a number that was read is still that of the same process. A process outside of this namespace reads as 0. */
static void kill_members(const struct groups *groups) {
  static char list[MAX_LIST_BYTES];
  (void)(groups->version == 1 ? write_to(groups->freezer, "freezer.state", "FROZEN\n")
                              : write_to(groups->freezer, "cgroup.freeze", "1\n"));
  char path[PATH_MAX];
  int length = snprintf(path, sizeof path, "%s/cgroup.procs", groups->freezer);
  if (length < 0 || (size_t)length >= sizeof path || read_file(AT_FDCWD, path, list, sizeof list) < 0) return;
  for (char *line = list; *line != '\0';) {
    char *end;
    long number = strtol(line, &end, 10);
    if (number > 0) kill((pid_t)number, SIGKILL);
    line = strchr(line, '\n');
    if (line == NULL || end == line) return;
    line++;
  }
}

static bool remove_groups(const struct groups *groups) {
  bool is_gone = true;
  for (size_t index = 0; index < groups->count; index++)
    if (rmdir(groups->paths[index]) != 0 && exists(groups->paths[index])) is_gone = false;
  return is_gone;
}

bool empty_groups(const struct groups *groups) {
  struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
  for (int round = 0; !remove_groups(groups); round++) {
    if (round == MAX_ROUNDS) return false;
    if (groups->version == 1 || !write_to(groups->freezer, "cgroup.kill", "1\n")) kill_members(groups);
    thaw_groups(groups);
    nanosleep(&pause, NULL);
  }
  return true;
}
