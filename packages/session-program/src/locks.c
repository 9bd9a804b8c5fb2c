#include "locks.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "fail.h"

int open_lock(const char *name) {
  int descriptor = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644);
  if (descriptor < 0) fail_errno("cannot open %s", name);
  return descriptor;
}

static void wake(int number) { (void)number; }

static long long now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

bool lock_within(int descriptor, int operation, int milliseconds) {
  if (flock(descriptor, operation | LOCK_NB) == 0) return true;
  if (errno != EWOULDBLOCK) fail_errno("cannot take a lock");
  if (milliseconds == 0) return false;
  long long deadline = now_ms() + milliseconds;
  /* It rings again: an alarm just before the kernel waits would be lost. */
  struct itimerval alarm = {
      .it_value = {.tv_sec = milliseconds / 1000, .tv_usec = milliseconds % 1000 * 1000},
      .it_interval = {.tv_usec = 50000},
  };
  struct sigaction action = {.sa_handler = wake}, before;
  sigaction(SIGALRM, &action, &before);
  setitimer(ITIMER_REAL, &alarm, NULL);
  int taken;
  while ((taken = flock(descriptor, operation)) != 0 && errno == EINTR && now_ms() < deadline) continue;
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
  sigaction(SIGALRM, &before, NULL);
  return taken == 0;
}
