/*
 * wire.c — see wire.h. Messages of two runs are sent and received where they are, by a datatype made for that one message.
 */
#include "wire.h"

#include <stdlib.h>

bool pat_wire_make(pat_wire *w, MPI_Comm comm, int first_tag, int most)
{
    const size_t n = most > 0 ? (size_t)most : 1;
    *w = (pat_wire){.comm = comm, .first_tag = first_tag};
    w->requests = malloc(n * sizeof(MPI_Request));
    w->owner = malloc(n * sizeof(*w->owner));
    w->over = malloc(n * sizeof(*w->over));
    w->asked = malloc(n * sizeof(*w->asked));
    return w->requests && w->owner && w->over && w->asked;
}

void pat_wire_free(pat_wire *w)
{
    free(w->requests);
    free(w->owner);
    free(w->over);
    free(w->asked);
    *w = (pat_wire){0};
}

/* A message's data as MPI sees it. */
typedef struct view {
    void *at;
    int count;
    MPI_Datatype type;
} view;

static int view_make(view *v, const pat_message_data *data)
{
    *v = (view){data->at[0], data->bytes[0], MPI_BYTE};
    if (data->bytes[1] == 0)
        return MPI_SUCCESS;
    int lengths[2] = {data->bytes[0], data->bytes[1]};
    MPI_Aint at[2];
    PMPI_Get_address(data->at[0], &at[0]);
    PMPI_Get_address(data->at[1], &at[1]);
    *v = (view){MPI_BOTTOM, 1, MPI_DATATYPE_NULL};
    int rc = PMPI_Type_create_hindexed(2, lengths, at, MPI_BYTE, &v->type);
    return rc == MPI_SUCCESS ? PMPI_Type_commit(&v->type) : rc;
}

static void view_free(view *v)
{
    if (v->type != MPI_BYTE && v->type != MPI_DATATYPE_NULL)
        PMPI_Type_free(&v->type); /* messages that use it are not affected */
}

/* A message is about to be posted: where its request goes. asked: see pat_wire. */
static MPI_Request *next_request(pat_wire *w, int owner, int asked)
{
    w->owner[w->num] = owner;
    w->asked[w->num] = asked;
    MPI_Request *request = &w->requests[w->num++];
    *request = MPI_REQUEST_NULL; /* so it stays where the call fails */
    return request;
}

int pat_wire_send(pat_wire *w, int owner, int peer, int match, const pat_message_data *data, bool sync)
{
    view v;
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
        sync ? PMPI_Issend : PMPI_Isend;
    int rc = view_make(&v, data);
    if (rc == MPI_SUCCESS)
        rc = send(v.at, v.count, v.type, peer, w->first_tag + match, w->comm, next_request(w, owner, -1));
    view_free(&v);
    if (rc == MPI_SUCCESS)
        pat_mates_ring(&w->mates, peer);
    return rc;
}

int pat_wire_recv(pat_wire *w, int owner, int peer, int match, const pat_message_data *data)
{
    view v;
    int rc = view_make(&v, data);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Irecv(v.at, v.count, v.type, peer, w->first_tag + match, w->comm,
                        next_request(w, owner, peer));
    view_free(&v);
    return rc;
}

/* A message is over here: if it was received, its sender may have waited for that, since it was long, or synchronous. */
static void woken_by_end(const pat_wire *w, int place)
{
    if (w->asked[place] >= 0)
        pat_mates_ring(&w->mates, w->asked[place]);
}

int pat_wire_test(pat_wire *w, int *count)
{
    int rc = PMPI_Testsome(w->num, w->requests, count, w->over, MPI_STATUSES_IGNORE);
    if (*count == MPI_UNDEFINED)
        *count = 0;
    for (int i = 0; rc == MPI_SUCCESS && i < *count; i++)
        woken_by_end(w, w->over[i]);
    return rc;
}

void pat_wire_compact(pat_wire *w)
{
    int kept = 0;
    for (int i = 0; i < w->num; i++) {
        if (w->requests[i] == MPI_REQUEST_NULL)
            continue;
        w->requests[kept] = w->requests[i];
        w->asked[kept] = w->asked[i];
        w->owner[kept++] = w->owner[i];
    }
    w->num = kept;
}

int pat_wire_test_one(pat_wire *w, int place, bool *over, bool *cancelled)
{
    MPI_Status status;
    int flag = 0, gone = 0;
    int rc = PMPI_Test(&w->requests[place], &flag, &status);
    if (rc == MPI_SUCCESS && flag)
        rc = PMPI_Test_cancelled(&status, &gone);
    if (rc == MPI_SUCCESS && flag)
        woken_by_end(w, place);
    *over = flag;
    *cancelled = gone;
    return rc;
}

int pat_wire_cancel(pat_wire *w, int place)
{
    return PMPI_Cancel(&w->requests[place]);
}

int pat_wire_cancel_wait(pat_wire *w, int place)
{
    int rc = PMPI_Cancel(&w->requests[place]);
    return rc == MPI_SUCCESS ? PMPI_Wait(&w->requests[place], MPI_STATUS_IGNORE) : rc;
}
