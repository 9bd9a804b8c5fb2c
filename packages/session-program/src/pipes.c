#include "pipes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"
#include "files.h"

enum { MAX_ROUNDS = 5 };

static const char *const places[] = {"io", "scan-io"};

static bool make_pipes(void) {
  for (size_t place = 0; place < 2; place++) {
    static const char *const names[] = {"control", "ready"};
    for (size_t name = 0; name < 2; name++) {
      char path[PATH_MAX];
      snprintf(path, sizeof path, "%s/%s", places[place], names[name]);
      /* The mode of a new one is cut by the umask. */
      if (mkfifo(path, 0600) != 0 || chmod(path, 0666) != 0) return false;
    }
  }
  return true;
}

void make_session_pipes(void) {
  for (int round = 0; !make_pipes(); round++) {
    if (round == MAX_ROUNDS) fail_errno("cannot make pipes");
    for (size_t place = 0; place < 2; place++) (void)remove_entries(places[place]);
  }
}

void release_waiting(void) {
  for (size_t place = 0; place < 2; place++) {
    DIR *directory = opendir(places[place]);
    if (directory == NULL) continue;
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
      size_t length = strlen(entry->d_name);
      struct stat found;
      if (length < 5 || strcmp(entry->d_name + length - 5, ".exit") != 0) continue;
      if (fstatat(dirfd(directory), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISFIFO(found.st_mode)) continue;
      int pipe = openat(dirfd(directory), entry->d_name, O_RDWR | O_NOFOLLOW | O_CLOEXEC);
      if (pipe >= 0) close(pipe);
    }
    closedir(directory);
  }
}

int open_pipe(const char *path) {
  int pipe = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
  struct stat found;
  if (pipe < 0 || fstat(pipe, &found) != 0) fail_errno("cannot open %s", path);
  if (!S_ISFIFO(found.st_mode)) fail("%s is no pipe", path);
  return pipe;
}
