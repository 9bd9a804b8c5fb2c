#ifndef LITTERBOX_WALKER_H
#define LITTERBOX_WALKER_H

/* Remembers what this start of the machine is called. Before the place of the scanner is entered, which has no /proc. */
void read_boot_id(void);

/*
 * Answers requests until there are no more, then returns. Each ends with a NUL, and so does each text of an answer; the last one is `E`.
 *
 * - `T`: the time: `T`, the moment of now by the clock that change times are taken from, how far that is ahead of the time since the start of the
 *   machine, in seconds, and the name of that start.
 * - `W` and a moment, in seconds since 1970 with decimals, or none: the time, then each entry below /changes, or below /workspace where there is
 *   none, whose change time is the moment's or later. An entry is its type, inode, mode in octal digits, size and path: `f`, `d`, `l`, `c` or
 *   `s` for all others; a directory that cannot be read is `u`. After a small file comes `=` and its content, with NUL and SOH in it as SOH and the
 *   next byte. Then `N` and the number of all entries there, and the layers in /frozen, the topmost first, each as `L` and its name. Last, where
 *   few directories changed, each as `D` and its path with `+`, type and name of each of its entries in /workspace.
 * - `A` and an absolute path: what is there and all below it, by absolute paths.
 * - `C` and the absolute path of a directory: types and absolute paths of its entries, with 0 for everything else.
 *
 * No link is followed, whatever is swapped meanwhile: each directory is opened from the one above it. The memory that it takes does not depend on
 * how much there is, only on how deep it is, which has a bound.
 */
void answer_requests(int requests, int answers);

#endif
