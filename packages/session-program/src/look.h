#ifndef LITTERBOX_LOOK_H
#define LITTERBOX_LOOK_H

/*
 * Looks at the machine by a plan from stdin, and prints a word that ends with a NUL for each entry that asks for one, in the order of the plan:
 *
 * - `etc` PREFIX PATTERN...: PREFIX and a number made of the change times of what the patterns find, where a directory of that name is; else nothing.
 * - `links` PATH...: what each symbolic link holds, a line each.
 * - `there` PATH...: those that exist, a line each.
 * - `texts` PATTERN: what the files hold that the pattern finds.
 * - `overlays` PATH: the lines of that mountinfo that are of overlays.
 *
 * `trees`, `tools`, `names`, `code` WORD... and `secret`, `shown` EXPRESSION say what `credentials` looks for, which comes last and prints a word for
 * each: its type as find(1) names it, a space and its path. That is what has one of the names in the first two levels of the trees, in whatever case, and
 * what of the first six levels of the tools the first expression matches and the second does not; directories that are called as `code` says are not
 * entered. Of a link it is what it leads to: a directory, or a file that nobody can execute.
 */
int run_look(void);

struct plan;

/* The same by a plan that is read already. Ends the program where it fails. */
void look(const struct plan *plan);

#endif
