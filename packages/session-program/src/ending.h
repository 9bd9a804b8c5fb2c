#ifndef LITTERBOX_ENDING_H
#define LITTERBOX_ENDING_H

#include <sys/types.h>

/*
 * Ends all that a call started, without a fork, so that it works when the sandbox is at its limit of processes.
 *
 * It stops every process that it can attribute, again and again until a pass finds no new one, and then kills them all: what is stopped
 * cannot fork away. Each has to be seen stopped: one that waits for a processor in the middle of a fork ends that first, and what it forks
 * has no signal yet. Attributed are the children of the worker, all that descends from an attributed process, and orphans (their parent is
 * process 1) that carry the mark of the call in their environment or no mark at all: every process of every call starts with one, so that one
 * without has shed it on purpose.
 *
 * @param call the mark
 */
void end_call(pid_t worker, const char *call);

/*
 * Sends a signal to the group that the process leads, and where it leads none, under a terminal, to the process.
 *
 * @param name without SIG, such as INT
 */
void send_signal(pid_t process, const char *name);

#endif
