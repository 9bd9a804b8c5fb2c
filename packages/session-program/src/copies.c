#include "copies.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "fail.h"
#include "files.h"
#include "groups.h"
#include "locks.h"
#include "settings.h"

/* The same numbers as COPY_EXITS in copy-layers.ts. */
enum { UNCONFINED = 93, GONE, BUSY, NO_FREEZER, RESTLESS, LET_GO };
enum { START_LOCK_MS = 60000, DYING_LOCK_MS = 20000, MAX_LOOKS = 500, LOOK_NS = 10000000, LOOKS_UNTIL_AGAIN = 25, FAILED = 1 };
/* Of Linux 5.10. Older kernels pass over a flag that they do not know: what is in force is asked for. */
enum { NO_LINKS = 256, IS_WITHOUT_LINKS = 0x2000 };
/* The same number as COPY_KIB of copy-layers.ts: of all names that share a file cp keeps the path. */
enum { MAX_COPIER_BYTES = 1024 * 1024 * 1024 };

static struct groups groups;

static int open_in(int directory, const char *name) {
  return openat(directory, name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
}

static bool is_in(int directory, const char *name) {
  struct stat found;
  return fstatat(directory, name, &found, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool stands_still(void) {
  char path[PATH_MAX], text[256];
  bool is_first = groups.version == 1;
  int length = snprintf(path, sizeof path, "%s/%s", groups.freezer, is_first ? "freezer.state" : "cgroup.events");
  if (length < 0 || (size_t)length >= sizeof path || read_file(AT_FDCWD, path, text, sizeof text) < 0) return false;
  return is_first ? strcmp(text, "FROZEN\n") == 0 : strstr(text, "frozen 1\n") != NULL;
}

static bool ask_to_stand_still(void) {
  char path[PATH_MAX];
  bool is_first = groups.version == 1;
  int length = snprintf(path, sizeof path, "%s/%s", groups.freezer, is_first ? "freezer.state" : "cgroup.freeze");
  return length > 0 && (size_t)length < sizeof path && write_existing(path, is_first ? "FROZEN\n" : "1\n");
}

/* For five seconds at most; then they go on. Version 1 may have to be asked again. Nothing runs where there is no group. */
static bool freeze(void) {
  if (!is_directory(groups.freezer)) return true;
  bool is_asked = ask_to_stand_still();
  for (int looks = 1; is_asked && !stands_still(); looks++) {
    if (looks == MAX_LOOKS) {
      static const char complaint[] = "the processes do not stand still\n";
      (void)write_all(STDERR_FILENO, complaint, sizeof complaint - 1);
      is_asked = false;
    }
    bool is_again = groups.version == 1 && looks % LOOKS_UNTIL_AGAIN == 0;
    if (is_again) thaw_groups(&groups);
    nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    if (is_again) (void)ask_to_stand_still();
  }
  if (!is_asked) thaw_groups(&groups);
  return is_asked;
}

/*
 * Waits for the end of all who copy, in a process group of its own, and lets the sandbox go. It holds the lock of starts too: who copies next must not freeze
 * what is let go a moment later.
 */
static _Noreturn void keep(int directory, int ended) {
  char byte;
  (void)setsid();
  while (read(ended, &byte, 1) < 0 && errno == EINTR) continue;
  if (!is_in(directory, "paused")) thaw_groups(&groups);
  _exit(0);
}

struct stillness {
  int start, clients, alive;
  bool is_frozen;
  pid_t keeper;
  /* Held by all who copy. */
  int held;
};

static void start_keeper(int directory, struct stillness *still) {
  int ends[2];
  if (pipe(ends) != 0) fail_errno("cannot make pipes");
  still->keeper = fork();
  if (still->keeper < 0) fail_errno("cannot copy");
  if (still->keeper == 0) {
    close(ends[1]);
    keep(directory, ends[0]);
  }
  close(ends[0]);
  still->held = ends[1];
  /* From then on who ends this program and its group does not end that one. */
  while (getsid(still->keeper) != still->keeper && kill(still->keeper, 0) == 0) (void)sched_yield();
}

/* No session starts meanwhile, and none ends because its last client leaves: the copy is a client too. */
static int stand_still(int directory, struct stillness *still) {
  still->start = open_in(directory, "start.lock");
  if (still->start < 0) return GONE;
  if (!lock_within(still->start, LOCK_EX, START_LOCK_MS)) return BUSY;
  still->clients = open_in(directory, "clients.lock");
  still->alive = open_in(directory, "alive.lock");
  if (still->clients < 0 || still->alive < 0) return GONE;
  if (lock_within(still->alive, LOCK_EX, 0)) return 0;
  /* Who ends it has the clients' lock alone, and has said so before that is let go. */
  bool is_ending = !lock_within(still->clients, LOCK_SH, 0) || is_in(directory, "dying");
  if (is_ending && lock_within(still->alive, LOCK_EX, DYING_LOCK_MS)) return 0;
  close(still->alive);
  still->alive = -1;
  if (groups.count == 0) return NO_FREEZER;
  start_keeper(directory, still);
  if (!is_in(directory, "paused") && !freeze()) return RESTLESS;
  still->is_frozen = true;
  return 0;
}

static void go_on(const struct stillness *still) {
  if (still->held >= 0) close(still->held);
  while (still->keeper > 0 && waitpid(still->keeper, NULL, 0) < 0 && errno == EINTR) continue;
  if (still->alive >= 0) close(still->alive);
  if (still->clients >= 0) close(still->clients);
  if (still->start >= 0) close(still->start);
}

static int status_of(pid_t child) {
  int status;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return FAILED;
  return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

/* Everything that a tree is made of: modes, times, hard links, holes, and the overlay's marks. Blocks are shared where the file system can. */
static _Noreturn void become_copier(const char *from, const char *to, bool is_file) {
  struct rlimit memory;
  reset_signals();
  if (getrlimit(RLIMIT_AS, &memory) != 0) _exit(FAILED);
  if (memory.rlim_max > MAX_COPIER_BYTES) memory.rlim_max = MAX_COPIER_BYTES;
  memory.rlim_cur = memory.rlim_max;
  if (setrlimit(RLIMIT_AS, &memory) != 0) _exit(FAILED);
  if (is_file) execlp("cp", "cp", "--", from, to, (char *)NULL);
  execlp("cp", "cp", "-a", "--reflink=auto", "-T", "--", from, to, (char *)NULL);
  _exit(127);
}

static void copy_tree(char **triple) {
  const char *kind = triple[0], *from = triple[1], *to = triple[2];
  char above[PATH_MAX];
  bool is_file = strcmp(kind, "file") == 0;
  if (is_file && !exists(from)) return;
  if (strcmp(kind, "some") == 0 && !is_directory(from)) {
    if (!is_directory(to) && mkdir(to, 0755) != 0) _exit(FAILED);
    return;
  }
  if (strcmp(kind, "upper") == 0) {
    int length = snprintf(above, sizeof above, "%.*s", (int)(strlen(from) - strlen("/upper")), from);
    if (length < 0 || (size_t)length >= sizeof above || chdir(above) != 0 || (!is_directory("upper") && rename("upper.new", "upper") != 0))
      _exit(FAILED);
  }
  pid_t child = fork();
  if (child < 0) _exit(FAILED);
  if (child == 0) become_copier(from, to, is_file);
  int code = status_of(child);
  if (code != 0) _exit(code);
}

/* The layers are made of bytes of an agent's, and cp goes by paths: it runs where no link below the root is followed. */
static _Noreturn void copy_all(char **arguments, size_t count) {
  const char *root = arguments[0];
  struct statvfs found;
  int nothing = open("/dev/null", O_RDWR);
  if (nothing < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(nothing, STDOUT_FILENO) < 0) _exit(FAILED);
  if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
      mount(root, root, NULL, MS_BIND, NULL) != 0 || mount(NULL, root, NULL, MS_REMOUNT | MS_BIND | NO_LINKS, NULL) != 0 ||
      statvfs(root, &found) != 0 || (found.f_flag & IS_WITHOUT_LINKS) == 0 || chdir(root) != 0)
    _exit(UNCONFINED);
  for (size_t index = 1; index + 2 < count; index += 3) copy_tree(arguments + index);
  _exit(0);
}

static void check_copies(const struct entry *copies) {
  if (copies->count % 3 != 1) fail("the plan has a copy without a place");
  for (size_t index = 1; index < copies->count; index += 3) {
    const char *kind = copies->arguments[index], *from = copies->arguments[index + 1];
    bool is_upper = strcmp(kind, "upper") == 0;
    bool is_known = is_upper || strcmp(kind, "tree") == 0 || strcmp(kind, "some") == 0 || strcmp(kind, "file") == 0;
    if (!is_known) fail("there is no copy of the kind %.16s", kind);
    if (is_upper && (strlen(from) <= 6 || strcmp(from + strlen(from) - 6, "/upper") != 0)) fail("the plan has an upper layer that is none");
  }
}

int copy_trees(const struct entry *copies) {
  check_copies(copies);
  pid_t copier = fork();
  if (copier < 0) fail_errno("cannot copy");
  if (copier == 0) copy_all(copies->arguments, copies->count);
  return status_of(copier);
}

int copy_still(const struct entry *still, const struct entry *copies) {
  check_copies(copies);
  groups = (struct groups){0};
  if (still->count == 3) {
    groups.version = (int)parse_number(still->arguments[1], 2);
    groups.freezer = still->arguments[2];
    groups.count = 1;
  }
  int directory = open(still->arguments[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  if (directory < 0) return GONE;
  struct stillness stillness = {.start = -1, .clients = -1, .alive = -1, .held = -1};
  int code = stand_still(directory, &stillness);
  if (code == 0) code = copy_trees(copies);
  if (code == 0 && stillness.is_frozen && !stands_still()) code = LET_GO;
  go_on(&stillness);
  close(directory);
  return code;
}
