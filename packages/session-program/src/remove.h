#ifndef LITTERBOX_REMOVE_H
#define LITTERBOX_REMOVE_H

/*
 * Ends the session of a sandbox and removes its directory, by a plan from stdin. Returns 0; 1 with the reason on stderr; 92 where it has done nothing, because
 * a mark is there: then shell text has to do it.
 *
 * `directory` DIRECTORY GONE: absolute paths; the second is the name under which it is removed, and no list shows it. `groups` as in the plan of a session.
 * `marks` PATH...: what makes it a matter of other programs. `trees` PATH... and `files` PATH...: removed too.
 * `by-shell` SHELL-TEXT...: for the directory and each of the trees, run where a tree cannot be removed here. `sweep` SHELL-TEXT BASES KEPT PREFIX PATH...: run
 * where a path holds something unfinished, or BASES more than KEPT trees, one that begins with the prefix, or one with an odd number of digits.
 */
int run_remove(void);

#endif
