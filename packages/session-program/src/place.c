#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "asker.h"
#include "child.h"
#include "fail.h"
#include "files.h"
#include "pipes.h"

/* Descriptors that arguments of bubblewrap name. */
enum { ARGUMENTS = 4, STATUS = 8, FILTER = 9 };
/*
 * Timers and queued signals are counted for a user: without this a sandbox of an ordinary user takes those of the person's own
 * programs.
 */
enum { MAX_SIGNALS = 1024 };

static void limit(__rlimit_resource_t resource, rlim_t most, const char *what) {
  if (setrlimit(resource, &(struct rlimit){most, most}) != 0) fail_errno("cannot limit %s to %lu", what, (unsigned long)most);
}

/* Who may have no core file at all cannot be given one byte: then 0 it is, and a core_pattern that is a program was refused before. */
static rlim_t core_limit(const struct settings *settings) {
  struct rlimit now;
  if (getrlimit(RLIMIT_CORE, &now) != 0) fail_errno("cannot see the limit of core files");
  bool is_bounded = geteuid() != 0 || settings->has_own_users;
  return is_bounded && now.rlim_max < settings->core_bytes ? now.rlim_max : settings->core_bytes;
}

static void use_processors(const struct entry *processors) {
  if (processors->count == 0) return;
  int most = 0;
  for (size_t index = 0; index < processors->count; index++) {
    int number = (int)parse_number(processors->arguments[index], 65535);
    if (number > most) most = number;
  }
  cpu_set_t *set = CPU_ALLOC((size_t)most + 1);
  size_t size = CPU_ALLOC_SIZE((size_t)most + 1);
  if (set == NULL) fail("cannot choose processors");
  CPU_ZERO_S(size, set);
  for (size_t index = 0; index < processors->count; index++)
    CPU_SET_S((size_t)parse_number(processors->arguments[index], 65535), size, set);
  if (sched_setaffinity(0, size, set) != 0) fail_errno("cannot choose processors");
  CPU_FREE(set);
}

/* A file in memory with words that end with a NUL each: nobody else on the machine reads them, as they could arguments. */
static int words_file(const struct entry *entry) {
  int file = memfd_create("arguments", MFD_CLOEXEC);
  if (file < 0) fail_errno("cannot hand over the environment");
  for (size_t index = 0; index < entry->count; index++)
    if (!write_all(file, entry->arguments[index], strlen(entry->arguments[index]) + 1)) fail_errno("cannot hand over the environment");
  if (lseek(file, 0, SEEK_SET) != 0) fail_errno("cannot hand over the environment");
  return file;
}

/* Descriptors are moved above those that they are to become first, so that none is overwritten before its turn. */
static int lifted(int descriptor) {
  int high = fcntl(descriptor, F_DUPFD, 32);
  if (high < 0) fail_errno("cannot start bubblewrap");
  return high;
}

static void set_descriptor(int from, int to) {
  if (dup2(from, to) < 0) fail_errno("cannot start bubblewrap");
}

static _Noreturn void become_bubblewrap(const struct settings *settings, const char *errors, int status) {
  clean_up = NULL; /* that is for who waits for it */
  const char *program = find_program("bwrap");
  enter_groups(&settings->groups);
  limit(RLIMIT_NOFILE, settings->open_files, "open files");
  if (!write_existing("/proc/self/oom_score_adj", "500\n")) fail_errno("cannot prefer the sandbox when memory is short");
  use_processors(settings->processors);
  int arguments = lifted(words_file(settings->environment));
  limit(RLIMIT_SIGPENDING, MAX_SIGNALS, "pending signals");
  rlim_t core = core_limit(settings);
  limit(RLIMIT_CORE, core, "core files");
  int nothing = open("/dev/null", O_RDWR);
  int complaints = open(errors, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW, 0644);
  int filter = open(settings->filter, O_RDONLY);
  if (nothing < 0 || complaints < 0 || filter < 0) fail_errno("cannot start bubblewrap");
  nothing = lifted(nothing);
  complaints = lifted(complaints);
  filter = lifted(filter);
  status = lifted(status);
  if (settings->changes_user) become_user(settings->user, settings->group);
  set_descriptor(nothing, 0);
  set_descriptor(nothing, 1);
  set_descriptor(complaints, 2);
  for (int descriptor = 3; descriptor < STATUS; descriptor++) close(descriptor);
  set_descriptor(arguments, ARGUMENTS);
  set_descriptor(status, STATUS);
  set_descriptor(filter, FILTER);
  close_from(FILTER + 1);
  reset_signals();
  execv(program, settings->sandbox->arguments);
  _exit(127);
}

void start_place(struct place *place, const struct settings *settings, const char *io, const char *errors) {
  char path[PATH_MAX];
  int status[2];
  *place = (struct place){.errors = errors};
  snprintf(path, sizeof path, "%s/ready", io);
  place->ready = open_pipe(path);
  if (pipe2(status, O_CLOEXEC) != 0) fail_errno("cannot make pipes");
  place->status = status[0];
  place->started = fork();
  if (place->started < 0) fail_errno("cannot start bubblewrap");
  if (place->started == 0) become_bubblewrap(settings, errors, status[1]);
  close(status[1]);
}

_Noreturn void fail_place(const struct place *place, const char *what) {
  char complaint[4096];
  if (read_file(AT_FDCWD, place->errors, complaint, sizeof complaint) < 0) *complaint = '\0';
  /* An agent has closed the workspace to itself: it is opened for who tries again. */
  struct stat found;
  if (strstr(complaint, "Can't chdir") != NULL && stat("ws", &found) == 0) (void)chmod("ws", (found.st_mode & 07777) | S_IRWXU);
  fail("%s: %s", what, complaint);
}

static _Noreturn void fail_ended(const struct place *place) {
  int status = 0;
  if (place->one == 0 && waitpid(place->started, &status, 0) == place->started) {
    char what[64];
    snprintf(what, sizeof what, "bubblewrap ended (%d)", WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    fail_place(place, what);
  }
  fail_place(place, "the first process of the sandbox ended");
}

/* What bubblewrap says: JSON, with the number of process 1 at first. The pipe ends with the place. */
static void hear_status(struct place *place) {
  static const char key[] = "\"child-pid\": ";
  char piece[1024];
  ssize_t got = read(place->status, piece, sizeof piece);
  if (got < 0 && errno == EINTR) return;
  if (got <= 0) fail_ended(place);
  size_t room = sizeof place->said - 1 - place->said_length;
  size_t kept = (size_t)got < room ? (size_t)got : room;
  memcpy(place->said + place->said_length, piece, kept);
  place->said_length += kept;
  place->said[place->said_length] = '\0';
  const char *found = strstr(place->said, key);
  if (place->one == 0 && found != NULL && strchr(found, '\n') != NULL) place->one = (pid_t)strtol(found + strlen(key), NULL, 10);
}

/* What the first process says: `ready`, its number and the descriptors that it found open. */
static void hear_ready(struct place *place) {
  size_t room = sizeof place->word - 1 - place->word_length;
  if (room == 0) fail_place(place, "the first process of the sandbox says too much");
  ssize_t got = read(place->ready, place->word + place->word_length, room);
  if (got < 0 && errno == EINTR) return;
  if (got <= 0) fail_place(place, "the first process of the sandbox cannot be heard");
  place->word_length += (size_t)got;
  place->word[place->word_length] = '\0';
  char *end = strchr(place->word, '\n');
  if (end == NULL) return;
  *end = '\0';
  if (strncmp(place->word, "ready ", 6) != 0) fail_place(place, "the first process of the sandbox ended");
  place->descriptors = place->word + 6;
}

void await_place(struct place *place) {
  while (place->one == 0 || place->descriptors == NULL) {
    struct pollfd waiting[] = {
        {.fd = place->status, .events = POLLIN},
        {.fd = place->descriptors == NULL ? place->ready : -1, .events = POLLIN},
    };
    if (poll_beside_asker(waiting, 2) < 0) {
      if (errno == EINTR) continue;
      fail_errno("cannot wait for bubblewrap");
    }
    if (waiting[1].revents != 0) hear_ready(place);
    if (waiting[0].revents != 0) hear_status(place);
  }
}
