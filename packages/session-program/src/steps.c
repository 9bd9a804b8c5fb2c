#include "steps.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "child.h"
#include "fail.h"
#include "files.h"
#include "mounts.h"
#include "settings.h"

enum { MAX_COPY_BYTES = 64 * 1024 };

/* PATH...: directories, where they are missing. */
static void make_places(char **arguments, size_t count) {
  for (size_t index = 0; index < count; index++)
    if (!is_directory(arguments[index]) && mkdir(arguments[index], 0777) != 0) fail_errno("cannot make %s", arguments[index]);
}

/* SOURCE TARGET */
static void bind_step(char **arguments, size_t count) {
  (void)count;
  mount_bind(arguments[0], arguments[1]);
}

/* PATH: from here on the current directory. */
static void enter(char **arguments, size_t count) {
  (void)count;
  if (chdir(arguments[0]) != 0) fail_errno("cannot enter %s", arguments[0]);
}

/* OPTIONS TARGET */
static void overlay_step(char **arguments, size_t count) {
  (void)count;
  if (!mount_overlay(arguments[0], arguments[1])) fail_errno("cannot mount %s", arguments[1]);
}

/* SHELL-TEXT, then OPTIONS TARGET for each overlay: the text is run where one of them cannot be mounted. */
static void overlays_or(char **arguments, size_t count) {
  bool are_mounted = true;
  for (size_t index = 1; index + 1 < count; index += 2)
    if (!mount_overlay(arguments[index], arguments[index + 1])) are_mounted = false;
  if (!are_mounted) run_shell(arguments[0], NULL, 0);
}

/* SHELL-TEXT: run where somebody asked for a fresh upper layer. */
static void order_layers(char **arguments, size_t count) {
  (void)count;
  heal_upper_layer();
  if (!is_directory("frozen") && mkdir("frozen", 0777) != 0) fail_errno("cannot make frozen");
  if (exists("wants-fresh-upper")) {
    run_shell(arguments[0], NULL, 0);
    heal_upper_layer();
  }
  read_frozen_layers();
}

/* The first part of a path would be another one: there is none of that length. */
static void join(char path[PATH_MAX], const char *directory, const char *name) {
  int length = snprintf(path, PATH_MAX, "%s/%s", directory, name);
  if (length < 0 || length >= PATH_MAX) fail("%.64s is too long for a path", name);
}

/* DIRECTORY, number of NAMEs, NAME..., TREE...: marks in the directory, as overlays have them, that hide each name that none of the trees has. */
static void hide_absent(char **arguments, size_t count) {
  char path[PATH_MAX];
  size_t names = parse_number(arguments[1], count - 2);
  if (!is_directory(arguments[0]) && mkdir(arguments[0], 0777) != 0) fail_errno("cannot make %s", arguments[0]);
  for (size_t name = 2; name < names + 2; name++) {
    bool is_there = false;
    for (size_t tree = names + 2; tree < count && !is_there; tree++) {
      join(path, arguments[tree], arguments[name]);
      is_there = exists(path);
    }
    join(path, arguments[0], arguments[name]);
    if (is_there && unlink(path) != 0 && errno != ENOENT) fail_errno("cannot show %s", arguments[name]);
    if (!is_there && !exists(path) && mknod(path, S_IFCHR, makedev(0, 0)) != 0) fail_errno("cannot hide %s", arguments[name]);
  }
}

/* SHELL-TEXT */
static void shell_step(char **arguments, size_t count) {
  (void)count;
  run_shell(arguments[0], NULL, 0);
}

/* PATH...: control groups, with those above them. */
static void make_groups(char **arguments, size_t count) {
  for (size_t index = 0; index < count; index++)
    if (!make_directories(arguments[index])) fail_errno("cannot make control groups");
}

/* PATH TEXT WHAT: a file of the kernel's. */
static void set_step(char **arguments, size_t count) {
  (void)count;
  if (!write_existing(arguments[0], arguments[1])) fail_errno("cannot limit %s", arguments[2]);
}

/* The same, of a file that some kernels have. */
static void set_if_there(char **arguments, size_t count) {
  if (exists(arguments[0])) set_step(arguments, count);
}

/* PATH TEXT: nobody has to have it. */
static void try_set(char **arguments, size_t count) {
  (void)count;
  (void)write_existing(arguments[0], arguments[1]);
}

/* SOURCE TARGET WHAT: a file of the kernel's gets what another one holds. */
static void copy_step(char **arguments, size_t count) {
  (void)count;
  char text[MAX_COPY_BYTES];
  if (read_file(AT_FDCWD, arguments[0], text, sizeof text) < 0 || !write_existing(arguments[1], text))
    fail_errno("cannot choose %s", arguments[2]);
}

/* GROUP CONTROLLER...: the groups below may have these controllers. */
static void hand_out(char **arguments, size_t count) {
  char path[PATH_MAX], given[MAX_COPY_BYTES], word[64];
  join(path, arguments[0], "cgroup.subtree_control");
  for (size_t index = 1; index < count; index++) {
    ssize_t length = read_file(AT_FDCWD, path, given + 1, sizeof given - 2);
    if (length < 0) fail_errno("cannot read %s", path);
    given[0] = ' ';
    for (char *end = strchr(given, '\n'); end != NULL; end = strchr(end, '\n')) *end = ' ';
    snprintf(word, sizeof word, " %.60s ", arguments[index]);
    given[length + 1] = ' ';
    given[length + 2] = '\0';
    if (strstr(given, word) != NULL) continue;
    snprintf(word, sizeof word, "+%.60s\n", arguments[index]);
    if (!write_existing(path, word)) fail_errno("cannot hand out %s below %s", arguments[index], arguments[0]);
  }
}

/* PATH TEXT MODE: a file of the session's own, in place of what it held. The mode is octal. */
static void write_step(char **arguments, size_t count) {
  (void)count;
  mode_t mode = 0;
  for (const char *digit = arguments[2]; *digit >= '0' && *digit <= '7'; digit++) mode = mode * 8 + (mode_t)(*digit - '0');
  if (!write_new(arguments[0], arguments[1], strlen(arguments[1]), mode & 0777)) fail_errno("cannot make %s", arguments[0]);
}

static const struct step {
  const char *name;
  void (*run)(char **arguments, size_t count);
  size_t fewest;
  size_t most;
} steps[] = {
    {"places", make_places, 0, MAX_WORDS},
    {"bind", bind_step, 2, 2},
    {"enter", enter, 1, 1},
    {"overlay", overlay_step, 2, 2},
    {"overlays-or", overlays_or, 1, MAX_WORDS},
    {"layers", order_layers, 1, 1},
    {"hide-absent", hide_absent, 2, MAX_WORDS},
    {"shell", shell_step, 1, 1},
    {"make-groups", make_groups, 1, 64},
    {"set", set_step, 3, 3},
    {"set-if-there", set_if_there, 3, 3},
    {"try-set", try_set, 2, 2},
    {"copy", copy_step, 3, 3},
    {"hand-out", hand_out, 2, 64},
    {"write", write_step, 3, 3},
    {"go", NULL, 0, 0},
};

static const struct step *find_step(const char *name) {
  for (size_t index = 0; index < sizeof steps / sizeof *steps; index++)
    if (strcmp(steps[index].name, name) == 0) return &steps[index];
  fail("the session program does not know the step %.64s: it is of another release", name);
}

void check_steps(const struct plan *plan) {
  for (size_t index = 0; index < plan->count; index++) {
    const struct entry *entry = &plan->entries[index];
    if (is_setting(entry->name)) continue;
    const struct step *step = find_step(entry->name);
    if (entry->count < step->fewest || entry->count > step->most) fail("the step %s has %zu arguments", entry->name, entry->count);
  }
}

void do_steps(const struct plan *plan) {
  for (size_t index = 0; index < plan->count; index++) {
    const struct entry *entry = &plan->entries[index];
    if (is_setting(entry->name)) continue;
    const struct step *step = find_step(entry->name);
    if (step->run != NULL) step->run(entry->arguments, entry->count);
  }
}
