#include "awaited.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "files.h"

bool is_awaited(struct plan *plan, const char *word) {
  char line[32];
  int length = snprintf(line, sizeof line, "%.16s\n", word);
  if (length <= 0 || !write_all(STDOUT_FILENO, line, (size_t)length)) return false;
  const char *answer = read_line(STDIN_FILENO, plan);
  return answer != NULL && strcmp(answer, "go") == 0;
}
