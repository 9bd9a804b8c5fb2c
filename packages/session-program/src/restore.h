#ifndef LITTERBOX_RESTORE_H
#define LITTERBOX_RESTORE_H

/*
 * Puts copies in the place of a sandbox's layers, by a plan from stdin. Returns 0, or one of the numbers of COPY_EXITS in linux-sandbox. Nothing changes before
 * everything is copied, the word `copied` is answered and all that ran has ended. Who is killed later leaves a sandbox without its description, which another
 * restore or a removal is good for.
 *
 * `directory` DIRECTORY: absolute path of the sandbox's. `groups` as in the plan of a session. `copies` as in copies.h, into the directory `restored` there.
 * `layers` NAME...: what of `restored` takes the place of the directory of that name. `description` TEXT: the sandbox's from then on. `by-shell` SHELL-TEXT: run
 * where `restored` cannot be removed here.
 */
int run_restore(void);

#endif
