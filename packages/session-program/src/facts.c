#include "facts.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "child.h"
#include "fail.h"
#include "files.h"

/* Of one file of /proc. More is cut, and what is missing then reads as a control that is not there. */
enum { MAX_FILE_BYTES = 256 * 1024, MAX_STATUS_BYTES = 16 * 1024 };

static void end_word(struct text *text) { add_bytes(text, "", 1); }

static void add_word(struct text *text, const char *word) {
  add(text, "%s", word);
  end_word(text);
}

/* As head(1) with -v shows a file; nothing of one that is gone. */
static void add_shown(struct text *text, const char *path) {
  size_t before = text->length;
  add(text, "%s==> %s <==\n", text->length > 0 && text->bytes[text->length - 1] != '\0' ? "\n" : "", path);
  if (!add_file(text, path, MAX_FILE_BYTES)) text->length = before;
}

static void add_descriptors(struct text *text, pid_t process) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "/proc/%d/fdinfo", process);
  DIR *directory = opendir(path);
  if (directory == NULL) fail_errno("cannot see the descriptors of the sandbox");
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    if (*entry->d_name == '.') continue;
    snprintf(path, sizeof path, "/proc/%d/fdinfo/%s", process, entry->d_name);
    add_shown(text, path);
  }
  closedir(directory);
}

/* The program of process 1, by the mount that it is in. */
static void add_program(struct text *text, pid_t one) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/exe", one);
  int program = open(path, O_PATH | O_CLOEXEC);
  if (program < 0) fail_errno("cannot see the program of process 1");
  snprintf(path, sizeof path, "/proc/self/fdinfo/%d", program);
  add(text, "\n==> /proc/self/fdinfo/5 <==\n");
  if (!add_file(text, path, MAX_FILE_BYTES)) fail_errno("cannot see the program of process 1");
  close(program);
}

/* The first number in a file, or 0. */
static pid_t number_in(int directory, const char *path) {
  char text[MAX_STATUS_BYTES];
  if (read_file(directory, path, text, sizeof text) < 0) return 0;
  return (pid_t)strtol(text, NULL, 10);
}

/* Which number a process of the machine has in this process's namespace, or 0. */
static pid_t own_number(int host_proc, pid_t process) {
  char path[64], text[MAX_STATUS_BYTES];
  snprintf(path, sizeof path, "%d/status", process);
  if (read_file(host_proc, path, text, sizeof text) < 0) return 0;
  /* From the machine's namespace inwards; this process's own comes behind those above it. */
  char own[64];
  snprintf(own, sizeof own, "self/status");
  char mine[MAX_STATUS_BYTES];
  if (read_file(host_proc, own, mine, sizeof mine) < 0) return 0;
  const char *line = strstr(text, "\nNSpid:"), *my_line = strstr(mine, "\nNSpid:");
  if (line == NULL || my_line == NULL) return 0;
  char *at = (char *)line + strlen("\nNSpid:"), *my_at = (char *)my_line + strlen("\nNSpid:");
  long number = 0;
  while (strtol(my_at, &my_at, 10) > 0) {
    number = strtol(at, &at, 10);
    if (*my_at == '\n') break;
  }
  return (pid_t)number;
}

/* The first child of a process, in the numbers of the machine. */
static pid_t child_of(int host_proc, pid_t process) {
  char path[64];
  snprintf(path, sizeof path, "%d/task/%d/children", process, process);
  return number_in(host_proc, path);
}

/* The number on the machine of the process that is `started` here. */
static pid_t find_started(int host_proc, pid_t supervisor, pid_t started) {
  char path[64], text[MAX_STATUS_BYTES];
  snprintf(path, sizeof path, "%d/task/%d/children", supervisor, supervisor);
  if (read_file(host_proc, path, text, sizeof text) < 0) return 0;
  for (char *at = text;;) {
    char *end;
    pid_t number = (pid_t)strtol(at, &end, 10);
    if (end == at) return 0;
    if (own_number(host_proc, number) == started) return number;
    at = end;
  }
}

static void add_namespaces(struct text *text, pid_t process) {
  static const char *const names[] = {"user", "pid", "net", "ipc", "uts", "cgroup", "mnt"};
  add_word(text, "namespaces");
  for (size_t index = 0; index < sizeof names / sizeof *names; index++) {
    char path[64], link[64];
    snprintf(path, sizeof path, "/proc/%d/ns/%s", process, names[index]);
    ssize_t length = readlink(path, link, sizeof link - 1);
    if (length < 0) fail_errno("cannot see the namespaces of the sandbox");
    link[length] = '\0';
    add(text, "%s\n", link);
  }
  end_word(text);
}

/* Every NUL is a line end here. */
static void add_environment(struct text *text, pid_t one) {
  char path[64];
  add_word(text, "environment");
  snprintf(path, sizeof path, "/proc/%d/environ", one);
  size_t start = text->length;
  if (!add_file(text, path, MAX_FILE_BYTES)) fail_errno("cannot see the environment of the sandbox");
  for (size_t at = start; at < text->length; at++)
    if (text->bytes[at] == '\0') text->bytes[at] = '\n';
  end_word(text);
}

static void add_disk(struct text *text, const char *point, const char *size) {
  static char mounts[MAX_FILE_BYTES];
  char wanted[PATH_MAX];
  add_word(text, "disk");
  snprintf(wanted, sizeof wanted, " %s ", point);
  if (read_file(AT_FDCWD, "/proc/self/mountinfo", mounts, sizeof mounts) < 0) fail_errno("cannot see the mounts of the session");
  for (char *line = mounts; *line != '\0';) {
    char *end = strchrnul(line, '\n');
    bool is_last = *end == '\0';
    *end = '\0';
    if (strstr(line, wanted) != NULL) add(text, "%s\n", line);
    if (is_last) break;
    line = end + 1;
  }
  if (size != NULL) {
    char said[128];
    run_shell(size, said, sizeof said);
    add(text, "%s", said);
  } else {
    struct statvfs room;
    if (statvfs(point, &room) != 0) fail_errno("cannot see the size of the disk");
    add(text, "%ju %lu\n", (uintmax_t)room.f_blocks, room.f_frsize);
  }
  end_word(text);
}

void add_facts(struct text *text, const struct subject *subject) {
  pid_t supervisor = number_in(subject->host_proc, "self/stat");
  pid_t on_host = find_started(subject->host_proc, supervisor, subject->started);
  /* Below bubblewrap is process 1 of the sandbox, and below that its first process. */
  for (int depth = 0; depth < 2 && on_host > 0; depth++) on_host = child_of(subject->host_proc, on_host);
  add_word(text, "facts");
  add(text, "pid%c%d%csupervisor%c%d%c", 0, on_host, 0, 0, supervisor, 0);
  add_word(text, "descriptors");
  add_word(text, subject->descriptors);
  add_word(text, "files");
  static const char *const files[] = {"status", "limits", "cgroup", "mountinfo"};
  for (size_t index = 0; index < sizeof files / sizeof *files; index++) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/%s", subject->first, files[index]);
    add_shown(text, path);
  }
  add_descriptors(text, subject->one);
  add_descriptors(text, subject->first);
  add_program(text, subject->one);
  end_word(text);
  if (subject->disk != NULL) add_disk(text, subject->disk, subject->disk_size);
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/uid_map", subject->first);
  add_word(text, "users");
  if (!add_file(text, path, MAX_FILE_BYTES)) fail_errno("cannot see the users of the sandbox");
  end_word(text);
  if (subject->has_own_users) {
    add_word(text, "own-users");
    if (!add_file(text, "/proc/self/uid_map", MAX_FILE_BYTES)) fail_errno("cannot see the users of the session");
    end_word(text);
  }
  add_namespaces(text, subject->first);
  add_environment(text, subject->one);
  add_word(text, "end");
}
