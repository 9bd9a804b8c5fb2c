#ifndef LITTERBOX_LINK_H
#define LITTERBOX_LINK_H

#include <stdbool.h>

/*
 * Holds the sandbox's clients lock shared while its stdin is open: when whoever started it is killed, the kernel closes that. Its first
 * line says how the sandbox is: `alive` and what is known of its session, `none` when a session has to be started, or, for who is going to start
 * a program, the mark that forbids one. Who starts a session holds `start.lock` until it runs, and has written down by then what is known of it. A
 * line by stdin asks it to say `gone` when the session has ended.
 */
int run_link(const char *directory, bool is_for_program);

#endif
