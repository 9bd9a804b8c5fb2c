#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "first.h"
#include "look.h"
#include "relay.h"
#include "remove.h"
#include "restore.h"
#include "serve.h"
#include "session.h"
#include "stage.h"

/*
 * What is not known is refused, for a program of another release may be asked. Whoever starts it gives it nothing but a plan by stdin, and what it says to
 * stdout are words that end with a NUL.
 */
int main(int count, char **words) {
  if (count == 2 && strcmp(words[1], "session") == 0) return run_session();
  if (count == 2 && strcmp(words[1], "serve") == 0) return run_serve();
  if (count == 2 && strcmp(words[1], "stage") == 0) return run_stage();
  if (count == 2 && strcmp(words[1], "look") == 0) return run_look();
  if (count == 2 && strcmp(words[1], "remove") == 0) return run_remove();
  if (count == 2 && strcmp(words[1], "restore") == 0) return run_restore();
  if (count == 2 && strcmp(words[1], "check") == 0) return 0;
  if (count == 3 && strcmp(words[1], "place") == 0) return run_place(words[2]);
  if (count == 6 && strcmp(words[1], "relay") == 0) return run_relay(words[2], words[3], strcmp(words[4], "pipe") == 0, words[5]);
  static const char usage[] = "usage: litterbox-session session | serve | stage | look | remove | restore | relay IO ID pipe|none LENGTH | place IO | check\n";
  (void)!write(STDERR_FILENO, usage, sizeof usage - 1);
  return 2;
}
