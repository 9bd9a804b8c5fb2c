#ifndef LITTERBOX_STEPS_H
#define LITTERBOX_STEPS_H

#include "plan.h"

/* Ends the program where an entry of a plan is neither a setting nor a step that it knows, or has not as many arguments as that takes. */
void check_steps(const struct plan *plan);

/* Does the steps of a plan in their order. Ends the program where one fails. */
void do_steps(const struct plan *plan);

#endif
