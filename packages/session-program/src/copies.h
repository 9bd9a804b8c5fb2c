#ifndef LITTERBOX_COPIES_H
#define LITTERBOX_COPIES_H

#include "plan.h"

/*
 * Copies trees while nothing of a sandbox runs, or everything of it stands still. Returns 0, or one of the numbers of COPY_EXITS in linux-sandbox; what a tool
 * says of a failure is on stderr.
 *
 * `still` DIRECTORY [VERSION FREEZER]: absolute path of the sandbox's directory, and the control group by which its processes are stopped; without one nothing
 * of it may run. `copies` ROOT and triples KIND FROM TO: paths below the root, in which no link is followed meanwhile. The kind is `tree`, `some` for one that may
 * not be there, `upper` for an upper layer that a killed program may have left under its next name, or `file` for the bytes of one that may not be there.
 *
 * Whatever becomes of this program, the sandbox goes on afterwards: another process waits for its end.
 */
int copy_still(const struct entry *still, const struct entry *copies);

/* The same of trees that nobody writes. */
int copy_trees(const struct entry *copies);

#endif
