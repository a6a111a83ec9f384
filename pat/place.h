/*
 * place.h — where the background thread may run: on a processing unit (PU, a hardware thread as hwloc has it) that no rank computes
 * on, if there is one. The choice works on a topology and sets that it is given, so that it is tested with synthetic topologies.
 */
#ifndef PAT_PLACE_H
#define PAT_PLACE_H

#include <hwloc.h>
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

enum pat_place_kind {
    PAT_PLACE_PU,    /* pinned to one PU of its own */
    PAT_PLACE_FLOAT, /* no free PU: left to the scheduler, on every PU this process may use */
    PAT_PLACE_OFF,   /* asked not to touch placement */
};

typedef struct pat_place {
    enum pat_place_kind kind;
    int pu_os_index; /* PAT_PLACE_PU: operating-system number of the PU, else -1 */
} pat_place;

/*
 * Choose for the local_rank-th of num_local processes on this node of the cluster. compute[i]: the PUs that process i is bound to
 * (the whole allowed set when it is not bound). Every process chooses for all of them and so comes to the same answers, and no two
 * background threads share a PU while a free one is left. A thread gets the free PU that is nearest to its process's own, one on
 * the core of a PU that computes last. allowed: the PUs that the job may use. No MPI.
 */
pat_place pat_place_choose(hwloc_topology_t topology, hwloc_const_cpuset_t allowed,
                           const hwloc_const_cpuset_t *compute, int num_local, int local_rank);

/* What a place is chosen by: the bindings of all ranks of the node. */
typedef struct pat_place_view pat_place_view;

/*
 * Collective over comm (all ranks of the job) and over node (its ranks on this node): exchange bindings. Takes microseconds,
 * because no topology is read. setting: "auto", "off", or a PU number; it may differ from rank to rank. Returns an MPI error
 * code, the same on all ranks; MPI_ERR_ARG when a PU does not exist or the process may not use it. Only ranks that MPI says
 * are on the same node are known: none in another network namespace or container, and none of another job.
 */
int pat_place_ask(MPI_Comm comm, MPI_Comm node, const char *setting, pat_place_view **view);
void pat_place_forget(pat_place_view *view); /* NULL is allowed */

/* Has this node more ranks than PUs that they and their threads are bound to, or is that not known? No MPI. */
bool pat_place_is_crowded(const pat_place_view *view);

/* Load the topology, which takes milliseconds, and choose. No MPI. */
pat_place pat_place_settle(const pat_place_view *view);

/* pat_place_ask and pat_place_settle at once; collective over comm. Returns an MPI error code. */
int pat_place_find(MPI_Comm comm, const char *setting, pat_place *place);

/* Bind the calling thread accordingly. Failure to bind is not an error: the thread floats. Returns what was
 * done. */
enum pat_place_kind pat_place_apply(const pat_place *place);

#endif
