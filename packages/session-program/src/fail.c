#include "fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "files.h"

enum { MAX_ERROR_BYTES = 16 * 1024 };

void (*clean_up)(void);

static _Noreturn void end_with(const char *format, va_list arguments, int error) {
  char text[MAX_ERROR_BYTES] = "error ";
  size_t used = strlen(text);
  int written = vsnprintf(text + used, sizeof text - used, format, arguments);
  if (written > 0) used += (size_t)written < sizeof text - used ? (size_t)written : sizeof text - used - 1;
  if (error != 0) {
    written = snprintf(text + used, sizeof text - used, ": %s", strerror(error));
    if (written > 0) used += (size_t)written < sizeof text - used ? (size_t)written : sizeof text - used - 1;
  }
  /* Whoever asked may be gone: what was begun is cleared away all the same. */
  (void)write_all(STDOUT_FILENO, text, used + 1);
  void (*clean)(void) = clean_up;
  clean_up = NULL;
  if (clean != NULL) clean();
  _exit(1);
}

_Noreturn void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  end_with(format, arguments, 0);
}

_Noreturn void fail_errno(const char *format, ...) {
  int error = errno;
  va_list arguments;
  va_start(arguments, format);
  end_with(format, arguments, error);
}
