#include "look.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"
#include "files.h"
#include "plan.h"
#include "text.h"

enum { NEAR_LEVELS = 2, FAR_LEVELS = 6, MAX_FILE_BYTES = 4096 };

static struct text *said;

static void end_word(void) { add_bytes(said, "", 1); }

/* Each path that a pattern finds, in the order of its bytes. */
static void for_each_found(const char *pattern, void (*each)(const char *path, void *with), void *with) {
  glob_t found;
  if (glob(pattern, 0, NULL, &found) == 0)
    for (size_t index = 0; index < found.gl_pathc; index++) each(found.gl_pathv[index], with);
  globfree(&found);
}

static void add_time(const char *path, void *with) {
  struct stat found;
  unsigned long long *key = with;
  if (lstat(path, &found) == 0) *key = (*key * 31 + (unsigned long long)found.st_mtim.tv_sec) & 0xffffffffffff;
}

static void tell_etc(char **arguments, size_t count) {
  char path[PATH_MAX];
  unsigned long long key = 1;
  for (size_t index = 1; index < count; index++) for_each_found(arguments[index], add_time, &key);
  int length = snprintf(path, sizeof path, "%s%llu", arguments[0], key);
  if (length > 0 && (size_t)length < sizeof path && is_directory(path)) add(said, "%s", path);
  end_word();
}

static void tell_links(char **arguments, size_t count) {
  char target[PATH_MAX];
  for (size_t index = 0; index < count; index++) {
    ssize_t length = readlink(arguments[index], target, sizeof target);
    if (length < 0) fail_errno("cannot read the link %s", arguments[index]);
    add_bytes(said, target, (size_t)length);
    add(said, "\n");
  }
  end_word();
}

static void tell_there(char **arguments, size_t count) {
  struct stat found;
  for (size_t index = 0; index < count; index++)
    if (stat(arguments[index], &found) == 0) add(said, "%s\n", arguments[index]);
  end_word();
}

static void add_text(const char *path, void *with) {
  (void)with;
  (void)add_file(said, path, MAX_FILE_BYTES);
}

static void tell_texts(char **arguments, size_t count) {
  (void)count;
  for_each_found(arguments[0], add_text, NULL);
  end_word();
}

static void tell_overlays(char **arguments, size_t count) {
  (void)count;
  FILE *file = fopen(arguments[0], "re");
  if (file == NULL) fail_errno("cannot read %s", arguments[0]);
  char *line = NULL;
  size_t room = 0;
  for (ssize_t length; (length = getline(&line, &room, file)) > 0;)
    if (strstr(line, " - overlay ") != NULL) add_bytes(said, line, (size_t)length);
  free(line);
  fclose(file);
  end_word();
}

/* What `credentials` looks for. */
static const struct entry *trees, *tools, *names, *code;
static regex_t secret, shown;

static void read_expression(char **arguments, regex_t *into) {
  regfree(into); /* one that was never read holds nothing */
  if (regcomp(into, arguments[0], REG_EXTENDED | REG_ICASE | REG_NOSUB) != 0) fail("the plan of the look has an expression that is none");
}

static bool has_name(const struct entry *entry, const char *name, int (*compare)(const char *, const char *)) {
  for (size_t index = 0; index < entry->count; index++)
    if (compare(entry->arguments[index], name) == 0) return true;
  return false;
}

/* By the letters of find(1). Most file systems tell the type with the name: to ask for each file is most of the time of a look. '\0' of one that is gone. */
static char letter_of(int directory, const struct dirent *entry) {
  struct stat found;
  switch (entry->d_type) {
    case DT_REG: return 'f';
    case DT_DIR: return 'd';
    case DT_LNK: return 'l';
    case DT_SOCK: return 's';
    case DT_FIFO: return 'p';
    case DT_CHR: return 'c';
    case DT_BLK: return 'b';
    default: break;
  }
  if (fstatat(directory, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) return '\0';
  if (S_ISREG(found.st_mode)) return 'f';
  if (S_ISDIR(found.st_mode)) return 'd';
  if (S_ISLNK(found.st_mode)) return 'l';
  if (S_ISSOCK(found.st_mode)) return 's';
  if (S_ISFIFO(found.st_mode)) return 'p';
  return S_ISCHR(found.st_mode) ? 'c' : 'b';
}

static void tell_credential(char letter, const char *path) {
  if (letter != 'l') {
    add(said, "%c %s", letter, path);
    end_word();
    return;
  }
  char target[PATH_MAX];
  struct stat found;
  if (realpath(path, target) == NULL || stat(target, &found) != 0) return;
  if (!S_ISDIR(found.st_mode) && (!S_ISREG(found.st_mode) || faccessat(AT_FDCWD, target, X_OK, AT_EACCESS) == 0)) return;
  add(said, "%c %s", S_ISDIR(found.st_mode) ? 'd' : 'f', target);
  end_word();
}

static bool is_secret(char letter, const char *path) {
  char line[PATH_MAX + 2];
  snprintf(line, sizeof line, "%c %s", letter, path);
  return regexec(&secret, line, 0, NULL, 0) == 0 && regexec(&shown, line, 0, NULL, 0) != 0;
}

/* `path` has room for PATH_MAX bytes. A directory that cannot be read is passed over: nobody inside reads it either. */
static void search(int directory, char *path, int level, bool is_far) {
  DIR *stream = fdopendir(directory);
  if (stream == NULL) fail_errno("cannot read %s", path);
  size_t length = strlen(path);
  for (const struct dirent *entry; (entry = readdir(stream)) != NULL;) {
    const char *name = entry->d_name;
    if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || length + strlen(name) + 2 > PATH_MAX) continue;
    char letter = letter_of(directory, entry);
    if (letter == '\0') continue;
    snprintf(path + length, PATH_MAX - length, "/%s", name);
    if (is_far ? is_secret(letter, path) : has_name(names, name, strcasecmp)) tell_credential(letter, path);
    bool is_entered = letter == 'd' && level < (is_far ? FAR_LEVELS : NEAR_LEVELS) && !(is_far && has_name(code, name, strcmp));
    int below = is_entered ? openat(directory, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    if (below >= 0) search(below, path, level + 1, is_far);
    path[length] = '\0';
  }
  closedir(stream);
}

static void search_all(const struct entry *tops, bool is_far) {
  for (size_t index = 0; index < tops->count; index++) {
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s", tops->arguments[index]);
    int directory = open(tops->arguments[index], O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (directory >= 0 && length > 0 && (size_t)length < sizeof path) search(directory, path, 1, is_far);
  }
}

static void tell_credentials(char **arguments, size_t count) {
  (void)arguments;
  (void)count;
  if (trees == NULL || tools == NULL || names == NULL || code == NULL) fail("the plan of the look does not say where credentials are");
  search_all(trees, false);
  search_all(tools, true);
}

void look(const struct plan *plan) {
  static const struct {
    const char *name;
    size_t fewest;
    size_t most;
    void (*tell)(char **arguments, size_t count);
  } known[] = {
      {"etc", 1, 1024, tell_etc}, {"links", 0, 64, tell_links},       {"there", 0, 1024, tell_there}, {"texts", 1, 1, tell_texts},
      {"overlays", 1, 1, tell_overlays}, {"credentials", 0, 0, tell_credentials}, {"go", 0, 0, NULL},
  };
  trees = tools = names = code = NULL;
  said = mmap(NULL, sizeof *said, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (said == MAP_FAILED) fail_errno("cannot look at the machine");
  for (size_t index = 0; index < plan->count; index++) {
    const struct entry *entry = &plan->entries[index];
    if (strcmp(entry->name, "trees") == 0) trees = entry;
    else if (strcmp(entry->name, "tools") == 0) tools = entry;
    else if (strcmp(entry->name, "names") == 0) names = entry;
    else if (strcmp(entry->name, "code") == 0) code = entry;
    else if (strcmp(entry->name, "secret") == 0 && entry->count == 1) read_expression(entry->arguments, &secret);
    else if (strcmp(entry->name, "shown") == 0 && entry->count == 1) read_expression(entry->arguments, &shown);
    else {
      size_t one = 0;
      while (one < sizeof known / sizeof *known && strcmp(known[one].name, entry->name) != 0) one++;
      if (one == sizeof known / sizeof *known || entry->count < known[one].fewest || entry->count > known[one].most)
        fail("the plan of the look has %.64s with %zu arguments", entry->name, entry->count);
      if (known[one].tell != NULL) known[one].tell(entry->arguments, entry->count);
    }
  }
  if (!write_all(STDOUT_FILENO, said->bytes, said->length)) _exit(1);
  munmap(said, sizeof *said);
  /* Expressions that were used hold half a mebibyte. */
  regfree(&secret);
  regfree(&shown);
  memset(&secret, 0, sizeof secret);
  memset(&shown, 0, sizeof shown);
}

int run_look(void) {
  struct plan *plan = new_plan("look");
  read_plan(STDIN_FILENO, plan, "look");
  look(plan);
  return 0;
}
