#include "serve.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fail.h"
#include "files.h"
#include "link.h"
#include "look.h"
#include "plan.h"
#include "session.h"
#include "stage.h"

/* False at the end of input. What came behind the plan before is the beginning of this one. */
static bool await_plan(struct plan *plan) {
  size_t left = plan->length - plan->rest;
  if (left == 0) madvise(plan, sizeof *plan, MADV_DONTNEED); /* what it held is not needed any more */
  memmove(plan->bytes, plan->bytes + plan->rest, left);
  plan->length = left;
  plan->rest = 0;
  if (left == 0) {
    ssize_t got;
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

int run_serve(void) {
  (void)signal(SIGPIPE, SIG_IGN);
  struct plan *plan = new_plan("next thing");
  int lifeline = -1;
  bool is_linked = false;
  while (await_plan(plan)) {
    const struct entry *what = take_first(plan);
    plan->what = what->name;
    if (strcmp(what->name, "look") == 0) {
      look(plan);
      say("end");
    } else if (strcmp(what->name, "stage") == 0) {
      stage(plan);
      say("staged");
    } else if (strcmp(what->name, "link") == 0 && what->count == 2 && !is_linked) {
      if (!begin_link(what->arguments[0], strcmp(what->arguments[1], "program") == 0)) return 0;
      is_linked = true;
    } else if (strcmp(what->name, "session") == 0 && lifeline < 0) {
      if (plan->rest != plan->length) fail("more came behind the plan of the session than was asked for");
      lifeline = session_of(plan);
    } else if (strcmp(what->name, "watch") == 0 && is_linked) {
      madvise(plan, sizeof *plan, MADV_DONTNEED);
      watch_session(lifeline);
      return 0;
    } else {
      fail("the session program does not know how to do %.64s now: it is of another release", what->name);
    }
  }
  return 0;
}
