#ifndef LITTERBOX_AWAITED_H
#define LITTERBOX_AWAITED_H

#include <stdbool.h>

#include "plan.h"

/* Says a word in a line and waits for the line `go`. False where nobody is left who asked. */
bool is_awaited(struct plan *plan, const char *word);

#endif
