#ifndef LITTERBOX_SERVE_H
#define LITTERBOX_SERVE_H

/*
 * Does one thing after another in one process, each by a plan from stdin whose first entry says what it is: `look` and `stage` as those do by themselves, `link`
 * DIRECTORY PURPOSE, `session`, and `watch`, which comes last. After a look it says the word `end`, after a stage `staged`. What fails ends the program as it ends
 * that one. Returns at the end of stdin.
 */
int run_serve(void);

#endif
