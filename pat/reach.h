/*
 * reach.h — ranks of a node copy straight from each other's memory: one copy, by the one for whom it is, without the sender's help. (Linux:
 * process_vm_readv, "cross memory attach", as MPI libraries use it for long messages.) What a message may then say is where its data lies.
 */
#ifndef PAT_REACH_H
#define PAT_REACH_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct pat_reach pat_reach;

/* Some bytes in another process: one run, or two, of which the second may be empty. Addresses are that process's. */
typedef struct pat_there {
    uint64_t at[2];
    int32_t bytes[2];
} pat_there;

/* So long messages MPI libraries mostly send at once inside a node; longer ones ask the receiver for room, or are split. */
enum { PAT_REACH_LEAST = 3840 };

/*
 * Collective over node, whose ranks share memory. least: shorter copies are not worth it, on all ranks if on one; it is at least the above. *reach: of all
 * its ranks, by their numbers there, which the caller frees; NULL on all of them where `wanted` is false on one, where there is one rank, or where some rank may not read another's memory (ptrace_scope of the Yama security module, a
 * container without the right, process numbers of another container): each has tried. Returns an MPI error code.
 */
int pat_reach_find(MPI_Comm node, bool wanted, int least, pat_reach **reach);
void pat_reach_free(pat_reach *reach);

/* Is so long a message worth it? All ranks of the node say the same. */
bool pat_reach_pays(const pat_reach *reach, int64_t bytes);

/* Copy all bytes of `from` in rank `mate` to one run, or two, of as many here. Returns 0 or an errno. Any thread. */
int pat_reach_copy(const pat_reach *reach, int mate, const pat_there *from, char *const to[2],
                   const int bytes[2]);

/*
 * Set an int of rank `mate`, at an address there. Returns 0 or an errno. Any thread. To be called after a copy: that rank may use the memory for
 * something else at once.
 */
int pat_reach_set(const pat_reach *reach, int mate, uint64_t at, int value);

#endif
