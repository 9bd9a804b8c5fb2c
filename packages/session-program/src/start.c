#include "start.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asked.h"
#include "child.h"
#include "files.h"
#include "plan.h"

/* Shells say of a program that cannot be started: there is none, or it is none. */
enum { NOT_FOUND = 127, NOT_STARTED = 126, BY_SIGNAL = 128, OPEN_SECONDS = 60 };

static const char *directory;
static const char *id;
static int ending = -1;

static int open_io(const char *suffix, int flags) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/%s.%s", directory, id, suffix);
  return open(path, flags | O_CLOEXEC | O_NOFOLLOW);
}

static void say(const char *line) { (void)write_all(ending, line, strlen(line)); }

static _Noreturn void refuse(const char *word) {
  char line[80];
  snprintf(line, sizeof line, "%.64s\n", word);
  say(line);
  _exit(0);
}

static bool has_program(const char *name) {
  char found[PATH_MAX];
  if (strchr(name, '/') != NULL) return is_program(name);
  const char *path = getenv("PATH");
  return find_in_path(path == NULL ? "/usr/bin:/bin" : path, name, true, found);
}

/* PWD says where a program is as whoever asked for it wrote it, as long as that is a plain path. */
static bool enter(const struct entry *entry) {
  const char *path = entry->arguments[0];
  if (chdir(path) != 0) {
    struct stat found;
    if (entry->count < 2 || stat(path, &found) != 0) return false;
    if (chmod(path, (found.st_mode & 07777) | S_IRWXU) != 0 || chdir(path) != 0) return false;
  }
  char found[PATH_MAX];
  bool is_plain = *path == '/' && strstr(path, "//") == NULL && strstr(path, "/.") == NULL;
  if (is_plain || getcwd(found, sizeof found) != NULL) (void)setenv("PWD", is_plain ? path : found, 1);
  return true;
}

struct start {
  char **run;
  bool has_stdin;
  bool has_terminal;
};

/* Does what the plan says up to its start. What is not known is refused: whoever asks may be of another release. */
static void prepare(const struct plan *plan, struct start *start) {
  for (size_t index = 0; index < plan->count; index++) {
    const struct entry *entry = &plan->entries[index];
    char **words = entry->arguments;
    if (strcmp(entry->name, "unset") == 0) {
      for (size_t word = 0; word < entry->count; word++) (void)unsetenv(words[word]);
    } else if (strcmp(entry->name, "environment") == 0) {
      for (size_t word = 0; word + 1 < entry->count; word += 2) (void)setenv(words[word], words[word + 1], 1);
    } else if (strcmp(entry->name, "directory") == 0 && entry->count > 0) {
      if (!enter(entry)) refuse("no-cwd");
    } else if (strcmp(entry->name, "needs") == 0 && entry->count > 0) {
      for (size_t word = 1; word < entry->count; word++)
        if (!has_program(words[word])) refuse(words[0]);
    } else if (strcmp(entry->name, "stdin") == 0) {
      start->has_stdin = true;
    } else if (strcmp(entry->name, "terminal") == 0) {
      start->has_terminal = true;
    } else if (strcmp(entry->name, "run") == 0 && entry->count > 0) {
      start->run = words;
    } else if (strcmp(entry->name, "go") != 0) {
      refuse("lost");
    }
  }
  if (start->run == NULL) refuse("lost");
}

/* Says which process it is, opens the pipes and becomes the program. */
static _Noreturn void become(const struct start *start, pid_t worker) {
  if (!start->has_terminal) (void)setsid();
  reset_signals();
  char line[64];
  snprintf(line, sizeof line, "started %d %d\n", worker, getpid());
  say(line);
  int input = start->has_stdin ? open_io("in", O_RDONLY) : open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (input < 0 || dup2(input, STDIN_FILENO) < 0) _exit(NOT_STARTED);
  int output = open_io("out", O_WRONLY);
  if (output < 0 || dup2(output, STDOUT_FILENO) < 0) _exit(NOT_STARTED);
  int errors = open_io("err", O_WRONLY);
  if (errors < 0 || dup2(errors, STDERR_FILENO) < 0) _exit(NOT_STARTED);
  execvp(start->run[0], start->run);
  bool is_missing = errno == ENOENT;
  dprintf(STDERR_FILENO, "%.4096s: %s\n", start->run[0], strerror(errno));
  _exit(is_missing ? NOT_FOUND : NOT_STARTED);
}

static _Noreturn void work(void) {
  (void)signal(SIGCHLD, SIG_DFL);
  (void)alarm(OPEN_SECONDS); /* who asked is about to open it */
  ending = open_io("exit", O_WRONLY);
  (void)alarm(0);
  if (ending < 0) _exit(1);
  struct plan *plan = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  int file = open_io("cmd", O_RDONLY);
  if (plan == MAP_FAILED || file < 0 || !load_plan(file, plan)) refuse("lost");
  close(file);
  struct start start = {0};
  prepare(plan, &start);
  pid_t worker = getpid();
  pid_t program = fork();
  if (program < 0) refuse("no-process");
  if (program == 0) become(&start, worker);
  (void)munmap(plan, sizeof *plan);
  int status = 0;
  while (waitpid(program, &status, 0) < 0 && errno == EINTR) continue;
  char line[32];
  snprintf(line, sizeof line, "exit %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : BY_SIGNAL + WTERMSIG(status));
  say(line);
  _exit(0);
}

void start_process(const char *io, const char *identity) {
  if (!is_identity(identity)) return;
  directory = io;
  id = identity;
  pid_t worker = fork();
  if (worker == 0) work();
  if (worker < 0) refuse_asked(io, identity, "no-process");
}
