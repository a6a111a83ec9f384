/*
 * bring.h — the buffers that the round of a call works on: the application's, or the library's where their types are not plain, or where
 * a rank passes on what it does not keep.
 *
 * The caller holds c's lock. Functions that return int return MPI error codes: MPI_ERR_NO_MEM where there is no memory to pack.
 */
#ifndef PAT_BRING_H
#define PAT_BRING_H

#include "comm.h"

/* A call, its round, and the memory that the round may use until it has ended. */
typedef struct pat_work {
    enum pat_op op;
    pat_round *round;
    const pat_call *call;
    pat_pack *pack;
} pat_work;

/* Can a plan that counts ranks from the root run it? The answer is the same on all ranks. */
bool pat_bring_fits(const pat_comm *c, enum pat_op op, const pat_call *call);

/*
 * Make the round of a call with a root, by a plan that counts ranks from the root: rank r of the plan is rank (r + root) mod P here. Broadcasts
 * go in segments of so many bytes.
 */
int pat_bring_rooted(pat_comm *c, const pat_work *work, const pat_algorithm *alg, const pat_link *link,
                     int64_t segment_bytes, pat_tags tags);

/*
 * *home: where the result of the call goes. *own: from where the plan copies this rank's contribution; NULL: it is in its place. The second is for
 * rounds of pat_bring_rooted.
 */
int pat_bring_buffers(pat_comm *c, const pat_work *work, char **home, const char **own);
int pat_bring_rooted_buffers(pat_comm *c, const pat_work *work, char **home, const char **own);

/* The round is over: what it has packed goes to the application's buffer, and what it has moved is counted. */
int pat_bring_back(pat_comm *c, const pat_work *work);

#endif
