#ifndef LITTERBOX_SERVE_H
#define LITTERBOX_SERVE_H

/*
 * Does one thing after another in one process, each by a plan from stdin whose first entry says what it is: `look` and `stage` as those do by themselves, `link`
 * DIRECTORY PURPOSE, `session`, `watch`, and from then on `ask` IO ID WORD..., for a process whose pipes whoever asks opens. A look behind the link to a session that
 * lives is passed over. After a look it says the word
 * `end`, after a stage `staged`, after an ask a line: `asked` or why not, and the ID. What fails ends the program as it ends that one. Returns at the end of
 * stdin.
 */
int run_serve(void);

#endif
