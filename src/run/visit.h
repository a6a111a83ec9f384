/*
 * visit.h — the background thread's visit to a communicator: whatever is under way there is moved on, and what is expected to be
 * called next is made ready.
 */
#ifndef PAT_VISIT_H
#define PAT_VISIT_H

#include "comm.h"
#include "thread.h"

/* Visit one communicator, if its lock is free. Sets in *visit when to come again, unless that is to be sooner already. */
void pat_visit_comm(pat_comm *c, pat_visit *visit);

/* One after the other, every communicator: what the thread does when it wakes up. */
void pat_visit_all(void *unused, pat_visit *visit);

#endif
