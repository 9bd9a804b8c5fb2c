#include "mounts.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fail.h"
#include "files.h"

/* The kernel takes a page of options. */
enum { MAX_OPTIONS_BYTES = 4096, MAX_FROZEN = 64 };

static char frozen_layers[MAX_FROZEN * 24];

void mount_bind(const char *source, const char *target) {
  if (mount(source, target, NULL, MS_BIND, NULL) != 0) fail_errno("cannot mount %s at %s", source, target);
}

static void append(char *into, const char *from, size_t length) {
  size_t used = strlen(into);
  if (used + length >= MAX_OPTIONS_BYTES) fail("the options of an overlay are too long");
  memcpy(into + used, from, length);
  into[used + length] = '\0';
}

static unsigned long flag_of(const char *option, size_t length) {
  static const struct {
    const char *name;
    unsigned long flag;
  } flags[] = {{"ro", MS_RDONLY}, {"nosuid", MS_NOSUID}, {"nodev", MS_NODEV}};
  for (size_t index = 0; index < sizeof flags / sizeof *flags; index++)
    if (strlen(flags[index].name) == length && strncmp(flags[index].name, option, length) == 0) return flags[index].flag;
  return 0;
}

bool mount_overlay(const char *options, const char *target) {
  char own[MAX_OPTIONS_BYTES] = "";
  unsigned long flags = 0;
  for (const char *option = options; *option != '\0';) {
    size_t length = strcspn(option, ",");
    unsigned long flag = flag_of(option, length);
    flags |= flag;
    if (flag == 0) {
      if (*own != '\0') append(own, ",", 1);
      const char *mark = memchr(option, FROZEN_MARK, length);
      size_t before = mark == NULL ? length : (size_t)(mark - option);
      append(own, option, before);
      if (mark != NULL) {
        append(own, frozen_layers, strlen(frozen_layers));
        append(own, mark + 1, length - before - 1);
      }
    }
    option += length;
    if (*option == ',') option++;
  }
  return mount("overlay", target, "overlay", flags, own) == 0;
}

void heal_upper_layer(void) {
  if (!is_directory("upper") && rename("upper.new", "upper") != 0) fail_errno("its upper layer is gone");
}

void read_frozen_layers(void) {
  if (!is_directory("frozen") && mkdir("frozen", 0755) != 0) fail_errno("cannot make frozen");
  *frozen_layers = '\0';
  for (int number = 1;; number++) {
    char path[32];
    snprintf(path, sizeof path, "frozen/%d", number);
    if (!is_directory(path)) return;
    if (number > MAX_FROZEN) fail("it has too many frozen layers");
    char all[sizeof frozen_layers];
    int length = snprintf(all, sizeof all, "/run/%s:%s", path, frozen_layers);
    if (length < 0 || (size_t)length >= sizeof all) fail("it has too many frozen layers");
    memcpy(frozen_layers, all, (size_t)length + 1);
  }
}
