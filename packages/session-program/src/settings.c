#include "settings.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fail.h"

enum { MAX_SCANNED = 8 };

static const char *const names[] = {"directory", "own-users", "user",        "groups",  "open-files", "core-bytes", "processors",
                                    "filter",    "sandbox",   "environment", "scanned", "unwanted",   "disk"};

bool is_setting(const char *name) {
  for (size_t index = 0; index < sizeof names / sizeof *names; index++)
    if (strcmp(names[index], name) == 0) return true;
  return false;
}

unsigned long parse_number(const char *text, unsigned long most) {
  size_t length = strlen(text);
  if (length == 0 || strspn(text, "0123456789") != length) fail("the plan of the session has %.64s where a number is wanted", text);
  errno = 0;
  unsigned long number = strtoul(text, NULL, 10);
  if (errno != 0 || number > most) fail("the plan of the session has a number that is too large: %.64s", text);
  return number;
}

static const struct entry *find(const struct plan *plan, const char *name, size_t fewest, size_t most) {
  const struct entry *found = NULL;
  for (size_t index = 0; index < plan->count; index++) {
    const struct entry *entry = &plan->entries[index];
    if (strcmp(entry->name, name) != 0) continue;
    if (found != NULL) fail("the plan of the session has %s twice", name);
    if (entry->count < fewest || entry->count > most) fail("the plan of the session has %s with %zu arguments", name, entry->count);
    found = entry;
  }
  return found;
}

static const struct entry *need(const struct plan *plan, const char *name, size_t fewest, size_t most) {
  need_entry(plan, name);
  return find(plan, name, fewest, most);
}

/* A copy that stays when the plan is forgotten. */
static const char *kept(const char *text) {
  const char *copy = strdup(text);
  if (copy == NULL) fail("there is no memory for the plan of the session");
  return copy;
}

void read_groups(const struct entry *entry, struct groups *groups) {
  *groups = (struct groups){0};
  if (entry->count == 0) return;
  if (entry->count < 3) fail("the plan has control groups without a path");
  groups->version = (int)parse_number(entry->arguments[0], 2);
  groups->freezer = kept(entry->arguments[1]);
  groups->count = entry->count - 2;
  for (size_t index = 0; index < groups->count; index++) groups->paths[index] = kept(entry->arguments[index + 2]);
}

void read_settings(const struct plan *plan, struct settings *settings) {
  *settings = (struct settings){
      .directory = need(plan, "directory", 1, 1)->arguments[0],
      .has_own_users = find(plan, "own-users", 0, 0) != NULL,
      .open_files = parse_number(need(plan, "open-files", 1, 1)->arguments[0], 1UL << 30),
      .core_bytes = parse_number(need(plan, "core-bytes", 1, 1)->arguments[0], 1UL << 30),
      .processors = need(plan, "processors", 0, 4096),
      .filter = need(plan, "filter", 1, 1)->arguments[0],
      .sandbox = need(plan, "sandbox", 1, MAX_WORDS),
      .environment = need(plan, "environment", 0, MAX_WORDS),
      .scanned = need(plan, "scanned", 2, 2 * MAX_SCANNED),
      .unwanted = need(plan, "unwanted", 0, MAX_WORDS),
  };
  if (settings->scanned->count % 2 != 0) fail("the plan of the session has a tree without a name");
  const struct entry *user = find(plan, "user", 2, 2);
  if ((user != NULL) == settings->has_own_users) fail("the plan of the session has to say either user or own-users");
  if (user != NULL) {
    settings->changes_user = true;
    settings->user = (uid_t)parse_number(user->arguments[0], 1UL << 31);
    settings->group = (gid_t)parse_number(user->arguments[1], 1UL << 31);
    if (settings->user == 0 || settings->group == 0) fail("a sandbox does not run as root");
  }
  const struct entry *groups = find(plan, "groups", 3, MAX_GROUPS + 2);
  if (groups != NULL) read_groups(groups, &settings->groups);
  const struct entry *disk = find(plan, "disk", 1, 2);
  if (disk != NULL) {
    settings->disk = disk->arguments[0];
    settings->disk_size = disk->count == 2 ? disk->arguments[1] : NULL;
  }
}
