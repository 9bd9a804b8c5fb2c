#include "child.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <linux/capability.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asker.h"
#include "fail.h"
#include "files.h"

enum { MAX_COMPLAINT_BYTES = 4096, MAX_CAPABILITIES = 64 };

/* What may ever be gained again. */
static void drop_bounds(void) {
  for (int capability = 0; capability < MAX_CAPABILITIES; capability++)
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) {
      if (errno != EINVAL) fail_errno("cannot drop capability %d", capability);
      break; /* the kernel knows no more */
    }
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) fail_errno("cannot drop the ambient capabilities");
}

static void drop_capabilities(void) {
  struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
  struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {0};
  if (syscall(SYS_capset, &header, none) != 0) fail_errno("cannot drop capabilities");
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) fail_errno("cannot refuse new privileges");
}

void become_user(uid_t user, gid_t group) {
  if (setgroups(0, NULL) != 0) fail_errno("cannot leave the groups of this user");
  drop_bounds();
  if (setresgid(group, group, group) != 0 || setresuid(user, user, user) != 0) fail_errno("cannot become user %u", user);
  drop_capabilities();
}

void drop_rights(void) {
  drop_bounds();
  drop_capabilities();
}

void close_from(unsigned first) {
#ifdef SYS_close_range
  if (syscall(SYS_close_range, first, ~0U, 0) == 0) return;
#endif
  DIR *directory = opendir("/proc/self/fd");
  if (directory == NULL) fail_errno("cannot close descriptors");
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    int descriptor = atoi(entry->d_name);
    if (descriptor >= (int)first && descriptor != dirfd(directory)) close(descriptor);
  }
  closedir(directory);
}

void reset_signals(void) {
  for (int number = 1; number < NSIG; number++) (void)signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
}

const char *find_program(const char *name) {
  static char found[PATH_MAX];
  const char *path = getenv("PATH");
  if (path == NULL || !find_in_path(path, name, false, found)) fail("the program %s is missing", name);
  return found;
}

/* Reads both pipes to their ends. */
static void drain(int output, int complaints, char *into, size_t size, char *complaint) {
  struct pollfd pipes[] = {{.fd = output, .events = POLLIN}, {.fd = complaints, .events = POLLIN}};
  struct {
    char *into;
    size_t size;
    size_t length;
  } ends[] = {{into, size, 0}, {complaint, MAX_COMPLAINT_BYTES, 0}};
  while (pipes[0].fd >= 0 || pipes[1].fd >= 0) {
    if (poll_beside_asker(pipes, 2) < 0 && errno != EINTR) break;
    for (int index = 0; index < 2; index++) {
      if (pipes[index].fd < 0 || pipes[index].revents == 0) continue;
      char piece[4096];
      ssize_t got = read(pipes[index].fd, piece, sizeof piece);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        pipes[index].fd = -1;
        continue;
      }
      size_t room = ends[index].into == NULL ? 0 : ends[index].size - 1 - ends[index].length;
      size_t kept = (size_t)got < room ? (size_t)got : room; /* what is more is read and forgotten */
      if (kept > 0) memcpy(ends[index].into + ends[index].length, piece, kept);
      ends[index].length += kept;
    }
  }
  for (int index = 0; index < 2; index++)
    if (ends[index].into != NULL) ends[index].into[ends[index].length] = '\0';
}

void run_shell(const char *text, char *output, size_t size) {
  int out[2], complaints[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(complaints, O_CLOEXEC) != 0) fail_errno("cannot make pipes");
  pid_t child = fork();
  if (child < 0) fail_errno("cannot start a shell");
  if (child == 0) {
    clean_up = NULL;
    int nothing = open("/dev/null", O_RDONLY);
    if (nothing < 0 || dup2(nothing, 0) < 0 || dup2(out[1], 1) < 0 || dup2(complaints[1], 2) < 0) _exit(126);
    close_from(3);
    reset_signals();
    execlp("sh", "sh", "-c", text, (char *)NULL);
    _exit(127);
  }
  close(out[1]);
  close(complaints[1]);
  char complaint[MAX_COMPLAINT_BYTES];
  drain(out[0], complaints[0], output, size, complaint);
  close(out[0]);
  close(complaints[0]);
  int status;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  if (*complaint == '\0') fail("a step of the session fails with %d", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  fail("%s", complaint);
}
