/*
 * leave.h — a communicator that the program has freed. What its members have told each other and made ready for a next call is ended as in settle.h,
 * but in the background: MPI lets a member go on while others have not freed it yet, or still have a request under way on it, for which MPICH
 * keeps the attributes of a communicator that is freed. So MPI_Comm_free waits for calls that are under way, and for nothing else.
 *
 * A member that has left says so in every epoch until one in which all have. An epoch may end before that because the library settles, or because a member
 * has announced a call that does not come.
 */
#ifndef PAT_LEAVE_H
#define PAT_LEAVE_H

#include "comm.h"

/* MPI calls this for the attribute that a communicator's state hangs on. Returns MPI_SUCCESS. */
int pat_leave_comm_ends(MPI_Comm comm, int keyval, void *attr, void *extra);

/*
 * The background thread's part, with the communicator's lock held. The first has the caller hold pat_rt.driving: to say that this rank has left where that is not
 * said in this epoch, and to look; *moved is set where something has come. The second, without pat_rt.driving, is for a communicator of which MPI has told while nothing could
 * be waited for: this rank leaves when nothing is under way any more. Returns whether it has just left.
 */
void pat_leave_look(pat_comm *c, bool *moved);
bool pat_leave_when_idle(pat_comm *c);

/* All members have left: free the state, unless somebody goes through all communicators just now. Returns whether. The caller has a reference, and not the lock. */
bool pat_leave_end(pat_comm *c);

/* The same where nobody goes through all communicators. */
void pat_leave_free(pat_comm *c);

#endif
