#include "relay.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ask.h"
#include "files.h"
#include "plan.h"
#include "settings.h"

enum { MAX_MEMORY_BYTES = 256 * 1024 * 1024, MAX_LINE_BYTES = 4096, PIECE_BYTES = 64 * 1024 };
/* How often a pipe that nobody reads yet is tried, and how long between: at once, then each millisecond, then now and then. */
enum { IMPATIENT_TRIES = 50, NEXT_WAIT_MS = 1, LAST_WAIT_MS = 20 };

/* Bytes on their way from one descriptor to another; -1 where that is closed. */
struct flow {
  int from;
  int to;
  size_t start;
  size_t end;
  char bytes[PIECE_BYTES];
};

static const char *identity;
static struct flow input, output, errors;

static const char *path_of(const char *suffix) {
  static char path[NAME_MAX];
  snprintf(path, sizeof path, "%s.%s", identity, suffix);
  return path;
}

static void remove_files(void) { remove_asked(AT_FDCWD, identity); }

/* Nothing was started: says why. */
static _Noreturn void refuse(const char *word) {
  remove_files();
  char line[MAX_LINE_BYTES];
  int length = snprintf(line, sizeof line, "%.64s\n", word);
  if (length > 0) (void)write_all(STDOUT_FILENO, line, (size_t)length);
  _exit(1);
}

static void close_flow(struct flow *flow) {
  if (flow->from >= 0) close(flow->from);
  if (flow->to >= 0) close(flow->to);
  flow->from = flow->to = -1;
  flow->start = flow->end = 0;
}

static bool is_open(const struct flow *flow) { return flow->from >= 0 || flow->start < flow->end; }

/* Reads where there is room, and writes what there is. Neither waits. */
static void move(struct flow *flow, bool can_read, bool can_write) {
  if (can_read && flow->from >= 0 && flow->start == flow->end) {
    ssize_t got = read(flow->from, flow->bytes, sizeof flow->bytes);
    if (got > 0) {
      flow->start = 0;
      flow->end = (size_t)got;
      can_write = true;
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      close(flow->from);
      flow->from = -1;
    }
  }
  if (can_write && flow->start < flow->end) {
    ssize_t written = write(flow->to, flow->bytes + flow->start, flow->end - flow->start);
    if (written > 0) flow->start += (size_t)written;
    if (written < 0 && errno != EAGAIN && errno != EINTR) close_flow(flow); /* nobody reads it any more */
  }
  if (flow->from < 0 && flow->start == flow->end && flow->to >= 0) close_flow(flow);
}

/* What poll is asked about a flow: whether there is something to read, or room to write it. */
static void prepare(const struct flow *flow, struct pollfd pair[2]) {
  bool is_full = flow->start < flow->end;
  pair[0] = (struct pollfd){.fd = is_full ? -1 : flow->from, .events = POLLIN};
  /* Of what nobody has to write it is only asked whether somebody still reads. */
  pair[1] = (struct pollfd){.fd = flow->to, .events = is_full ? POLLOUT : 0};
}

static void pass(struct flow *flow, const struct pollfd pair[2]) {
  if (pair[1].fd >= 0 && (pair[1].revents & (POLLERR | POLLHUP | POLLNVAL)) != 0 && flow->to >= 0) {
    close_flow(flow);
    return;
  }
  move(flow, pair[0].fd >= 0 && pair[0].revents != 0, pair[1].fd >= 0 && (pair[1].revents & POLLOUT) != 0);
}

/* The descriptor waits for nothing; what it leads to is this process's own end. */
static int unwaiting(int descriptor) {
  int flags = fcntl(descriptor, F_GETFL);
  if (flags >= 0) (void)fcntl(descriptor, F_SETFL, flags | O_NONBLOCK);
  return descriptor;
}

static void begin_output(void) {
  output.from = open(path_of("out"), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  errors.from = open(path_of("err"), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  output.to = unwaiting(STDOUT_FILENO);
  errors.to = unwaiting(STDERR_FILENO);
}

/* The program opens its stdin a moment after it was said to have started. A pipe without a reader cannot be opened for writing. */
static void try_input(void) {
  int pipe = open(path_of("in"), O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  if (pipe < 0 && errno == ENXIO) return;
  if (pipe < 0) {
    close_flow(&input);
    return;
  }
  input.to = pipe;
  input.from = unwaiting(STDIN_FILENO);
}

/* A pipe that nobody has opened for writing never ends by itself. */
static void end_pipe(const char *suffix) {
  int pipe = open(path_of(suffix), O_RDWR | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  if (pipe >= 0) close(pipe);
}

/* Passes on what the program has written, for so long at most; -1 until it has ended. */
static void drain(int milliseconds) {
  while (is_open(&output) || is_open(&errors)) {
    struct pollfd waiting[4];
    prepare(&output, waiting);
    prepare(&errors, waiting + 2);
    int ready = poll(waiting, 4, milliseconds);
    if (ready == 0 || (ready < 0 && errno != EINTR)) return;
    pass(&output, waiting);
    pass(&errors, waiting + 2);
  }
}

static void end_all_pipes(void) {
  end_pipe("out");
  end_pipe("err");
  remove_files();
  close_flow(&input);
  drain(0);
}

/* What is not read yet is passed on by a process that nobody waits for: whoever started this one is told at once how it ended. */
static _Noreturn void finish(int code) {
  end_all_pipes();
  if ((!is_open(&output) && !is_open(&errors)) || fork() != 0) _exit(code);
  close(STDIN_FILENO);
  drain(-1);
  _exit(0);
}

/* The session has ended, or somebody has ended the process that would have said how this one ended. */
static _Noreturn void lose(bool has_begun) {
  if (!has_begun && exists("../dying")) refuse("ending");
  end_all_pipes();
  (void)kill(getpid(), SIGKILL);
  _exit(1);
}

/* The words that the place itself says where it starts nothing. All others are those of a program that found the pipe. */
static bool is_refusal(const char *word) {
  static const char *const words[] = {"no-cwd", "no-program", "no-terminal", "no-fifo", "no-process"};
  for (size_t index = 0; index < sizeof words / sizeof *words; index++)
    if (strcmp(words[index], word) == 0) return true;
  return false;
}

/* A line from inside, where anything may have been written. */
static void hear(char *line, bool *has_begun, bool has_stdin) {
  char *rest = line + strcspn(line, " ");
  if (*rest == ' ') *rest++ = '\0';
  if (strcmp(line, "exit") == 0) finish((int)(strtol(rest, NULL, 10) & 0xff));
  if (*has_begun) return; /* a program's own words into a pipe of ours */
  if (strcmp(line, "started") != 0) refuse(is_refusal(line) ? line : "lost");
  *has_begun = true;
  char told[MAX_LINE_BYTES + 16];
  int length = snprintf(told, sizeof told, "started %s\n", rest);
  if (length > 0) (void)write_all(STDOUT_FILENO, told, (size_t)length);
  begin_output();
  if (has_stdin) input.from = STDIN_FILENO;
}

/* It runs outside of the sandbox's limits, and hears what a program inside writes: many times what it takes, and no more. */
static bool limit_itself(void) {
#ifdef __SANITIZE_ADDRESS__
  return true; /* which takes terabytes of addresses */
#endif
  struct rlimit memory = {MAX_MEMORY_BYTES, MAX_MEMORY_BYTES}, none = {0, 0};
  return setrlimit(RLIMIT_AS, &memory) == 0 && setrlimit(RLIMIT_CORE, &none) == 0;
}

/* Reads the plan, and no byte of what comes behind it. */
static bool read_exactly(char *into, size_t length) {
  for (size_t done = 0; done < length;) {
    ssize_t got = read(STDIN_FILENO, into + done, length - done);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    done += (size_t)got;
  }
  return true;
}

int run_relay(const char *io, const char *id, bool has_stdin, const char *length_of_plan) {
  static char plan[MAX_PLAN_BYTES];
  (void)signal(SIGPIPE, SIG_IGN);
  identity = id;
  if (strlen(id) > 64 || strchr(id, '/') != NULL || !limit_itself() || chdir(io) != 0) return 1;
  size_t plan_length = parse_number(length_of_plan, sizeof plan);
  if (!read_exactly(plan, plan_length)) return 1;
  umask(022);
  input = output = errors = (struct flow){.from = -1, .to = -1};
  const char *refusal = ask_for(AT_FDCWD, identity, plan, plan_length);
  if (refusal != NULL) refuse(refusal);
  /* A session that ends lets go of whoever waits there: of who comes later it is known by its mark, which was there first. */
  int ends = open(path_of("exit"), O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOFOLLOW);
  if (ends < 0 || exists("../dying")) lose(false);
  char line[MAX_LINE_BYTES];
  size_t length = 0;
  bool has_begun = false;
  for (int tries = 0;;) {
    bool waits_for_input = has_begun && input.from >= 0 && input.to < 0;
    if (waits_for_input) {
      input.from = -1;
      try_input();
      waits_for_input = input.to < 0 && has_stdin;
      if (waits_for_input) input.from = STDIN_FILENO;
    }
    struct pollfd waiting[7] = {{.fd = ends, .events = POLLIN}};
    prepare(&output, waiting + 1);
    prepare(&errors, waiting + 3);
    prepare(&input, waiting + 5);
    if (waits_for_input) waiting[5].fd = waiting[6].fd = -1;
    int wait = !waits_for_input ? -1 : tries < IMPATIENT_TRIES ? 0 : tries < 2 * IMPATIENT_TRIES ? NEXT_WAIT_MS : LAST_WAIT_MS;
    if (waits_for_input && tries < 2 * IMPATIENT_TRIES) tries++;
    if (poll(waiting, 7, wait) < 0) {
      if (errno == EINTR) continue;
      lose(has_begun);
    }
    pass(&output, waiting + 1);
    pass(&errors, waiting + 3);
    if (!waits_for_input) pass(&input, waiting + 5);
    if (waiting[0].revents == 0) continue;
    ssize_t got = read(ends, line + length, sizeof line - 1 - length);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) lose(has_begun);
    length += (size_t)got;
    line[length] = '\0';
    for (char *end; (end = strchr(line, '\n')) != NULL;) {
      *end = '\0';
      size_t used = (size_t)(end - line) + 1;
      hear(line, &has_begun, has_stdin);
      memmove(line, line + used, length - used + 1);
      length -= used;
    }
    if (length == sizeof line - 1) lose(has_begun); /* no line of ours is that long */
  }
}
