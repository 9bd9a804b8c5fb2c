#include "asker.h"

#include <string.h>

#include "fail.h"

enum { MAX_WAITING = 4 };

int asker = -1;

int poll_beside_asker(struct pollfd *waiting, nfds_t count) {
  struct pollfd all[MAX_WAITING + 1] = {{.fd = asker, .events = POLLRDHUP}};
  if (count > MAX_WAITING) fail("too much is waited for");
  memcpy(all + 1, waiting, count * sizeof *waiting);
  int ready = poll(all, count + 1, -1);
  if (ready <= 0) return ready;
  if (all[0].revents != 0) fail("whoever asked for it has gone");
  memcpy(waiting, all + 1, count * sizeof *waiting);
  return ready;
}
