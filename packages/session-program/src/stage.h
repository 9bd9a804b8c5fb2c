#ifndef LITTERBOX_STAGE_H
#define LITTERBOX_STAGE_H

/*
 * Makes the directory of a sandbox, by a plan from stdin, and returns how that went: 0, or one of the codes that SandboxDirectories in linux-sandbox knows, with
 * the reason on stderr. The directory is filled under a name that no list shows and gets its own by a rename.
 *
 * `above` PATH...: directories that have to be there, made with mode 0700. `names` PARENT UNFINISHED WHOLE: absolute paths. `bases` PATH...: directories
 * that have to be there. `refused` NUMBER...: file systems that it cannot be on, by statfs(2), in hexadecimal digits. In the directory then, in their
 * order: `directories`, `files` or `pipes` MODE NAME..., `playground` PATH, `owner` USER GROUP PATH..., `write` NAME TEXT,
 * `still` and `copies` as in copies.h, `move` FROM TO, and `ask` WORD, which says the word in a line and waits
 * for the line `go`.
 */
int run_stage(void);

struct plan;

/* The same by a plan that is read already. Ends the program with that code where it fails. */
void stage(struct plan *plan);

#endif
