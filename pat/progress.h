/*
 * progress.h — to be called whenever the MPI library looks for messages, in whatever call of the program's: so what a program waits for in MPI_Wait is
 * passed on as soon as it is there, though it is not the background thread that has taken it in. Open MPI has a place for that, which its own
 * non-blocking collectives use.
 */
#ifndef PAT_PROGRESS_H
#define PAT_PROGRESS_H

#include <stdbool.h>

/*
 * What is to be called. It may call MPI, but may not wait for anything, nor take a lock that somebody holds while he calls MPI. Returns how many
 * messages it has completed.
 */
typedef int pat_progress_look(void);

/* From now on. Returns false where the MPI library has no such place. Any thread, outside `look`. */
bool pat_progress_join(pat_progress_look *look);

/* Not any more. It may still be under way in other threads. */
void pat_progress_leave(pat_progress_look *look);

/*
 * The MPI library looks for all that it has to do, and not just for messages of one kind, as it may in a test or a probe: over UCX Open MPI's MPI_Iprobe does so once in a hundred
 * times, and not at all where it finds something. Returns false where that cannot be asked for. Any thread that may call MPI.
 */
bool pat_progress_now(void);

#endif
