#ifndef LITTERBOX_ASKER_H
#define LITTERBOX_ASKER_H

#include <poll.h>

/* Where whoever asked for what is being done is heard; -1 where nobody has to be there. */
extern int asker;

/* Waits as poll(2) does, for at most four descriptors. Ends the program where whoever asked has gone: nobody waits for what is being done. */
int poll_beside_asker(struct pollfd *waiting, nfds_t count);

#endif
