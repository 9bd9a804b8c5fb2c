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

enum { MAX_ROUNDS = 100, PAUSE_MS = 20, MAX_LIST_BYTES = 1024 * 1024, MAX_STAT_BYTES = 4096 };

static bool write_to(const char *group, const char *file, const char *text) {
  char path[PATH_MAX];
  int length = snprintf(path, sizeof path, "%s/%s", group, file);
  return length > 0 && (size_t)length < sizeof path && write_existing(path, text);
}

/*
 * In version 1 a 0 in `tasks` moves the thread that writes it, and this program has no other. The same in `cgroup.procs` waits some ten
 * milliseconds first, until every processor has left its forks (cgroup_attach_lock() of Linux).
 */
void enter_groups(const struct groups *groups) {
  const char *file = groups->version == 1 ? "tasks" : "cgroup.procs";
  for (size_t index = 0; index < groups->count; index++)
    if (!write_to(groups->paths[index], file, "0\n")) fail_errno("cannot enter %s", groups->paths[index]);
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

/* Nanoseconds that the kernel counted in the groups; 0 where it counts none, or they are gone. */
static unsigned long long time_used(const struct groups *groups) {
  char path[PATH_MAX], text[MAX_STAT_BYTES];
  const char *file = groups->version == 1 ? "cpuacct.usage" : "cpu.stat";
  for (size_t index = 0; index < groups->count; index++) {
    int length = snprintf(path, sizeof path, "%s/%s", groups->paths[index], file);
    if (length < 0 || (size_t)length >= sizeof path || read_file(AT_FDCWD, path, text, sizeof text) < 0) continue;
    if (groups->version == 1) return strtoull(text, NULL, 10);
    if (strncmp(text, "usage_usec ", 11) == 0) return strtoull(text + 11, NULL, 10) * 1000;
  }
  return 0;
}

/* In place and of one length, as KEEP_TIME of kept-time.ts writes it: who is killed meanwhile leaves a number. */
static void keep_time(unsigned long long used) {
  char text[32];
  int file = open("processor-time", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (file < 0) return;
  ssize_t length = pread(file, text, sizeof text - 1, 0);
  text[length > 0 ? length : 0] = '\0';
  snprintf(text, sizeof text, "%20llu\n", strtoull(text, NULL, 10) + used);
  (void)!pwrite(file, text, strlen(text), 0);
  close(file);
}

bool empty_groups(const struct groups *groups) {
  struct timespec pause = {.tv_nsec = PAUSE_MS * 1000000L};
  unsigned long long used = time_used(groups);
  for (int round = 0; !remove_groups(groups); round++) {
    if (round == MAX_ROUNDS) return false;
    if (groups->version == 1 || !write_to(groups->freezer, "cgroup.kill", "1\n")) kill_members(groups);
    thaw_groups(groups);
    nanosleep(&pause, NULL);
    unsigned long long now = time_used(groups);
    if (now > used) used = now;
  }
  if (used > 0) keep_time(used);
  return true;
}
