#ifndef LITTERBOX_START_H
#define LITTERBOX_START_H

/*
 * Starts what the plan in `ID.cmd` of the directory `io` says, in a process that tells by `ID.exit` how the start went and how the program
 * ended: `started WORKER PID` and `exit CODE`, or the word of a refusal. Its pipes are `ID.in`, `ID.out` and `ID.err`.
 *
 * Entries of the plan: `environment` NAME VALUE..., `unset` NAME..., `directory` PATH (twice where it is the workspace, which is opened where
 * an agent has closed it to itself), `needs` WORD PROGRAM... (the word is said where one is missing), `stdin` pipe or none, `terminal` for a
 * program that leads no group, `run` PROGRAM ARGUMENT... .
 */
void start_process(const char *io, const char *identity);

#endif
