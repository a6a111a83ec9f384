/*
 * describe.h — turns the arguments of a call into what they mean in bytes (call.h).
 */
#ifndef PAT_DESCRIBE_H
#define PAT_DESCRIBE_H

#include <stdbool.h>

#include "call.h"
#include "face.h"

/*
 * Describe a call. *ours is false for arguments that MPI would reject, that are wrong on their own (send and receive sizes differ), or
 * that no plan is for (reduction.h): those go to MPI unchanged. The program's arrays must outlive the description. Returns an MPI error
 * code, with its text; after MPI_SUCCESS pat_describe_done is to be called once the call has ended.
 */
int pat_describe(const pat_face *face, const pat_args *args, pat_call *call, bool *ours);
void pat_describe_done(pat_call *call);

/*
 * The mean length of a block, in bytes, as pat_describe has it, from arguments that are the same on all ranks, and without checking the others; 0 or less: they do not
 * say it, as of a gather or a scatter, or there is nothing that a plan could run.
 */
int64_t pat_describe_mean_bytes(const pat_face *face, const pat_args *args, int num_ranks);

#endif
