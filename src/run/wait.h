/*
 * wait.h — how a calling thread waits: it drives what it waits for, and sleeps while nothing moves. Must never decide
 * what is done, only when it is looked at.
 */
#ifndef PAT_WAIT_H
#define PAT_WAIT_H

#include "comm.h"

/*
 * Call `look` until `busy` is false. The caller holds the communicator's lock; the background thread leaves it alone
 * meanwhile. Returns the MPI error code of the last look.
 */
int pat_wait_while(pat_comm *c, bool (*busy)(const pat_comm *c), int (*look)(pat_comm *c, bool *moved));

#endif
