#ifndef LITTERBOX_TEXT_H
#define LITTERBOX_TEXT_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes that are put together and written in one go. Ends the program where they are more than fit: that many no session says. */
struct text {
  size_t length;
  char bytes[4 * 1024 * 1024];
};

void add_bytes(struct text *text, const char *bytes, size_t length);
void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* What a file holds, at most so many bytes of it, and nothing where it cannot be read. Returns whether it could. */

bool add_file(struct text *text, const char *path, size_t most);

#endif
