#include "stage.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "awaited.h"
#include "child.h"
#include "copies.h"
#include "fail.h"
#include "files.h"
#include "plan.h"
#include "settings.h"

/* The same numbers as EXITS in sandbox-directories.ts. */
enum { FAILED = 1, TAKEN = 88, BASE_MISSING = 89, NETWORK_FILE_SYSTEM = 90, UNMAKEABLE = 91 };
/* The same number as `killed` of COPY_EXITS in copy-layers.ts. */
enum { NOBODY_WAITS = 99 };

static const char *parent, *unfinished, *whole;
static bool is_begun;

/* What was made is removed. It is nobody's yet, and no list shows it. */
static _Noreturn void end_with(int code) {
  if (is_begun && chdir("/") == 0) {
    pid_t child = fork();
    if (child == 0) {
      reset_signals();
      execlp("rm", "rm", "-rf", "--", unfinished, (char *)NULL);
      _exit(127);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR) continue;
  }
  _exit(code);
}

static _Noreturn void refuse(int code, const char *path) {
  char text[8192];
  int length = snprintf(text, sizeof text, "%s: %s\n", path, strerror(errno));
  if (length > 0) (void)write_all(STDERR_FILENO, text, (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
  end_with(code);
}

static mode_t parse_mode(const char *text) {
  char *end;
  unsigned long mode = strtoul(text, &end, 8);
  if (end == text || *end != '\0' || mode > 0777) fail("the plan of the directory has the mode %.16s", text);
  return (mode_t)mode;
}

static void need_bases(const struct entry *bases) {
  for (size_t index = 0; index < bases->count; index++)
    if (!is_directory(bases->arguments[index])) end_with(BASE_MISSING);
}

/* A lock on it, which ends with this program, tells that somebody is at work. Until it is taken the parent is locked, against sweeps. */
static int begin(void) {
  int above = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (above < 0 || flock(above, LOCK_SH) != 0) refuse(FAILED, parent);
  if (mkdir(unfinished, 0711) != 0) refuse(FAILED, unfinished);
  is_begun = true;
  if (chdir(unfinished) != 0) refuse(FAILED, unfinished);
  int own = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (own < 0 || flock(own, LOCK_EX) != 0) refuse(FAILED, unfinished);
  close(above);
  return own;
}

/* Change times there are those of a server's clock, which no mark of this machine can be compared with. */
static void refuse_network(const struct entry *refused) {
  struct statfs found;
  if (statfs(".", &found) != 0) refuse(FAILED, unfinished);
  char type[32];
  snprintf(type, sizeof type, "%lx", (unsigned long)found.f_type & 0xffffffff);
  for (size_t index = 0; index < refused->count; index++) {
    if (strcmp(refused->arguments[index], type) != 0) continue;
    (void)write_all(STDERR_FILENO, type, strlen(type));
    end_with(NETWORK_FILE_SYSTEM);
  }
}

static void make_all(const struct entry *entry, bool (*make)(const char *name)) {
  mode_t mode = parse_mode(entry->arguments[0]);
  for (size_t index = 1; index < entry->count; index++)
    if (!make(entry->arguments[index]) || chmod(entry->arguments[index], mode) != 0) refuse(FAILED, entry->arguments[index]);
}

static bool make_directory(const char *name) { return mkdir(name, 0700) == 0; }
static bool make_file(const char *name) { return write_new(name, "", 0, 0600); }
static bool make_pipe(const char *name) { return mkfifo(name, 0600) == 0; }

/* A directory that nobody waits for is to leave nothing. */
static void end_unless_awaited(struct plan *plan, const char *word) {
  if (!is_awaited(plan, word)) end_with(NOBODY_WAITS);
}

static void fill(struct plan *plan, const struct entry *entry) {
  if (strcmp(entry->name, "copies") == 0) {
    int code = copy_still(need_entry(plan, "still"), entry);
    if (code != 0) end_with(code);
  }
  if (strcmp(entry->name, "ask") == 0) end_unless_awaited(plan, entry->arguments[0]);
  if (strcmp(entry->name, "move") == 0 && rename(entry->arguments[0], entry->arguments[1]) != 0) refuse(FAILED, entry->arguments[1]);
  if (strcmp(entry->name, "directories") == 0) make_all(entry, make_directory);
  if (strcmp(entry->name, "files") == 0) make_all(entry, make_file);
  if (strcmp(entry->name, "pipes") == 0) make_all(entry, make_pipe);
  char **arguments = entry->arguments;
  if (strcmp(entry->name, "playground") == 0 && mkdir(arguments[0], 0755) != 0 && !is_directory(arguments[0]))
    refuse(FAILED, arguments[0]);
  if (strcmp(entry->name, "write") == 0 && !write_new(arguments[0], arguments[1], strlen(arguments[1]), 0644))
    refuse(FAILED, arguments[0]);
  if (strcmp(entry->name, "owner") != 0) return;
  uid_t user = (uid_t)parse_number(arguments[0], 1UL << 31);
  gid_t group = (gid_t)parse_number(arguments[1], 1UL << 31);
  for (size_t index = 2; index < entry->count; index++)
    if (lchown(arguments[index], user, group) != 0) refuse(FAILED, arguments[index]);
}

static const struct known known[] = {
    {"above", 1, 64},  {"names", 3, 3},   {"bases", 0, 64},     {"refused", 0, 64}, {"directories", 1, 256}, {"files", 1, 256},
    {"pipes", 1, 256}, {"owner", 2, 256}, {"playground", 1, 1}, {"write", 2, 2},    {"still", 1, 3},       {"copies", 4, 64},
    {"ask", 1, 1},     {"move", 2, 2},    {"go", 0, 0},
};

void stage(struct plan *plan) {
  check_entries(plan, known, sizeof known / sizeof *known);
  char **names = need_entry(plan, "names")->arguments;
  parent = names[0];
  unfinished = names[1];
  whole = names[2];
  const struct entry *above = need_entry(plan, "above"), *bases = need_entry(plan, "bases");
  umask(077);
  for (size_t index = 0; index < above->count; index++)
    if (!is_directory(above->arguments[index]) && !make_directories(above->arguments[index])) refuse(UNMAKEABLE, above->arguments[index]);
  if (exists(whole)) end_with(TAKEN);
  need_bases(bases);
  umask(022);
  int own = begin();
  refuse_network(need_entry(plan, "refused"));
  /* Once more behind the lock: a removal may have taken away what nobody stood on. */
  need_bases(bases);
  for (size_t index = 0; index < plan->count; index++) fill(plan, &plan->entries[index]);
  if (rename(unfinished, whole) == 0) {
    close(own); /* whoever removes it later is not to find somebody at work */
    return;
  }
  if (is_directory(whole)) end_with(TAKEN);
  refuse(FAILED, whole);
}

int run_stage(void) {
  (void)signal(SIGPIPE, SIG_IGN);
  struct plan *plan = new_plan("directory");
  read_plan(STDIN_FILENO, plan, "directory");
  stage(plan);
  return 0;
}
