#ifndef LITTERBOX_FILES_H
#define LITTERBOX_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Writes everything, however often the kernel is asked. False, with errno, when it cannot. */
bool write_all(int descriptor, const char *bytes, size_t length);

/*
 * Reads at most `size - 1` bytes of a file and ends them with a NUL. Returns their number, or -1 with errno. What is longer is cut:
 * a file of the kernel has no size beforehand.
 */
ssize_t read_file(int directory, const char *path, char *into, size_t size);

/* Writes into a file that is there, such as one of the kernel's. False, with errno, when it cannot. */
bool write_existing(const char *path, const char *text);

/* Makes a file with that text and mode, in place of what it held. False, with errno, when it cannot. */
bool write_new(const char *path, const char *text, size_t length, mode_t mode);

/*
 * Looks for a program in the directories of a PATH and leaves its path in `found`, which has room for PATH_MAX bytes. One that
 * is not absolute, such as an empty one, starts at the current directory: it counts only where that is `trusted`.
 */
bool find_in_path(const char *path, const char *name, bool trusted, char *found);

/* Whether something is at that path, a dangling link too. */
bool exists(const char *path);

/* Whether a directory is at that path, behind a link too. */
bool is_directory(const char *path);

/* Whether this user may start what is at that path. */
bool is_program(const char *path);

/* Makes a directory and those above it. False, with errno, when it cannot. */
bool make_directories(const char *path);

/* Removes the entries of a directory that are not directories. False, with errno, when it cannot. */
bool remove_entries(const char *path);

#endif
