#include "session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asker.h"
#include "child.h"
#include "facts.h"
#include "fail.h"
#include "files.h"
#include "groups.h"
#include "link.h"
#include "locks.h"
#include "pipes.h"
#include "place.h"
#include "plan.h"
#include "scanner.h"
#include "settings.h"
#include "steps.h"

/*
 * Of glibc (malloc/arena.c), which declares it nowhere; absent in other libraries. It gives back the small pieces that malloc keeps for the
 * next caller: each of them holds a page, which malloc_trim() passes over.
 */
extern void __malloc_arena_thread_freeres(void) __attribute__((weak));

enum { START_LOCK_MS = 60000, DYING_LOCK_MS = 20000 };

static struct plan *plan;
static struct settings settings;
static struct place sandbox;
static struct scanner scanner;
/* In the sandbox's directory; `alive` is held as long as anything of the session lives, `start` while it is being started. */
static int alive, start;
/* Held by the process that ends last, so that its end tells of that; -1 where nobody asked to be told. A byte says that the session runs. */
static int lifeline = -1;

static void reap_all(void) {
  while (waitpid(-1, NULL, 0) > 0 || errno == EINTR) continue;
}

/* Ends everything that the session has started, and removes its control groups. */
static bool end_all(void) {
  thaw_groups(&settings.groups);
  kill(-1, SIGKILL); /* all of this namespace but its process 1, which this is */
  thaw_groups(&settings.groups);
  reap_all();
  release_waiting();
  (void)unlink("processors");
  return empty_groups(&settings.groups);
}

static void end_after_failure(void) { (void)end_all(); }

static void note_dying(void) { (void)write_new("dying", "\n", 1, 0644); }

/* One session at a time; whoever comes second is told that one lives. */
static void take_turn(void) {
  if (!lock_within(start, LOCK_EX, START_LOCK_MS)) fail("another process has been starting this sandbox for a minute");
  if (exists("dying")) {
    if (!lock_within(alive, LOCK_EX, DYING_LOCK_MS)) fail("the session before this one does not end");
    (void)unlink("dying");
  } else if (!lock_within(alive, LOCK_EX, 0)) {
    (void)write_all(STDOUT_FILENO, "alive", sizeof "alive");
    _exit(0);
  }
  (void)unlink("processors");
  if (!empty_groups(&settings.groups)) fail("it cannot be ended: processes are left in its control groups");
}

/*
 * Who may have no core file at all cannot be given one byte. Then a crash starts what core_pattern names behind a pipe, and nothing in a
 * sandbox may start a program of the machine's root.
 */
static void refuse_core_program(void) {
  struct rlimit now;
  char pattern[256];
  if (geteuid() == 0 && !settings.has_own_users) return;
  if (getrlimit(RLIMIT_CORE, &now) != 0 || now.rlim_max != 0) return;
  if (read_file(AT_FDCWD, "/proc/sys/kernel/core_pattern", pattern, sizeof pattern) >= 0 && *pattern != '|') return;
  fail("the hard limit of core files is 0 here: a crash in the sandbox would start the program of /proc/sys/kernel/core_pattern as "
       "root. Raise it (hard core 1 in /etc/security/limits.conf) and log in anew");
}

/*
 * Programs in the network of the sandbox may listen on every port: it is the sandbox's own, and nobody else's port is in there. Where it is
 * not, which is found out later, nothing is changed.
 */
static void open_low_ports(void) {
  char path[64];
  struct stat own, theirs;
  snprintf(path, sizeof path, "/proc/%d/ns/net", sandbox.one);
  int network = open(path, O_RDONLY | O_CLOEXEC);
  if (network < 0 || fstat(network, &theirs) != 0 || stat("/proc/self/ns/net", &own) != 0)
    fail_errno("its network cannot be prepared");
  if (own.st_ino == theirs.st_ino && own.st_dev == theirs.st_dev) {
    close(network);
    return;
  }
  if (!settings.has_own_users) {
    /* Who may enter that network may come back. Without the way back nothing goes on. */
    int back = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (back < 0 || setns(network, CLONE_NEWNET) != 0) fail_errno("its network cannot be prepared");
    bool is_open = write_existing("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0\n");
    int error = errno;
    if (setns(back, CLONE_NEWNET) != 0) fail_errno("its network cannot be left");
    close(back);
    close(network);
    errno = error;
    if (!is_open) fail_errno("its network cannot be prepared");
    return;
  }
  pid_t child = fork();
  if (child < 0) fail_errno("its network cannot be prepared");
  if (child == 0)
    _exit(setns(network, CLONE_NEWNET) == 0 && write_existing("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0\n") ? 0 : errno);
  close(network);
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  errno = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
  fail_errno("its network cannot be prepared");
}

/* The first process of the sandbox, which is what process 1 has started. */
static pid_t first_process(void) {
  char path[64], text[64];
  snprintf(path, sizeof path, "/proc/%d/task/%d/children", sandbox.one, sandbox.one);
  if (read_file(AT_FDCWD, path, text, sizeof text) < 0) fail_errno("the first process of the sandbox ended");
  pid_t first = (pid_t)strtol(text, NULL, 10);
  if (first <= 0) fail("the first process of the sandbox ended");
  return first;
}

static void tell_facts(int host_proc) {
  struct text *text = mmap(NULL, sizeof *text, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (text == MAP_FAILED) fail_errno("cannot tell what the kernel says");
  add_facts(text, &(struct subject){
                      .one = sandbox.one,
                      .first = first_process(),
                      .descriptors = sandbox.descriptors,
                      .started = sandbox.started,
                      .host_proc = host_proc,
                      .has_own_users = settings.has_own_users,
                      .disk = settings.disk,
                      .disk_size = settings.disk_size,
                  });
  if (!write_all(STDOUT_FILENO, text->bytes, text->length)) fail_errno("cannot tell what the kernel says");
  munmap(text, sizeof *text);
}

/* Waits for `go` and what is to be known of the session before anyone may use it, and notes that. */
static void await_go(void) {
  char *answer = read_line(STDIN_FILENO, plan);
  if (answer == NULL || strncmp(answer, "go ", 3) != 0) {
    (void)end_all();
    _exit(1);
  }
  char *kept = answer + 3;
  size_t length = strlen(kept);
  kept[length] = '\n';
  if (!write_new("session.json", kept, length + 1, 0600)) {
    (void)write_all(STDOUT_FILENO, "unwritable", sizeof "unwritable");
    (void)end_all();
    _exit(1);
  }
  (void)write_all(STDOUT_FILENO, "running", sizeof "running");
}

/* Ends when the last client has gone: each of them holds a lock as long as it lives. */
static _Noreturn void await_clients(void) {
  clean_up = NULL;
  close(alive);
  int clients = open_lock("clients.lock");
  while (flock(clients, LOCK_EX) != 0)
    if (errno != EINTR) _exit(1);
  _exit(0);
}

/* Waits until bubblewrap or the change scanner has ended, the last client has gone or somebody says stop. */
static void await_end(void) {
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  sigprocmask(SIG_BLOCK, &children, NULL);
  int ended = signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  int stop = open_pipe("stop.fifo");
  if (ended < 0) fail_errno("cannot wait for the end of the session");
  pid_t clients = fork();
  if (clients < 0) fail_errno("cannot wait for the clients of the session");
  if (clients == 0) {
    reset_signals();
    await_clients();
  }
  for (;;) {
    pid_t child;
    while ((child = waitpid(-1, NULL, WNOHANG)) > 0)
      if (child == sandbox.started || child == scanner.started || child == clients) return;
    struct pollfd waiting[] = {{.fd = ended, .events = POLLIN}, {.fd = stop, .events = POLLIN}};
    if (poll(waiting, 2, -1) < 0 && errno != EINTR) return;
    struct signalfd_siginfo told;
    while (read(ended, &told, sizeof told) > 0) continue;
    if (waiting[1].revents != 0) return;
  }
}

/* Nothing of who started it stays open, and the plan is not needed any more. */
static void let_go(int host_proc) {
  asker = STDIN_FILENO;
  if (lifeline >= 0) (void)write_all(lifeline, "\n", 1);
  if (lifeline >= 0) close(lifeline);
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (nothing < 0) fail_errno("cannot open /dev/null");
  for (int descriptor = 0; descriptor < 3; descriptor++) (void)dup2(nothing, descriptor);
  close(nothing);
  close(host_proc);
  (void)flock(start, LOCK_UN); /* whoever keeps the session alive has it open too */
  close(start);
  close(sandbox.status);
  close(sandbox.ready);
  close(scanner.status);
  madvise(plan, sizeof *plan, MADV_DONTNEED);
}

/* As process 1 of a namespace of its own: when it ends, however that came, the kernel ends whatever is in there. */
static _Noreturn void supervise(int host_proc) {
  asker = STDIN_FILENO;
  if (getpid() != 1 || getppid() != 0 || mount("proc", "/proc", "proc", 0, NULL) != 0)
    fail_errno("it has no process namespace of its own");
  for (size_t index = 0; index < settings.unwanted->count; index++) (void)umount2(settings.unwanted->arguments[index], MNT_DETACH);
  take_turn();
  clean_up = end_after_failure;
  refuse_core_program();
  do_steps(plan);
  make_session_pipes();
  start_place(&sandbox, &settings, "io", "bwrap-errors");
  start_scanner(&scanner, &settings);
  await_scanner(&scanner);
  await_place(&sandbox);
  open_low_ports();
  tell_facts(host_proc);
  await_go();
  let_go(host_proc);
  await_end();
  note_dying();
  (void)end_all();
  _exit(0);
}

static void write_map(const char *path, unsigned outside) {
  char map[32];
  snprintf(map, sizeof map, "0 %u 1", outside);
  if (!write_existing(path, map)) fail_errno("no user namespace can be made");
}

/* Namespaces for mounts and for the processes that are started from here on. */
static void leave_namespaces(void) {
  uid_t user = geteuid();
  gid_t group = getegid();
  int users = settings.has_own_users ? CLONE_NEWUSER : 0;
  if (unshare(users | CLONE_NEWNS | CLONE_NEWPID) != 0) fail_errno("cannot make namespaces");
  if (settings.has_own_users) {
    if (!write_existing("/proc/self/setgroups", "deny")) fail_errno("no user namespace can be made");
    write_map("/proc/self/uid_map", user);
    write_map("/proc/self/gid_map", group);
  }
  if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) fail_errno("cannot make the mounts of the session private");
}

/* Holds the lock that says that the session lives, and ends when all of it is gone. Nobody's child from here on. */
static _Noreturn void keep_alive(void) {
  leave_link();
  if (setsid() < 0) fail_errno("cannot begin a session");
  int host_proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (host_proc < 0) fail_errno("cannot open /proc");
  if (chdir(settings.directory) != 0) fail_errno("the directory of the sandbox is gone");
  umask(022);
  alive = open_lock("alive.lock");
  start = open_lock("start.lock");
  leave_namespaces();
  pid_t supervisor = fork();
  if (supervisor < 0) fail_errno("cannot start the session");
  if (supervisor == 0) supervise(host_proc);
  int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int descriptor = 0; descriptor < 3 && nothing >= 0; descriptor++) (void)dup2(nothing, descriptor);
  close(nothing);
  close(host_proc);
  /* `start` stays open: where the start fails, nobody may begin another one, or copy, before `alive` is let go of. */
  madvise(plan, sizeof *plan, MADV_DONTNEED);
  int status = 0;
  while (waitpid(supervisor, &status, 0) < 0 && errno == EINTR) continue;
  /* One that was killed took everything with it but its control groups. Whoever starts the next session waits for that. */
  if (WIFSIGNALED(status)) {
    note_dying();
    (void)empty_groups(&settings.groups);
  }
  _exit(0);
}

static pid_t start_session(void) {
  read_settings(plan, &settings);
  check_steps(plan);
  pid_t keeper = fork();
  if (keeper < 0) fail_errno("cannot start the session");
  if (keeper == 0) keep_alive();
  return keeper;
}

int session_of(struct plan *given) {
  int ends[2];
  char byte;
  plan = given;
  if (pipe2(ends, O_CLOEXEC) != 0) fail_errno("cannot make pipes");
  lifeline = ends[1];
  /* Every process of the session would begin with what was used until now: 180 KiB. */
  if (__malloc_arena_thread_freeres != NULL) __malloc_arena_thread_freeres();
  malloc_trim(0);
  pid_t keeper = start_session();
  close(lifeline);
  lifeline = -1;
  /* What comes by stdin until then is the session's. */
  ssize_t got;
  while ((got = read(ends[0], &byte, 1)) < 0 && errno == EINTR) continue;
  if (got == 1) return ends[0];
  close(ends[0]);
  while (waitpid(keeper, NULL, 0) < 0 && errno == EINTR) continue;
  return -1;
}

int run_session(void) {
  signal(SIGPIPE, SIG_IGN);
  plan = new_plan("session");
  read_plan(STDIN_FILENO, plan, "session");
  pid_t keeper = start_session();
  /* Ended with the call that started it; what it started lives on. */
  while (waitpid(keeper, NULL, 0) < 0 && errno == EINTR) continue;
  return 0;
}
