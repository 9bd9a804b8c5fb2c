#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "session.h"

/*
 * What is not known is refused, for a program of another release may be asked. Whoever starts it gives it nothing but a plan by stdin, and what it says to
 * stdout are words that end with a NUL.
 */
int main(int count, char **words) {
  if (count == 2 && strcmp(words[1], "session") == 0) return run_session();
  if (count == 2 && strcmp(words[1], "check") == 0) return 0;
  static const char usage[] = "usage: litterbox-session session | check\n";
  (void)!write(STDERR_FILENO, usage, sizeof usage - 1);
  return 2;
}
