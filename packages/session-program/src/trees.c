#include "trees.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"

/* Each level takes two descriptors. What is deeper is moved to the top. */
enum { MAX_LEVELS = 32 };

/* The tree that is being removed, and how much was moved to its top. */
static int top;
static unsigned long lifted;

/* Opens a directory. An ordinary user's agent closes one to its owner by its mode, by paths that are longer than a path may be. */
static int enter(int parent, const char *name) {
  const int flags = O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
  struct stat found;
  int place = openat(parent, name, O_RDONLY | flags);
  if (place < 0 && errno == EACCES) {
    char path[64];
    int closed = openat(parent, name, O_PATH | flags);
    snprintf(path, sizeof path, "/proc/self/fd/%d", closed);
    if (closed >= 0 && chmod(path, S_IRWXU) == 0) place = openat(parent, name, O_RDONLY | flags);
    if (closed >= 0) close(closed);
  }
  if (place >= 0 && fstat(place, &found) == 0 && (found.st_mode & S_IRWXU) != S_IRWXU) (void)fchmod(place, S_IRWXU);
  return place;
}

/* Under a name that is nobody's there: an agent may have taken some. */
static bool lift(int parent, const char *name) {
  char free_name[64];
  do {
    snprintf(free_name, sizeof free_name, ".lifted-%d-%lu", getpid(), ++lifted);
    if (renameat(parent, name, top, free_name) == 0) return true;
  } while (errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR);
  return false;
}

static bool remove_below(int parent, const char *name, int level);

static bool remove_all(int place, int level) {
  int copy = dup(place);
  DIR *entries = copy < 0 ? NULL : fdopendir(copy);
  if (entries == NULL) {
    if (copy >= 0) close(copy);
    return false;
  }
  rewinddir(entries);
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
  int place = enter(parent, name);
  if (place < 0) return false;
  if (level == MAX_LEVELS) {
    close(place);
    return lift(parent, name);
  }
  bool is_done = remove_all(place, level + 1);
  close(place);
  return is_done && unlinkat(parent, name, AT_REMOVEDIR) == 0;
}

static bool remove_top(const char *path) {
  if (unlink(path) == 0 || errno == ENOENT || rmdir(path) == 0) return true;
  top = enter(AT_FDCWD, path);
  if (top < 0) return false;
  unsigned long before;
  bool is_done;
  do {
    before = lifted;
    is_done = remove_all(top, 1);
  } while (is_done && lifted != before);
  close(top);
  return is_done && rmdir(path) == 0;
}

void remove_tree(const char *path, const char *shell_text) {
  if (!remove_top(path)) run_shell(shell_text, NULL, 0);
}
