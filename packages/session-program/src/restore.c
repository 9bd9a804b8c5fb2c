#include "restore.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "awaited.h"
#include "copies.h"
#include "end_session.h"
#include "fail.h"
#include "files.h"
#include "groups.h"
#include "locks.h"
#include "plan.h"
#include "settings.h"
#include "trees.h"

/* The same numbers as COPY_EXITS in copy-layers.ts. */
enum { GONE = 94, BUSY, NOBODY_WAITS = 99 };
enum { LOCK_MS = 60000 };
/* While the layers are being replaced the description has the second name: a sandbox without one cannot be opened. */
static const char description[] = "meta.json", put_away[] = "meta.restoring", next[] = "meta.new";
static const char copied[] = "restored";

static const struct known known[] = {
    {"directory", 1, 1}, {"groups", 0, MAX_GROUPS + 2}, {"copies", 4, 64}, {"layers", 1, 16}, {"description", 1, 1}, {"by-shell", 1, 1}, {"go", 0, 0},
};

static void need(bool is_done, const char *what) {
  if (!is_done) fail_errno("cannot replace %s", what);
}

static bool is_own_directory(const char *path) {
  struct stat found;
  return lstat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

static void join(char path[PATH_MAX], const char *prefix, const char *layer) {
  if (strchr(layer, '/') != NULL) fail("the plan has a layer that is a path");
  int length = snprintf(path, PATH_MAX, "%s/%s%s", copied, prefix, layer);
  if (length < 0 || length >= PATH_MAX) fail("the plan has a layer with too long a name");
}

/* The copier holds the lock too: where this program is killed, the next one waits for the end of that. */
static bool lock_copies(void) {
  int lock = open("restore.lock", O_RDWR | O_CREAT | O_NOFOLLOW, 0644);
  if (lock < 0) fail_errno("cannot open restore.lock");
  return lock_within(lock, LOCK_EX, LOCK_MS);
}

static int copy_beside(const struct plan *plan, const char *by_shell) {
  const struct entry *layers = need_entry(plan, "layers");
  char path[PATH_MAX];
  remove_tree(copied, by_shell);
  need(mkdir(copied, 0755) == 0, copied);
  int code = copy_trees(need_entry(plan, "copies"));
  for (size_t index = 0; code == 0 && index < layers->count; index++) {
    join(path, "", layers->arguments[index]);
    if (!is_own_directory(path)) fail("there is no copy of %.64s", layers->arguments[index]);
  }
  return code;
}

static void write_next(const char *text) {
  need((unlink(next) == 0 || errno == ENOENT) && write_new(next, text, strlen(text), 0600), next);
  int file = open(next, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
  need(file >= 0 && fsync(file) == 0, next);
  close(file);
}

/* One that was paused or stopped has nothing left that could go on. */
static void replace(const struct entry *layers) {
  char fresh[PATH_MAX], old[PATH_MAX];
  need(rename(description, put_away) == 0 || errno == ENOENT, description);
  for (size_t index = 0; index < layers->count; index++) {
    const char *layer = layers->arguments[index];
    join(fresh, "", layer);
    join(old, "old-", layer);
    need(!is_own_directory(layer) || rename(layer, old) == 0, layer);
    need(rename(fresh, layer) == 0, layer);
  }
  need(mkdir("home-work", 0755) == 0 || errno == EEXIST, "home-work");
  if (exists("paused")) need(write_new("stopped", "", 0, 0644) && unlink("paused") == 0, "paused");
  (void)unlink("scan-state.json");
  need(rename(next, description) == 0, description);
  (void)unlink(put_away);
}

int run_restore(void) {
  (void)signal(SIGPIPE, SIG_IGN);
  struct plan *plan = new_plan("restore");
  read_plan(STDIN_FILENO, plan, "restore");
  check_entries(plan, known, sizeof known / sizeof *known);
  const char *directory = need_entry(plan, "directory")->arguments[0], *by_shell = need_entry(plan, "by-shell")->arguments[0];
  const char *text = need_entry(plan, "description")->arguments[0];
  struct groups groups = {0};
  read_groups(need_entry(plan, "groups"), &groups);
  umask(022);
  if (chdir(directory) != 0) return GONE;
  if (!lock_copies()) return BUSY;
  int code = copy_beside(plan, by_shell);
  if (code == 0 && !is_awaited(plan, "copied")) code = NOBODY_WAITS;
  int start = -1;
  if (code == 0) {
    /* No session starts meanwhile, not by a program either that has the sandbox open. */
    start = open_lock("start.lock");
    if (!lock_within(start, LOCK_EX, LOCK_MS)) code = BUSY;
  }
  if (code == 0) {
    write_next(text);
    const char *left = end_session(&groups);
    if (left != NULL) fail("%s", left);
    (void)unlink("dying");
    replace(need_entry(plan, "layers"));
  }
  remove_tree(copied, by_shell);
  if (start >= 0) close(start);
  return code;
}
