#ifndef LITTERBOX_FAIL_H
#define LITTERBOX_FAIL_H

/* Called before the program ends with an error: ends and clears away what it has begun. */
extern void (*clean_up)(void);

/* Prints `error TEXT` and a NUL to stdout, cleans up and ends the program with 1. */
_Noreturn void fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same, followed by what errno says. */
_Noreturn void fail_errno(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
