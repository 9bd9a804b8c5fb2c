#include "files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool write_all(int descriptor, const char *bytes, size_t length) {
  while (length > 0) {
    ssize_t written = write(descriptor, bytes, length);
    if (written < 0) {
      if (errno == EINTR) continue;
      return false;
    }
    bytes += written;
    length -= (size_t)written;
  }
  return true;
}

ssize_t read_file(int directory, const char *path, char *into, size_t size) {
  int file = openat(directory, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file < 0) return -1;
  size_t length = 0;
  while (length < size - 1) {
    ssize_t got = read(file, into + length, size - 1 - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      int error = errno;
      close(file);
      errno = error;
      return -1;
    }
    if (got == 0) break;
    length += (size_t)got;
  }
  close(file);
  into[length] = '\0';
  return (ssize_t)length;
}

static bool write_and_close(int file, const char *text, size_t length) {
  bool is_written = write_all(file, text, length);
  int error = errno;
  if (close(file) != 0 && is_written) return false;
  errno = error;
  return is_written;
}

bool write_existing(const char *path, const char *text) {
  int file = open(path, O_WRONLY | O_CLOEXEC);
  return file >= 0 && write_and_close(file, text, strlen(text));
}

bool write_new(const char *path, const char *text, size_t length, mode_t mode) {
  int file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, mode);
  return file >= 0 && write_and_close(file, text, length);
}

bool is_program(const char *path) { return access(path, X_OK) == 0 && !is_directory(path); }

bool find_in_path(const char *path, const char *name, bool trusted, char *found) {
  for (;; path++) {
    size_t length = strcspn(path, ":");
    int written = snprintf(found, PATH_MAX, "%.*s%s%s", (int)length, path, length > 0 ? "/" : "", name);
    bool is_allowed = *name != '\0' && (*path == '/' || trusted);
    if (is_allowed && written > 0 && written < PATH_MAX && is_program(found)) return true;
    path += length;
    if (*path == '\0') return false;
  }
}

bool exists(const char *path) {
  struct stat found;
  return lstat(path, &found) == 0;
}

bool is_directory(const char *path) {
  struct stat found;
  return stat(path, &found) == 0 && S_ISDIR(found.st_mode);
}

bool make_directories(const char *path) {
  char part[PATH_MAX];
  size_t length = strlen(path);
  if (length >= sizeof part) {
    errno = ENAMETOOLONG;
    return false;
  }
  memcpy(part, path, length + 1);
  for (char *at = part + 1; *at != '\0'; at++) {
    if (*at != '/') continue;
    *at = '\0';
    if (mkdir(part, 0777) != 0 && errno != EEXIST && !is_directory(part)) return false;
    *at = '/';
  }
  return mkdir(part, 0777) == 0 || is_directory(part);
}

bool remove_entries(const char *path) {
  DIR *directory = opendir(path);
  if (directory == NULL) return false;
  bool is_done = true;
  int error = 0;
  for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    if (unlinkat(dirfd(directory), entry->d_name, 0) == 0 || errno == ENOENT || errno == EISDIR) continue;
    error = errno;
    is_done = false;
  }
  closedir(directory);
  errno = error;
  return is_done;
}
