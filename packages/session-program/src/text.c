#include "text.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fail.h"
#include "files.h"

static _Noreturn void refuse(void) { fail("the session says more than it can"); }

void add_bytes(struct text *text, const char *bytes, size_t length) {
  if (length > sizeof text->bytes - text->length) refuse();
  memcpy(text->bytes + text->length, bytes, length);
  text->length += length;
}

void add(struct text *text, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  size_t room = sizeof text->bytes - text->length;
  int written = vsnprintf(text->bytes + text->length, room, format, arguments);
  va_end(arguments);
  if (written < 0 || (size_t)written >= room) refuse();
  text->length += (size_t)written;
}

bool add_file(struct text *text, const char *path, size_t most) {
  size_t room = sizeof text->bytes - text->length;
  ssize_t got = read_file(AT_FDCWD, path, text->bytes + text->length, most + 1 < room ? most + 1 : room);
  if (got < 0) return false;
  text->length += (size_t)got;
  return true;
}
