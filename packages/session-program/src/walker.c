#include "walker.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "files.h"

enum {
  /* Bytes of a path beyond which nothing is looked at: the same number as LONGEST_PATH_BYTES of sandbox-kit. */
  LONGEST_PATH_BYTES = 3840,
  /* Such a path, or one of an own place such as /frozen/12 with it, and a name. */
  MAX_PATH_BYTES = LONGEST_PATH_BYTES + 64 + NAME_MAX + 2,
  MAX_REQUEST_BYTES = 8 * 1024,
  /* Contents told in one walk. */
  MAX_CONTENT_BYTES = 64 * 1024,
  /* Directories that are listed at once, and how many entries one of them may have. */
  MAX_DIRECTORIES = 8,
  MAX_LISTED = 512,
  MAX_LAYERS = 1024,
  /* Files that are settled in one walk, and all their bytes. */
  MAX_SETTLED = 256,
  MAX_SETTLED_BYTES = 64 * 1024 * 1024,
};

static const int as_directory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

static char boot_id[64];
static int answers;

/* What is being looked at: a path below an own place, whose name is the first `place` bytes. */
static struct {
  char bytes[MAX_PATH_BYTES];
  size_t length;
  size_t place;
} path;

/* Only entries changed since then are told, where there is one. */
static struct timespec since;
static bool has_since;

/* What a walk keeps. */
static size_t content_left;
static unsigned settled;
static unsigned long long settled_bytes;
static unsigned long held;
static char directories[MAX_DIRECTORIES][MAX_PATH_BYTES];
static size_t directory_count;

static struct {
  char bytes[64 * 1024];
  size_t length;
} out;

/* It cannot go on. Whoever asked sees that the answer has no end. */
static _Noreturn void give_up(void) { _exit(1); }

static void flush(void) {
  if (!write_all(answers, out.bytes, out.length)) give_up();
  out.length = 0;
}

static void say(const char *bytes, size_t length) {
  if (length > sizeof out.bytes - out.length) flush();
  if (length > sizeof out.bytes) give_up();
  memcpy(out.bytes + out.length, bytes, length);
  out.length += length;
}

/* Says bytes that may be more than fit at once. */
static void say_pieces(const char *bytes, size_t length) {
  for (size_t said = 0; said < length;) {
    size_t piece = length - said < 4096 ? length - said : 4096;
    say(bytes + said, piece);
    said += piece;
  }
}

static void say_text(const char *text) { say(text, strlen(text) + 1); }

static char letter_of(mode_t mode) {
  if (S_ISREG(mode)) return 'f';
  if (S_ISDIR(mode)) return 'd';
  if (S_ISLNK(mode)) return 'l';
  return S_ISCHR(mode) ? 'c' : 's';
}

void read_boot_id(void) {
  if (read_file(AT_FDCWD, "/proc/sys/kernel/random/boot_id", boot_id, sizeof boot_id) < 0) *boot_id = '\0';
  boot_id[strcspn(boot_id, "\n")] = '\0';
}

static void say_time(void) {
  struct timespec now, real, boot;
  char text[256];
  if (clock_gettime(CLOCK_REALTIME_COARSE, &now) != 0 || clock_gettime(CLOCK_REALTIME, &real) != 0) give_up();
  if (clock_gettime(CLOCK_BOOTTIME, &boot) != 0) give_up();
  double ahead = (double)(real.tv_sec - boot.tv_sec) + (double)(real.tv_nsec - boot.tv_nsec) / 1e9;
  snprintf(text, sizeof text, "T %lld.%09ld %.3f %s", (long long)now.tv_sec, now.tv_nsec, ahead, boot_id);
  say_text(text);
}

/* A content that its owner may read, as long as contents are little. */
static void say_content(int directory, const char *name, const struct stat *found) {
  static char content[MAX_CONTENT_BYTES + 1];
  static char escaped[2 * MAX_CONTENT_BYTES + 2];
  if (found->st_size < 0 || (unsigned long long)found->st_size > content_left || (found->st_mode & S_IRUSR) == 0) return;
  int file = openat(directory, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return;
  struct stat now;
  size_t length = 0;
  ssize_t got = fstat(file, &now) == 0 && S_ISREG(now.st_mode) ? 1 : -1;
  while (got > 0 && length <= content_left) {
    got = read(file, content + length, content_left + 1 - length);
    if (got < 0 && errno == EINTR) got = 1;
    else if (got > 0) length += (size_t)got;
  }
  close(file);
  if (got < 0 || length > content_left) return;
  content_left -= length;
  size_t end = 0;
  escaped[end++] = '=';
  for (size_t index = 0; index < length; index++) {
    bool is_escaped = content[index] == 0 || content[index] == 1;
    if (is_escaped) escaped[end++] = 1;
    escaped[end++] = is_escaped ? (char)(content[index] + 1) : content[index];
  }
  escaped[end++] = '\0';
  say_pieces(escaped, end);
}

/*
 * Begins to write a file to the disk. A page of it that a program has mapped can be written to from the first fault on, and only the next fault is a change by
 * the file's time: without this one, what the program writes after this walk would be in no walk.
 */
static void settle(int directory, const char *name, const struct stat *found) {
  if (settled == MAX_SETTLED || (unsigned long long)found->st_size > MAX_SETTLED_BYTES - settled_bytes) return;
  int file = openat(directory, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
  if (file < 0) return;
  settled++;
  settled_bytes += (unsigned long long)found->st_size;
  (void)sync_file_range(file, 0, found->st_size, SYNC_FILE_RANGE_WRITE);
  close(file);
}

static bool is_older(const struct stat *found) {
  if (!has_since) return false;
  if (found->st_ctim.tv_sec != since.tv_sec) return found->st_ctim.tv_sec < since.tv_sec;
  return found->st_ctim.tv_nsec < since.tv_nsec;
}

static void say_entry(char letter, const struct stat *found, int directory, const char *name) {
  if (is_older(found)) return;
  if (letter == 'd' && directory_count <= MAX_DIRECTORIES) {
    if (directory_count < MAX_DIRECTORIES) memcpy(directories[directory_count], path.bytes, path.length + 1);
    directory_count++;
  }
  char start[96];
  int length = snprintf(start, sizeof start, "%c %llu %o %llu ", letter, (unsigned long long)found->st_ino,
                        (unsigned)(found->st_mode & 07777), (unsigned long long)found->st_size);
  say(start, (size_t)length);
  say(path.bytes, path.length + 1);
  if (letter != 'f') return;
  settle(directory, name, found);
  if (content_left > 0) say_content(directory, name, found);
}

static bool is_self_or_parent(const char *name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

/* The next entry of a directory; NULL at its end. One that was removed meanwhile has ended. */
static const struct dirent *next_entry(DIR *stream) {
  for (;;) {
    errno = 0;
    const struct dirent *entry = readdir(stream);
    if (entry == NULL && errno != 0 && errno != ENOENT) give_up();
    if (entry == NULL || !is_self_or_parent(entry->d_name)) return entry;
  }
}

static DIR *stream_of(int directory) {
  DIR *stream = fdopendir(directory);
  if (stream == NULL) give_up();
  return stream;
}

/* Makes the path longer by a name. Returns how long it was. */
static size_t enter_name(const char *name) {
  size_t before = path.length, length = strlen(name);
  if (before + length + 2 > sizeof path.bytes) give_up();
  if (path.length > 0) path.bytes[path.length++] = '/';
  memcpy(path.bytes + path.length, name, length + 1);
  path.length += length;
  return before;
}

static void leave_name(size_t before) {
  path.length = before;
  path.bytes[before] = '\0';
}

/* Something could not be opened. For any other reason than that it is something else by now, it would be passed over. */
static void assert_swapped(void) {
  if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP) give_up();
}

static bool is_refused(void) { return errno == EACCES || errno == EPERM; }

/* The directory at the path cannot be read. By its times of now: whoever closed it a moment ago has changed it. */
static void say_unreadable(int directory, const char *name) {
  struct stat now;
  if (fstatat(directory, name, &now, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) == 0) say_entry('u', &now, directory, name);
  else if (is_refused()) give_up(); /* the one above was closed too: nobody can say anything of it */
}

/* Tells of a directory and all below it, and closes it. */
static void visit(int directory, const struct stat *found) {
  struct stat self;
  bool is_too_long = path.length - path.place > LONGEST_PATH_BYTES;
  if (is_too_long || fstatat(directory, ".", &self, AT_SYMLINK_NOFOLLOW) != 0) {
    say_unreadable(directory, "");
    close(directory);
    return;
  }
  say_entry('d', found, directory, ".");
  DIR *stream = stream_of(directory);
  bool is_closed = false;
  for (const struct dirent *entry; (entry = next_entry(stream)) != NULL;) {
    struct stat one;
    held++;
    if (fstatat(directory, entry->d_name, &one, AT_SYMLINK_NOFOLLOW) != 0) {
      is_closed = is_closed || is_refused();
      continue;
    }
    size_t before = enter_name(entry->d_name);
    if (!S_ISDIR(one.st_mode)) say_entry(letter_of(one.st_mode), &one, directory, entry->d_name);
    else {
      int below = openat(directory, entry->d_name, as_directory);
      struct stat now;
      if (below >= 0 && fstat(below, &now) == 0) visit(below, &now);
      else if (is_refused()) say_unreadable(directory, entry->d_name);
      else assert_swapped();
    }
    leave_name(before);
  }
  /* It was closed meanwhile. It has been told of as one that can be read: the second word counts. */
  if (is_closed) say_unreadable(directory, "");
  closedir(stream);
}

/* Begins at a place: paths are told without its name. */
static void begin_at(const char *prefix) {
  path.length = path.place = strlen(prefix);
  memcpy(path.bytes, prefix, path.length + 1);
}

/* Opens a directory name by name; -1 with errno where one of them is none. `names` is taken apart. */
static int open_below(int from, char *names) {
  for (char *rest = names, *name; from >= 0 && (name = strtok_r(rest, "/", &rest)) != NULL;) {
    int below = openat(from, name, as_directory);
    int error = errno;
    close(from);
    errno = error;
    from = below;
  }
  return from;
}

static int open_root(void) { return open("/", as_directory); }

static int compare_down(const void *one, const void *other) {
  long a = *(const long *)one, b = *(const long *)other;
  return (a < b) - (a > b);
}

/* Layers below that nobody writes to: one whose own directory has not changed is passed over. */
static void walk_layers(void) {
  static long numbers[MAX_LAYERS];
  size_t count = 0;
  int frozen = open("/frozen", as_directory);
  if (frozen < 0) return;
  DIR *stream = stream_of(frozen);
  for (const struct dirent *entry; (entry = next_entry(stream)) != NULL;) {
    size_t length = strlen(entry->d_name);
    if (length == 0 || length > 9 || strspn(entry->d_name, "0123456789") != length) continue;
    if (count == MAX_LAYERS) give_up();
    numbers[count++] = strtol(entry->d_name, NULL, 10);
  }
  qsort(numbers, count, sizeof *numbers, compare_down);
  for (size_t index = 0; index < count; index++) {
    char text[32];
    struct stat found;
    snprintf(text, sizeof text, "L %ld", numbers[index]);
    int layer = openat(frozen, text + 2, as_directory);
    if (layer < 0) {
      if (!is_refused()) assert_swapped();
      else {
        say_text(text);
        begin_at("");
        say_unreadable(frozen, text + 2);
      }
      continue;
    }
    if (fstat(layer, &found) != 0) give_up();
    if (is_older(&found)) {
      close(layer);
      continue;
    }
    say_text(text);
    begin_at("");
    visit(layer, &found);
  }
  closedir(stream);
}

/* The entries of a directory that changed, as the workspace has them; nothing where they are many. */
static void list_directory(char *changed) {
  /* One behind the other: memory that was used stays the walker's. */
  static char names[MAX_LISTED * (NAME_MAX + 4)];
  size_t length = 0;
  static char copy[MAX_PATH_BYTES];
  memcpy(copy, changed, strlen(changed) + 1);
  int directory = open_below(open("/workspace", as_directory), copy);
  if (directory < 0) return; /* it is asked for by itself */
  DIR *stream = stream_of(directory);
  size_t count = 0;
  for (const struct dirent *entry; (entry = next_entry(stream)) != NULL;) {
    struct stat found;
    if (count++ == MAX_LISTED) {
      closedir(stream);
      return;
    }
    if (fstatat(directory, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) continue;
    length += (size_t)snprintf(names + length, NAME_MAX + 4, "+%c %s", letter_of(found.st_mode), entry->d_name) + 1;
  }
  struct stat self;
  bool is_open = fstatat(directory, ".", &self, AT_SYMLINK_NOFOLLOW) == 0;
  closedir(stream);
  if (!is_open) return;
  say("D ", 2);
  say_text(changed);
  say_pieces(names, length);
}

/* False where the text is no moment. */
static bool read_moment(const char *text) {
  char *end;
  errno = 0;
  since = (struct timespec){.tv_sec = (time_t)strtoll(text, &end, 10)};
  if (errno != 0 || end == text || since.tv_sec < 0) return false;
  if (*end == '\0') return true;
  if (*end++ != '.') return false;
  long unit = 100000000;
  for (; *end >= '0' && *end <= '9'; end++, unit /= 10) since.tv_nsec += (*end - '0') * unit;
  return *end == '\0';
}

static void walk(const char *moment) {
  has_since = *moment != '\0';
  if (has_since && !read_moment(moment)) give_up();
  content_left = MAX_CONTENT_BYTES;
  settled_bytes = settled = 0;
  held = directory_count = 0;
  say_time();
  struct stat found;
  bool is_layer = lstat("/changes", &found) == 0;
  const char *top = is_layer ? "/changes" : "/workspace";
  begin_at("");
  int directory = open(top, as_directory);
  if (directory >= 0 && fstat(directory, &found) == 0) visit(directory, &found);
  else if (lstat(top, &found) != 0) give_up();
  else say_entry('u', &found, AT_FDCWD, top);
  char text[32];
  snprintf(text, sizeof text, "N %lu", held);
  say_text(text);
  content_left = 0;
  if (is_layer) walk_layers();
  if (directory_count <= MAX_DIRECTORIES)
    for (size_t index = 0; index < directory_count; index++) list_directory(directories[index]);
}

/* How many bytes of an absolute path name the own place that it is in: /changes, or /frozen/12. */
static size_t place_length(const char *start) {
  size_t length = 1 + strcspn(start + 1, "/");
  if (strncmp(start, "/frozen/", 8) == 0) length = 8 + strcspn(start + 8, "/");
  return length;
}

/* What was asked for cannot be looked at, for somebody closed a directory on the way. */
static void say_closed(void) {
  say("u 0 0 0 ", 8);
  say(path.bytes, path.length + 1);
}

static void tell_all(char *start) {
  static char copy[MAX_REQUEST_BYTES];
  has_since = false;
  content_left = 0;
  directory_count = MAX_DIRECTORIES + 1; /* none is listed */
  size_t length = strlen(start);
  if (*start != '/' || length >= sizeof path.bytes) give_up();
  memcpy(copy, start, length + 1);
  char *name = strrchr(copy, '/');
  *name++ = '\0';
  struct stat found;
  begin_at(start);
  path.place = place_length(start);
  int above = open_below(open_root(), copy);
  if (above < 0) {
    if (is_refused()) say_closed();
    else assert_swapped();
    return;
  }
  if (fstatat(above, name, &found, AT_SYMLINK_NOFOLLOW) == 0) {
    if (!S_ISDIR(found.st_mode)) say_entry(letter_of(found.st_mode), &found, above, name);
    else {
      int directory = openat(above, name, as_directory);
      if (directory >= 0 && fstat(directory, &found) == 0) visit(directory, &found);
      else if (is_refused()) say_closed();
      else assert_swapped();
    }
  }
  close(above);
}

static void tell_entries(char *start) {
  static char copy[MAX_REQUEST_BYTES];
  if (strlen(start) >= sizeof path.bytes) give_up();
  memcpy(copy, start, strlen(start) + 1);
  int directory = open_below(open_root(), copy);
  begin_at(start);
  if (directory < 0) {
    if (is_refused()) say_closed();
    else assert_swapped();
    return;
  }
  bool is_closed = false;
  DIR *stream = stream_of(directory);
  for (const struct dirent *entry; (entry = next_entry(stream)) != NULL;) {
    struct stat found;
    if (fstatat(directory, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) {
      is_closed = is_closed || is_refused();
      continue;
    }
    char letter[] = {letter_of(found.st_mode), ' '};
    say(letter, sizeof letter);
    say("0 0 0 ", 6);
    say(start, strlen(start));
    say("/", 1);
    say_text(entry->d_name);
  }
  if (is_closed) say_closed();
  closedir(stream);
}

static void answer(char *request) {
  switch (*request) {
    case 'T':
      say_time();
      break;
    case 'W':
      walk(request + 1);
      break;
    case 'A':
      tell_all(request + 1);
      break;
    case 'C':
      tell_entries(request + 1);
      break;
    default:
      give_up();
  }
  say_text("E");
}

void answer_requests(int requests, int to) {
  static char text[MAX_REQUEST_BYTES];
  size_t length = 0;
  answers = to;
  for (;;) {
    ssize_t got = read(requests, text + length, sizeof text - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) give_up();
    if (got == 0) return;
    length += (size_t)got;
    size_t done = 0;
    for (char *end; (end = memchr(text + done, '\0', length - done)) != NULL;) {
      answer(text + done);
      done = (size_t)(end - text) + 1;
    }
    flush();
    if (done == 0 && length == sizeof text) give_up();
    memmove(text, text + done, length - done);
    length -= done;
  }
}
