#include "serve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ask.h"
#include "asked.h"
#include "fail.h"
#include "files.h"
#include "link.h"
#include "look.h"
#include "plan.h"
#include "session.h"
#include "stage.h"

/* False at the end of input. What came behind the plan before is the beginning of this one. */
static bool await_plan(struct plan *plan, int *watched) {
  size_t left = plan->length - plan->rest;
  if (left == 0) madvise(plan, sizeof *plan, MADV_DONTNEED); /* what it held is not needed any more */
  memmove(plan->bytes, plan->bytes + plan->rest, left);
  plan->length = left;
  plan->rest = 0;
  if (left == 0) {
    ssize_t got;
    await_stdin(watched);
    while ((got = read(STDIN_FILENO, plan->bytes, 1)) < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    plan->length = 1;
  }
  read_plan(STDIN_FILENO, plan, "next thing");
  return true;
}

static const struct entry *take_first(struct plan *plan) {
  static struct entry first;
  first = plan->entries[0];
  plan->count--;
  memmove(plan->entries, plan->entries + 1, plan->count * sizeof *plan->entries);
  return &first;
}

static void say(const char *word) {
  if (!write_all(STDOUT_FILENO, word, strlen(word) + 1)) _exit(1);
}

/* IO ID WORD...: one of the two directories of pipes. The answer is one line with the ID, for others may be asked meanwhile. */
static void ask_by(const struct entry *what) {
  const char *place = what->arguments[0], *identity = what->arguments[1];
  /* The words of an entry are one behind the other. */
  const char *last = what->arguments[what->count - 1], *first = identity + strlen(identity) + 1;
  if (strcmp(place, "io") != 0 && strcmp(place, "scan-io") != 0) fail("there are no pipes in %.64s", place);
  if (!is_identity(identity)) fail("no process has the name %.64s", identity);
  int io = open(place, O_PATH | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  const char *refusal = io < 0 ? "no-fifo" : ask_for(io, identity, first, (size_t)(last + strlen(last) + 1 - first));
  if (io >= 0) close(io);
  char line[128];
  int length = snprintf(line, sizeof line, "%s %s\n", refusal == NULL ? "asked" : refusal, identity);
  if (length <= 0 || !write_all(STDOUT_FILENO, line, (size_t)length)) _exit(1);
}

int run_serve(void) {
  (void)signal(SIGPIPE, SIG_IGN);
  struct plan *plan = new_plan("next thing");
  int lifeline = -1, watched = -1;
  bool is_linked = false, is_watched = false, is_alive = false;
  while (await_plan(plan, &watched)) {
    const struct entry *what = take_first(plan);
    plan->what = what->name;
    if (strcmp(what->name, "look") == 0) {
      if (!is_alive) look(plan); /* nobody starts what lives */
      say("end");
    } else if (strcmp(what->name, "stage") == 0) {
      stage(plan);
      say("staged");
    } else if (strcmp(what->name, "link") == 0 && what->count == 2 && !is_linked) {
      if (!begin_link(what->arguments[0], strcmp(what->arguments[1], "program") == 0, &is_alive)) return 0;
      is_linked = true;
    } else if (strcmp(what->name, "session") == 0 && lifeline < 0) {
      if (plan->rest != plan->length) fail("more came behind the plan of the session than was asked for");
      lifeline = session_of(plan);
    } else if (strcmp(what->name, "watch") == 0 && is_linked && !is_watched) {
      is_watched = true;
      watched = lifeline;
      if (lifeline < 0) watch_lock();
    } else if (strcmp(what->name, "ask") == 0 && is_watched && what->count >= 2) {
      ask_by(what);
    } else {
      fail("the session program does not know how to do %.64s now: it is of another release", what->name);
    }
  }
  return 0;
}
