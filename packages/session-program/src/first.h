#ifndef LITTERBOX_FIRST_H
#define LITTERBOX_FIRST_H

/*
 * Process 1 of a sandbox, and its first process: a child that starts what is asked for by the pipe `control` in the directory `io`. Process 1
 * holds nothing of who started it, waits, and adopts: what is a child of the first process is told from what has left its parent.
 *
 * Its words: `run ID` starts what the plan in `ID.cmd` says; `kill PID CALL` and `signal PID NAME` are done without a fork. Programs
 * inside can write to the pipe too, and start processes or end their own by it: nothing they could not do anyway.
 */
int run_place(const char *io);

#endif
