#include "scanner.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf_common.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "asked.h"
#include "asker.h"
#include "child.h"
#include "fail.h"
#include "files.h"
#include "mounts.h"
#include "walker.h"

enum {
  /* Of all memory that a walker may have: a buffer for each directory that it is in, of which there are at most two thousand. */
  MAX_MEMORY_BYTES = 256 * 1024 * 1024,
  /* How long somebody who asked for a walker may take to open its pipes. */
  OPEN_SECONDS = 60,
  MAX_INSTRUCTIONS = BPF_MAXINSNS,
  MAX_SIGNALS = 1024,
};

/* Any directory that every machine has: its root is built in there. */
static const char root[] = "/usr";
static const unsigned long locked = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;

static void limit(__rlimit_resource_t resource, rlim_t most) {
  struct rlimit now;
  if (getrlimit(resource, &now) != 0) fail_errno("cannot limit the change scanner");
  if (now.rlim_max < most) most = now.rlim_max;
  if (setrlimit(resource, &(struct rlimit){most, most}) != 0) fail_errno("cannot limit the change scanner");
}

/* A root with the trees that are looked at, and nothing of the machine's. */
static void enter_root(const struct entry *scanned) {
  if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) fail_errno("cannot make the mounts of the change scanner private");
  if (mount("tmpfs", root, "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "size=64k,mode=755") != 0)
    fail_errno("cannot mount the root of the change scanner");
  for (size_t index = 0; index < scanned->count; index += 2) {
    const char *name = scanned->arguments[index + 1];
    char target[64];
    int length = snprintf(target, sizeof target, "%s/%s", root, name);
    if (length < 0 || (size_t)length >= sizeof target || *name == '\0' || strchr(name, '/') != NULL || *name == '.')
      fail("the change scanner cannot have a tree called %.64s", name);
    if (mkdir(target, 0755) != 0) fail_errno("cannot make %s", target);
    mount_bind(scanned->arguments[index], target);
    if (mount(NULL, target, NULL, MS_REMOUNT | MS_BIND | locked, NULL) != 0) fail_errno("cannot lock %s", target);
  }
  if (chdir(root) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", MNT_DETACH) != 0 || chdir("/") != 0)
    fail_errno("cannot enter the root of the change scanner");
  if (mount(NULL, "/", NULL, MS_REMOUNT | MS_BIND | locked, NULL) != 0) fail_errno("cannot lock the root of the change scanner");
}

/* The filter of the sandbox: instructions of eight bytes each. A byte more is read than fits, so that a longer one is seen. */
static struct {
  struct sock_filter instructions[MAX_INSTRUCTIONS + 1];
  unsigned short count;
} filter;

static void read_filter(const char *path) {
  ssize_t length = read_file(AT_FDCWD, path, (char *)filter.instructions, sizeof filter.instructions);
  size_t each = sizeof *filter.instructions;
  if (length <= 0 || (size_t)length % each != 0 || (size_t)length > MAX_INSTRUCTIONS * each)
    fail("%s is no filter of system calls", path);
  filter.count = (unsigned short)((size_t)length / each);
}

/* For who has refused new privileges. */
static void load_filter(void) {
  struct sock_fprog program = {.len = filter.count, .filter = filter.instructions};
  if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0) fail_errno("the filter of system calls cannot be loaded");
}

static int open_io(const char *identity, const char *suffix, int flags) {
  char path[128];
  snprintf(path, sizeof path, "/io/%s.%s", identity, suffix);
  int pipe = open(path, flags | O_CLOEXEC | O_NOFOLLOW);
  if (pipe < 0) _exit(1);
  return pipe;
}

/* One walker: it lives as long as whoever asked for it keeps its pipes. */
static _Noreturn void serve(const char *identity, int control) {
  close(control);
  (void)alarm(OPEN_SECONDS);
  int exit = open_io(identity, "exit", O_WRONLY);
  char line[64];
  int length = snprintf(line, sizeof line, "started %d %d\n", getpid(), getpid());
  if (!write_all(exit, line, (size_t)length)) _exit(1);
  int requests = open_io(identity, "in", O_RDONLY);
  int answers = open_io(identity, "out", O_WRONLY);
  (void)alarm(0);
  answer_requests(requests, answers);
  (void)write_all(exit, "exit 0\n", 7);
  _exit(0);
}

/* `run ID` starts a walker, `kill PID` ends one. Nobody inside of the sandbox can write here. */
static void obey(char *line, const void *control) {
  char *rest = line + strcspn(line, " ");
  if (*rest == ' ') *rest++ = '\0';
  rest[strcspn(rest, " ")] = '\0';
  if (strcmp(line, "run") == 0 && is_identity(rest)) {
    pid_t walker = fork();
    if (walker == 0) serve(rest, *(const int *)control);
    if (walker < 0) refuse_asked("/io", rest, "no-fifo");
    return;
  }
  if (strcmp(line, "kill") != 0) return;
  pid_t walker = (pid_t)strtol(rest, NULL, 10);
  if (walker > 1) (void)kill(walker, SIGKILL);
}

/* As process 1 of a namespace of its own. */
static _Noreturn void become_scanner(const struct settings *settings, int status) {
  clean_up = NULL; /* that is for who waits for it */
  int nothing = open("/dev/null", O_RDWR);
  if (nothing < 0 || dup2(status, STDOUT_FILENO) < 0 || dup2(nothing, STDIN_FILENO) < 0 || dup2(nothing, STDERR_FILENO) < 0) _exit(1);
  close_from(3);
  reset_signals();
  (void)signal(SIGPIPE, SIG_IGN);
  (void)signal(SIGCHLD, SIG_IGN); /* nobody asks how a walker ended */
  limit(RLIMIT_SIGPENDING, MAX_SIGNALS);
  limit(RLIMIT_CORE, settings->core_bytes);
#ifndef __SANITIZE_ADDRESS__
  limit(RLIMIT_AS, MAX_MEMORY_BYTES);
#endif
  limit(RLIMIT_NOFILE, 4096); /* one for each directory that it is in */
  read_boot_id();
  read_filter(settings->filter);
  enter_root(settings->scanned);
  int control = open("/io/control", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (control < 0) fail_errno("the change scanner cannot listen");
  if (settings->changes_user) become_user(settings->user, settings->group);
  else drop_rights();
  if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) fail_errno("cannot start the change scanner");
  load_filter();
  if (!write_all(STDOUT_FILENO, "ready", sizeof "ready")) _exit(1);
  if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) _exit(1);
  obey_lines(control, obey, &control);
}

void start_scanner(struct scanner *scanner, const struct settings *settings) {
  int status[2];
  if (pipe2(status, O_CLOEXEC) != 0) fail_errno("cannot make pipes");
  /* Of its own: what it could do with a network or with other processes, it cannot even see. */
  unsigned long flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP | SIGCHLD;
  scanner->started = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
  if (scanner->started < 0) fail_errno("cannot start the change scanner");
  if (scanner->started == 0) become_scanner(settings, status[1]);
  close(status[1]);
  scanner->status = status[0];
}

void await_scanner(struct scanner *scanner) {
  char said[4096];
  size_t length = 0;
  for (;;) {
    struct pollfd waiting = {.fd = scanner->status, .events = POLLIN};
    if (poll_beside_asker(&waiting, 1) < 0 && errno == EINTR) continue;
    ssize_t got = read(scanner->status, said + length, sizeof said - 1 - length);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    length += (size_t)got;
    if (memchr(said, '\0', length) != NULL || length == sizeof said - 1) break;
  }
  said[length] = '\0';
  if (strcmp(said, "ready") == 0) return;
  fail("%s", strncmp(said, "error ", 6) == 0 ? said + 6 : "the change scanner ended");
}
