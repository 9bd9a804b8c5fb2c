#include "link.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"
#include "files.h"
#include "locks.h"

/* More than the facts of any session take. */
enum { START_LOCK_MS = 60000, MAX_FACTS_BYTES = 2 * 1024 * 1024 };

static int clients = -1;

static void say(const char *text) { (void)write_all(STDOUT_FILENO, text, strlen(text)); }

static void say_alive(void) {
  static char facts[MAX_FACTS_BYTES];
  ssize_t length = read_file(AT_FDCWD, "session.json", facts, sizeof facts);
  if (length > 0) facts[strcspn(facts, "\n")] = '\0';
  say("alive ");
  say(length > 0 ? facts : "");
  say("\n");
}

/* False where there is nothing to wait for. */
static bool say_state(bool is_for_program, bool *is_alive) {
  int start = open_lock("start.lock");
  if (!lock_within(start, LOCK_EX, START_LOCK_MS)) return say("busy\n"), false;
  int alive = open_lock("alive.lock");
  *is_alive = !exists("dying") && !lock_within(alive, LOCK_SH, 0);
  bool goes_on = true;
  if (*is_alive)
    say_alive();
  else if (is_for_program && exists("paused"))
    goes_on = (say("paused\n"), false);
  else if (is_for_program && exists("stopped"))
    goes_on = (say("stopped\n"), false);
  else
    say("none\n");
  close(alive);
  close(start);
  return goes_on;
}

bool begin_link(const char *directory, bool is_for_program, bool *is_alive) {
  if (chdir(directory) != 0) _exit(1);
  clients = open("clients.lock", O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  if (clients < 0) _exit(1);
  while (flock(clients, LOCK_SH) != 0)
    if (errno != EINTR) _exit(1);
  umask(022);
  return say_state(is_for_program, is_alive);
}

void leave_link(void) {
  if (clients >= 0) close(clients);
}

static _Noreturn void tell_end(pid_t parent) {
  leave_link();
  close(STDIN_FILENO);
  if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) _exit(1);
  int alive = open_lock("alive.lock");
  while (flock(alive, LOCK_SH) != 0 && errno == EINTR) continue;
  say("gone\n");
  _exit(0);
}

void watch_lock(void) {
  pid_t parent = getpid();
  pid_t teller = fork();
  if (teller < 0) _exit(1);
  if (teller == 0) tell_end(parent);
}

void await_stdin(int *lifeline) {
  while (*lifeline >= 0) {
    struct pollfd waiting[] = {{.fd = *lifeline, .events = POLLIN}, {.fd = STDIN_FILENO, .events = POLLIN}};
    if (poll(waiting, 2, -1) < 0) {
      if (errno == EINTR) continue;
      _exit(1);
    }
    if (waiting[0].revents != 0) {
      say("gone\n");
      close(*lifeline);
      *lifeline = -1;
    }
    if (waiting[1].revents != 0) return;
  }
}
