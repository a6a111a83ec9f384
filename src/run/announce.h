/*
 * announce.h — from PAT_Edge to the background thread: which communicator's next call this rank's estimate is for, and when it is sent.
 */
#ifndef PAT_ANNOUNCE_H
#define PAT_ANNOUNCE_H

#include <stdbool.h>
#include <stdint.h>

#include "comm.h"

/*
 * The program has just said PAT_Edge, at now_ns of the local clock. Returns whether the background thread is to be woken. The caller holds
 * the runtime's lock.
 */
bool pat_announce_edge(int64_t now_ns);

/*
 * A call has come on `c`. If a PAT_Edge came before it, the phase has ended here: the next PAT_Edge after a call on the
 * communicator that was used before `c` will be for `c` again. An estimate for another communicator is dropped.
 */
void pat_announce_called(pat_comm *c);

#endif
