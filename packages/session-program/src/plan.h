#ifndef LITTERBOX_PLAN_H
#define LITTERBOX_PLAN_H

#include <stdbool.h>
#include <stddef.h>

/*
 * A plan is what the program is told by stdin: entries, each of words that end with a NUL. An entry is its name, the number of its
 * arguments in decimal digits, and these. The entry `go` of no arguments ends the plan. What follows is left for read_line.
 */
struct entry {
  const char *name;
  char **arguments;
  size_t count;
};

enum { MAX_ENTRIES = 4096, MAX_WORDS = 2 * 1024 * 1024, MAX_PLAN_BYTES = 4 * 1024 * 1024 };

struct plan {
  /* What it is the plan of. */
  const char *what;
  struct entry entries[MAX_ENTRIES];
  size_t count;
  /* Words of all entries. */
  char *words[MAX_WORDS + MAX_ENTRIES];
  size_t word_count;
  char bytes[MAX_PLAN_BYTES];
  size_t length;
  /* Where in `bytes` that begins which came behind the plan. */
  size_t rest;
};

/* One with nothing in it. Ends the program where there is no memory, and says of `what` it is the plan. */
struct plan *new_plan(const char *what);

/* Reads a plan from a descriptor. Ends the program where it is none, and says of `what` it is none. */
void read_plan(int descriptor, struct plan *plan, const char *what);

/* Reads all of a file. Returns whether it is a plan. */
bool load_plan(int descriptor, struct plan *plan);

/* Reads entries from bytes that are all there. Returns NULL, or what is wrong; "" where more bytes are needed. */
const char *parse_plan(struct plan *plan);

/* The first entry of that name, or NULL. */
const struct entry *find_entry(const struct plan *plan, const char *name);

/* The same; ends the program where there is none. */
const struct entry *need_entry(const struct plan *plan, const char *name);

/* An entry that a plan may have, and how many arguments it takes. */
struct known {
  const char *name;
  size_t fewest;
  size_t most;
};

/* Ends the program where the plan has any other entry. */
void check_entries(const struct plan *plan, const struct known *known, size_t count);

/* Reads on up to a line end, which becomes a NUL. Returns NULL at the end of input, or where the line is longer than fits. */
char *read_line(int descriptor, struct plan *plan);

#endif
