#include "remove.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "end_session.h"
#include "fail.h"
#include "files.h"
#include "groups.h"
#include "plan.h"
#include "settings.h"
#include "trees.h"

/* The number is STAGING_EXITS.byShell of linux-sandbox. */
enum { FAILED = 1, BY_SHELL = 92 };
enum { MAX_ROUNDS = 20 };

static const char *directory, *gone;
static struct groups groups;

static _Noreturn void refuse(const char *what) {
  (void)write_all(STDERR_FILENO, what, strlen(what));
  (void)write_all(STDERR_FILENO, "\n", 1);
  _exit(FAILED);
}

static const struct known known[] = {
    {"directory", 2, 2}, {"groups", 0, MAX_GROUPS + 2}, {"marks", 0, 64}, {"trees", 0, 8},
    {"files", 0, 8},     {"by-shell", 1, 9},            {"sweep", 4, 64}, {"go", 0, 0},
};

static void check_plan(const struct plan *plan) {
  check_entries(plan, known, sizeof known / sizeof *known);
  if (need_entry(plan, "by-shell")->count != need_entry(plan, "trees")->count + 1)
    fail("the plan of the removal has not one text for each tree");
}

static bool has_mark(const struct entry *marks) {
  for (size_t index = 0; index < marks->count; index++)
    if (exists(marks->arguments[index])) return true;
  return false;
}

static bool has_unfinished(const char *path) {
  DIR *entries = opendir(path);
  if (entries == NULL) return false;
  bool is_found = false;
  for (struct dirent *entry; !is_found && (entry = readdir(entries)) != NULL;) is_found = strncmp(entry->d_name, ".unfinished-", 12) == 0;
  closedir(entries);
  return is_found;
}

static bool has_unused_bases(const char *path, unsigned long kept, const char *prefix) {
  DIR *entries = opendir(path);
  if (entries == NULL) return false;
  unsigned long count = 0;
  bool is_found = false;
  for (struct dirent *entry; !is_found && (entry = readdir(entries)) != NULL;) {
    if (entry->d_name[0] == '.') continue;
    is_found = ++count > kept || strncmp(entry->d_name, prefix, strlen(prefix)) == 0 || strcspn(entry->d_name, ".-") % 2 != 0;
  }
  closedir(entries);
  return is_found;
}

static bool has_to_sweep(const struct entry *sweep) {
  char **arguments = sweep->arguments;
  if (has_unused_bases(arguments[1], parse_number(arguments[2], 1000000), arguments[3])) return true;
  for (size_t index = 4; index < sweep->count; index++)
    if (has_unfinished(arguments[index])) return true;
  return false;
}

/* A program that was just ending may make it anew behind the first removal. */
static void remove_directory(const char *shell_text) {
  for (int round = 0; is_directory(directory); round++) {
    if (round == MAX_ROUNDS) refuse("its directory comes back");
    if (rename(directory, gone) != 0 && errno != ENOTEMPTY && errno != EEXIST && errno != ENOENT) refuse(strerror(errno));
    remove_tree(gone, shell_text);
  }
  remove_tree(gone, shell_text);
}

int run_remove(void) {
  (void)signal(SIGPIPE, SIG_IGN);
  struct plan *plan = new_plan("removal");
  read_plan(STDIN_FILENO, plan, "removal");
  check_plan(plan);
  directory = need_entry(plan, "directory")->arguments[0];
  gone = need_entry(plan, "directory")->arguments[1];
  read_groups(need_entry(plan, "groups"), &groups);
  if (has_mark(need_entry(plan, "marks"))) return BY_SHELL;
  umask(022);
  /* One that is half gone has no session, but groups. */
  if (chdir(directory) != 0 && chdir("/") != 0) fail_errno("cannot enter %s", directory);
  const char *left = end_session(&groups);
  if (left != NULL) refuse(left);
  if (chdir("/") != 0) fail_errno("cannot leave %s", directory);
  char **texts = need_entry(plan, "by-shell")->arguments;
  remove_directory(texts[0]);
  const struct entry *trees = need_entry(plan, "trees"), *files = need_entry(plan, "files");
  const struct entry *sweep = need_entry(plan, "sweep");
  for (size_t index = 0; index < trees->count; index++) remove_tree(trees->arguments[index], texts[index + 1]);
  for (size_t index = 0; index < files->count; index++)
    if (unlink(files->arguments[index]) != 0 && errno != ENOENT) refuse(strerror(errno));
  if (has_to_sweep(sweep)) run_shell(sweep->arguments[0], NULL, 0);
  return 0;
}
