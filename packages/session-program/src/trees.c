#include "trees.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "child.h"

/* Deeper trees, and those in which the agent has closed directories, are left to `rm`. */
enum { MAX_LEVELS = 32 };

static bool remove_below(int parent, const char *name, int level);

static bool remove_all(int place, int level) {
  int copy = dup(place);
  DIR *entries = copy < 0 ? NULL : fdopendir(copy);
  if (entries == NULL) {
    if (copy >= 0) close(copy);
    return false;
  }
  bool is_done = true;
  for (struct dirent *entry; is_done && (entry = readdir(entries)) != NULL;)
    if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0) is_done = remove_below(place, entry->d_name, level);
  closedir(entries);
  return is_done;
}

/* Links are removed and never followed. */
static bool remove_below(int parent, const char *name, int level) {
  if (unlinkat(parent, name, 0) == 0 || errno == ENOENT) return true;
  if (unlinkat(parent, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return true;
  if (level == MAX_LEVELS) return false;
  int place = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (place < 0) return false;
  bool is_done = remove_all(place, level + 1);
  close(place);
  return is_done && unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

void remove_tree(const char *path, const char *shell_text) {
  if (!remove_below(AT_FDCWD, path, 0)) run_shell(shell_text, NULL, 0);
}
