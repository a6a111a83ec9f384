/*
 * events.c — see events.h. What is known of a communicator hangs on it as an attribute.
 */
#include "events.h"

#include <stdlib.h>
#include <string.h>

#include "runtime.h"

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x =
        (a ^ (b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2))) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 31;
}

static pat_event_group *group_with(pat_events *e, uint64_t id, int size, const int *world)
{
    for (pat_event_group *g = e->groups; g; g = g->next)
        if (g->id == id && g->size == size && memcmp(g->world, world, (size_t)size * sizeof(*world)) == 0)
            return g;
    return NULL;
}

/* Takes over `world`. NULL without memory. */
static pat_event_group *group_of(pat_events *e, int size, int *world)
{
    uint64_t id = (uint64_t)size;
    for (int r = 0; r < size; r++)
        id = mix(id, (uint64_t)world[r]);
    pat_event_group *g = group_with(e, id, size, world);
    if (!g && (g = malloc(sizeof(*g))) != NULL) {
        *g = (pat_event_group){.id = id, .size = size, .world = world, .next = e->groups};
        e->groups = g;
        return g;
    }
    free(world);
    return g;
}

/* NULL: without memory, or where members are not all among all ranks. */
static int *members_of(const pat_events *e, MPI_Comm comm, int size)
{
    MPI_Group theirs, all;
    int *ranks = malloc(2 * (size_t)size * sizeof(*ranks)), *world = ranks ? ranks + size : NULL;
    bool known = ranks != NULL;
    for (int r = 0; r < size && known; r++)
        ranks[r] = r;
    if (known && PMPI_Comm_group(comm, &theirs) == MPI_SUCCESS) {
        known = PMPI_Comm_group(e->all, &all) == MPI_SUCCESS;
        if (known) {
            known = PMPI_Group_translate_ranks(theirs, size, ranks, all, world) == MPI_SUCCESS;
            PMPI_Group_free(&all);
        }
        PMPI_Group_free(&theirs);
    }
    for (int r = 0; r < size && known; r++)
        known = world[r] != MPI_UNDEFINED;
    if (known)
        memmove(ranks, world, (size_t)size * sizeof(*ranks));
    else
        free(ranks);
    return known ? ranks : NULL;
}

static pat_event_comm *add_comm(pat_events *e, pat_event_group *group, int rank, uint64_t id)
{
    pat_event_comm *c = malloc(sizeof(*c));
    if (c && e->num_comms == e->room_comms) {
        const int room = e->room_comms ? 2 * e->room_comms : 16;
        pat_event_comm **more = realloc(e->comms, (size_t)room * sizeof(*more));
        if (!more) {
            free(c);
            return NULL;
        }
        e->comms = more;
        e->room_comms = room;
    }
    if (!c)
        return NULL;
    *c = (pat_event_comm){.id = id, .group = group, .rank = rank, .number = e->num_comms};
    e->comms[e->num_comms++] = c;
    return c;
}

/* A duplicate is being made, in the same turn on all members. */
static int copy_attribute(MPI_Comm from, int keyval, void *events, void *value, void *copy, int *copied)
{
    pat_events *e = events;
    pat_event_comm *parent = value;
    (void)from;
    (void)keyval;
    *copied = 0;
    if (!pat_rt.dropin || !parent->group) /* the report is over, and what both point to is gone */
        return MPI_SUCCESS;
    pthread_mutex_lock(&e->lock);
    pat_event_comm *c =
        add_comm(e, parent->group, parent->rank, mix(parent->id, (uint64_t)++parent->num_dups));
    pthread_mutex_unlock(&e->lock);
    *(void **)copy = c;
    *copied = c != NULL;
    return MPI_SUCCESS;
}

/*
 * The first call on it. One between groups, or with others than all ranks, is known by nothing: its group is NULL. Not with the lock where MPI is called: MPI may have
 * one of its own for attributes, with which it calls copy_attribute.
 */
static pat_event_comm *new_comm(pat_events *e, MPI_Comm comm)
{
    int inter = 0, size, rank;
    pat_event_group *group = NULL;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || PMPI_Comm_size(comm, &size) != MPI_SUCCESS ||
        PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS)
        return NULL;
    int *world = inter ? NULL : members_of(e, comm, size);
    pthread_mutex_lock(&e->lock);
    if (world)
        group = group_of(e, size, world);
    pat_event_comm *c =
        add_comm(e, group, rank, group ? mix(group->id, (uint64_t)group->num_comms++ << 32) : 0);
    pthread_mutex_unlock(&e->lock);
    if (c && PMPI_Comm_set_attr(comm, e->keyval, c) != MPI_SUCCESS)
        c->group = NULL;
    return c;
}

int pat_events_begin(pat_events *e, MPI_Comm all, int64_t most_bytes)
{
    *e = (pat_events){.lock = PTHREAD_MUTEX_INITIALIZER,
                      .keyval = MPI_KEYVAL_INVALID,
                      .all = all,
                      .most = most_bytes / (int64_t)sizeof(pat_event)};
    const int rc = PMPI_Comm_create_keyval(copy_attribute, MPI_COMM_NULL_DELETE_FN, &e->keyval, e);
    if (rc == MPI_SUCCESS)
        new_comm(e, MPI_COMM_WORLD); /* of which most others are duplicates */
    return rc;
}

/* Room for one more; NULL without memory. */
static pat_event *next_event(pat_events *e)
{
    const int64_t block = e->num / PAT_EVENTS_IN_BLOCK;
    if (e->num >= e->most)
        return NULL;
    if (e->num % PAT_EVENTS_IN_BLOCK == 0) {
        if ((block & (block - 1)) == 0) { /* 0 or a power of two: the list of blocks is full */
            pat_event **more = realloc(e->blocks, (size_t)(block ? 2 * block : 1) * sizeof(*more));
            if (!more)
                return NULL;
            e->blocks = more;
        }
        e->blocks[block] = malloc(PAT_EVENTS_IN_BLOCK * sizeof(pat_event));
        if (!e->blocks[block])
            return NULL;
    }
    return &e->blocks[block][e->num % PAT_EVENTS_IN_BLOCK];
}

void pat_events_add(pat_events *e, MPI_Comm comm, const pat_event *event)
{
    int found = 0;
    pat_event_comm *c = NULL;
    if (e->keyval == MPI_KEYVAL_INVALID || comm == MPI_COMM_NULL ||
        PMPI_Comm_get_attr(comm, e->keyval, &c, &found) != MPI_SUCCESS)
        return;
    if (!found)
        c = new_comm(e, comm);
    if (c && (!c->group || c->group->size == 1)) /* there is nobody to hold it against */
        return;
    pthread_mutex_lock(&e->lock);
    pat_event *to = c ? next_event(e) : NULL;
    if (to) {
        *to = *event;
        to->comm = c->number;
        c->num_calls++;
        e->num++;
    } else {
        e->num_lost++;
    }
    pthread_mutex_unlock(&e->lock);
}

void pat_events_end(pat_events *e)
{
    for (int64_t i = 0; i < e->num; i += PAT_EVENTS_IN_BLOCK)
        free(e->blocks[i / PAT_EVENTS_IN_BLOCK]);
    free(e->blocks);
    for (int i = 0; i < e->num_comms; i++)
        free(e->comms[i]);
    free(e->comms);
    for (pat_event_group *g = e->groups, *next; g; g = next) {
        next = g->next;
        free(g->world);
        free(g);
    }
    if (e->keyval != MPI_KEYVAL_INVALID)
        PMPI_Comm_free_keyval(&e->keyval);
}
