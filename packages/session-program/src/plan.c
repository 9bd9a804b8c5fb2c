#include "plan.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fail.h"

/* The next word from `*at` on, or NULL where its end is not there yet. */
static char *next_word(struct plan *plan, size_t *at) {
  char *word = plan->bytes + *at;
  char *end = memchr(word, '\0', plan->length - *at);
  if (end == NULL) return NULL;
  *at = (size_t)(end - plan->bytes) + 1;
  return word;
}

/* A number of at most seven digits, or -1. */
static long parse_count(const char *text) {
  size_t length = strlen(text);
  if (length == 0 || length > 7 || strspn(text, "0123456789") != length) return -1;
  long count = 0;
  for (const char *digit = text; *digit != '\0'; digit++) count = count * 10 + (*digit - '0');
  return count;
}

const char *parse_plan(struct plan *plan) {
  /* Anew each time: a plan is read in few pieces. */
  plan->count = 0;
  plan->word_count = 0;
  size_t at = 0;
  for (;;) {
    const char *name = next_word(plan, &at);
    if (name == NULL) return "";
    const char *digits = next_word(plan, &at);
    if (digits == NULL) return strlen(name) < 64 ? "" : "an entry has no name";
    long count = parse_count(digits);
    if (count < 0) return "an entry has no number of arguments";
    if (plan->count == MAX_ENTRIES) return "it has too many entries";
    if ((size_t)count > MAX_WORDS - plan->word_count) return "it has too many words";
    struct entry *entry = &plan->entries[plan->count];
    *entry = (struct entry){.name = name, .arguments = plan->words + plan->word_count + plan->count, .count = (size_t)count};
    for (long index = 0; index < count; index++) {
      char *word = next_word(plan, &at);
      if (word == NULL) return "";
      entry->arguments[index] = word;
    }
    entry->arguments[count] = NULL; /* as execv wants its arguments */
    plan->word_count += (size_t)count;
    plan->count++;
    if (strcmp(name, "go") != 0) continue;
    plan->rest = at;
    return NULL;
  }
}

/* Whether more bytes came. */
static bool read_more(int descriptor, struct plan *plan) {
  for (;;) {
    ssize_t got = read(descriptor, plan->bytes + plan->length, MAX_PLAN_BYTES - plan->length);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    plan->length += (size_t)got;
    return true;
  }
}

struct plan *new_plan(const char *what) {
  struct plan *plan = mmap(NULL, sizeof *plan, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (plan == MAP_FAILED) fail_errno("cannot read the plan of the %s", what);
  return plan;
}

void read_plan(int descriptor, struct plan *plan, const char *what) {
  plan->what = what;
  for (;;) {
    const char *wrong = parse_plan(plan);
    if (wrong == NULL) return;
    if (*wrong != '\0') fail("the plan of the %s is wrong: %s", what, wrong);
    if (plan->length == MAX_PLAN_BYTES) fail("the plan of the %s is wrong: it is too long", what);
    if (!read_more(descriptor, plan)) fail("the plan of the %s ends too soon", what);
  }
}

bool load_plan(int descriptor, struct plan *plan) {
  while (plan->length < MAX_PLAN_BYTES && read_more(descriptor, plan)) continue;
  return parse_plan(plan) == NULL;
}

char *read_line(int descriptor, struct plan *plan) {
  /* The words of the plan stay where they are; the line comes behind them. */
  size_t start = plan->rest;
  for (;;) {
    char *end = memchr(plan->bytes + start, '\n', plan->length - start);
    if (end != NULL) {
      *end = '\0';
      plan->rest = (size_t)(end - plan->bytes) + 1;
      return plan->bytes + start;
    }
    if (plan->length == MAX_PLAN_BYTES || !read_more(descriptor, plan)) return NULL;
  }
}

const struct entry *find_entry(const struct plan *plan, const char *name) {
  for (size_t index = 0; index < plan->count; index++)
    if (strcmp(plan->entries[index].name, name) == 0) return &plan->entries[index];
  return NULL;
}

const struct entry *need_entry(const struct plan *plan, const char *name) {
  const struct entry *found = find_entry(plan, name);
  if (found == NULL) fail("the plan of the %s has no %s", plan->what, name);
  return found;
}

static bool is_known(const struct entry *entry, const struct known *known, size_t count) {
  for (size_t index = 0; index < count; index++)
    if (strcmp(known[index].name, entry->name) == 0) return entry->count >= known[index].fewest && entry->count <= known[index].most;
  return false;
}

void check_entries(const struct plan *plan, const struct known *known, size_t count) {
  for (size_t index = 0; index < plan->count; index++) {
    const struct entry *entry = &plan->entries[index];
    if (!is_known(entry, known, count)) fail("the plan of the %s has %.64s with %zu arguments", plan->what, entry->name, entry->count);
  }
}
