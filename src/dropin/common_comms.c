/*
 * common_comms.c — see common_comms.h: all ranks tell each other which communicators they know, and how many calls they have kept of each. What a rank leaves out is known to no other
 * one either, so that all members decide alike.
 */
#include "common_comms.h"

#include <stdlib.h>

/* MOST_ENTRIES: communicators of all ranks, which each rank gets to know; MOST_COMMS: of a rank. */
enum { MOST_ENTRIES = 1 << 20, MOST_COMMS = 4096 };

typedef struct entry {
    uint64_t group, id;
    int64_t calls;
    int64_t comm; /* its number on the rank that tells */
} entry;

static int by_id(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* This rank's of two members and more. Returns how many. *calls_left: those of what there is no place for. */
static int list_own(const pat_events *e, MPI_Comm all, entry own[], int64_t *calls_left)
{
    int num = 0, size;
    PMPI_Comm_size(all, &size);
    const int most = MOST_ENTRIES / size < MOST_COMMS ? MOST_ENTRIES / size : MOST_COMMS;
    *calls_left = 0;
    for (int requests = 0; requests < 2; requests++)
        for (int i = 0; i < e->num_comms; i++) {
            const pat_event_comm *c = e->comms[i];
            if (c->num_calls == 0 || c->is_request != (requests == 1))
                continue;
            if (num < most)
                own[num++] = (entry){c->group->id, c->id, c->num_calls, i};
            else
                *calls_left += c->num_calls;
        }
    return num;
}

/* All ranks' entries, sorted, to be freed. *all_good: false on all ranks where one has no memory. */
static int tell(const entry own[], int num, MPI_Comm all, entry **entries, int *num_entries, bool *all_good)
{
    enum { WORDS = sizeof(entry) / sizeof(int64_t) };
    int size, total = 0, good, least;
    PMPI_Comm_size(all, &size);
    int *counts = calloc(2 * (size_t)size, sizeof(*counts)), *at = counts ? counts + size : NULL;
    const int words = num * WORDS;
    *entries = NULL;
    good = counts != NULL && own != NULL;
    int rc = PMPI_Allreduce(&good, &least, 1, MPI_INT, MPI_MIN, all);
    if (rc == MPI_SUCCESS && least) {
        rc = PMPI_Allgather(&words, 1, MPI_INT, counts, 1, MPI_INT, all);
        for (int r = 0; r < size; r++) {
            at[r] = total;
            total += counts[r];
        }
        *entries = malloc((size_t)total * sizeof(int64_t) + 1);
        good = *entries != NULL;
        if (rc == MPI_SUCCESS)
            rc = PMPI_Allreduce(&good, &least, 1, MPI_INT, MPI_MIN, all);
    }
    if (rc == MPI_SUCCESS && least)
        rc = PMPI_Allgatherv(own, words, MPI_INT64_T, *entries, counts, at, MPI_INT64_T, all);
    *num_entries = total / WORDS;
    *all_good = rc == MPI_SUCCESS && least;
    if (*all_good)
        qsort(*entries, (size_t)*num_entries, sizeof(**entries), by_id);
    free(counts);
    return rc;
}

/* How many calls all members have kept; 0: some do not know it. */
static int64_t calls_of_all(const entry *entries, int num, const entry *own, int members)
{
    int low = 0, high = num, told = 0;
    int64_t calls = INT64_MAX;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (by_id(&entries[middle], own) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < num && by_id(&entries[low], own) == 0; low++, told++)
        calls = entries[low].calls < calls ? entries[low].calls : calls;
    return told == members ? calls : 0;
}

int pat_common_comms_find(const pat_events *e, MPI_Comm all, pat_common_comm **common, int *num,
                          int64_t *too_many, bool *good)
{
    entry *own = malloc(MOST_COMMS * sizeof(*own)), *entries = NULL;
    int num_own = own ? list_own(e, all, own, too_many) : 0, num_entries = 0;
    *num = 0;
    *common = malloc(MOST_COMMS * sizeof(**common));
    int leaves = own && *too_many > 0, any_leaves = 0;
    if (!*common) { /* which `tell` says to all */
        free(own);
        own = NULL;
    }
    int rc = PMPI_Allreduce(&leaves, &any_leaves, 1, MPI_INT, MPI_MAX, all);
    if (rc == MPI_SUCCESS)
        rc = tell(own, num_own, all, &entries, &num_entries, good);
    if (rc == MPI_SUCCESS && *good)
        qsort(own, (size_t)num_own, sizeof(*own), by_id);
    for (int i = 0; i < num_own && rc == MPI_SUCCESS && *good; i++) {
        const pat_event_comm *c = e->comms[own[i].comm];
        const int64_t calls = calls_of_all(entries, num_entries, &own[i], c->group->size);
        if (calls > 0)
            (*common)[(*num)++] = (pat_common_comm){c, calls};
        else if (any_leaves) /* others may have left this one out */
            *too_many += own[i].calls;
    }
    free(own);
    free(entries);
    return rc;
}
