/*
 * wire.c — see wire.h. Messages of two runs are sent and received where they are, by a datatype made for that one message.
 */
#include "wire.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "progress.h"
#include "reach.h"

/* What goes in place of an offered message's data. */
typedef struct card {
    pat_there data;
    uint64_t taken; /* where the sender is told */
    uint64_t mark;  /* CARD_MARK: it is a card, and whole */
} card;

#define CARD_MARK UINT64_C(0x5041546f66666572)

struct pat_offer {
    card card;             /* sent, or received */
    pat_message_data data; /* of the receiver: where it is to go */
    bool incoming;
    atomic_int taken; /* set by the receiver, from its process */
};

/* What the receiver sets. */
enum { NOT_YET, TAKEN, NOT_COPIED };

/* Does the message go as an offer? Both ends answer alike. */
static bool is_offered(const pat_wire *w, int peer, const pat_message_data *data)
{
    return w->mates.reach && w->mates.mate_of[peer] >= 0 &&
           pat_reach_pays(w->mates.reach, (int64_t)data->bytes[0] + data->bytes[1]);
}

/* NULL: there is no memory. */
static pat_offer *offer_of(pat_wire *w, int owner)
{
    if (!w->offers)
        w->offers = calloc((size_t)w->most, sizeof(*w->offers));
    return w->offers ? &w->offers[owner] : NULL;
}

bool pat_wire_make(pat_wire *w, MPI_Comm comm, int first_tag, int most)
{
    const size_t n = most > 0 ? (size_t)most : 1;
    *w = (pat_wire){.comm = comm, .first_tag = first_tag, .most = (int)n};
    w->requests = malloc((n + 1) * sizeof(MPI_Request)); /* one more: see pat_wire_test_known */
    w->owner = malloc(n * sizeof(*w->owner));
    w->over = malloc((n + 1) * sizeof(*w->over));
    w->asked = malloc(n * sizeof(*w->asked));
    return w->requests && w->owner && w->over && w->asked;
}

void pat_wire_free(pat_wire *w)
{
    free(w->requests);
    free(w->owner);
    free(w->over);
    free(w->asked);
    free(w->offers);
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

/* Where a message goes, or comes from, and its tag: `receiver` is one of the two ranks. */
static int number_of(const pat_wire *w, int rank)
{
    return w->contacts.rank ? w->contacts.rank[rank] : rank;
}

static int tag_of(const pat_wire *w, int receiver, int match)
{
    return (w->contacts.first_tag ? w->contacts.first_tag[receiver] : 0) + w->first_tag + match;
}

static int no_memory(void)
{
    return pat_error(MPI_ERR_NO_MEM, "no memory for the messages of a round");
}

static int post_send(pat_wire *w, int owner, int peer, int match, const pat_message_data *data, bool sync)
{
    view v;
    int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *) =
        sync ? PMPI_Issend : PMPI_Isend;
    int rc = view_make(&v, data);
    if (rc == MPI_SUCCESS)
        rc = send(v.at, v.count, v.type, number_of(w, peer), tag_of(w, peer, match), w->comm,
                  next_request(w, owner, PAT_WIRE_NOBODY));
    view_free(&v);
    return rc;
}

/* It is lent once MPI has sent the card. */
static int post_offer(pat_wire *w, int owner, int peer, int match, const pat_message_data *data)
{
    pat_offer *o = offer_of(w, owner);
    if (!o)
        return no_memory();
    atomic_init(&o->taken, NOT_YET);
    o->incoming = false;
    o->card = (card){{{(uintptr_t)data->at[0], (uintptr_t)data->at[1]}, {data->bytes[0], data->bytes[1]}},
                     (uintptr_t)&o->taken,
                     CARD_MARK};
    w->num_lent++;
    return PMPI_Isend(&o->card, sizeof(o->card), MPI_BYTE, number_of(w, peer), tag_of(w, peer, match),
                      w->comm, next_request(w, owner, PAT_WIRE_LENT));
}

int pat_wire_send(pat_wire *w, int owner, int peer, int match, const pat_message_data *data, bool sync)
{
    int rc = is_offered(w, peer, data) ? post_offer(w, owner, peer, match, data)
                                       : post_send(w, owner, peer, match, data, sync);
    if (rc == MPI_SUCCESS)
        pat_mates_ring(&w->mates, peer, PAT_BELL_DATA);
    return rc;
}

int pat_wire_recv(pat_wire *w, int owner, int peer, int match, const pat_message_data *data)
{
    const bool offered = is_offered(w, peer, data);
    pat_offer *o = offered ? offer_of(w, owner) : NULL;
    view v;
    if (offered && !o)
        return no_memory();
    if (offered) {
        o->card = (card){.mark = 0};
        o->incoming = true;
        o->data = *data;
    }
    const pat_message_data what =
        offered ? (pat_message_data){{(char *)&o->card, NULL}, {sizeof(o->card), 0}} : *data;
    int rc = view_make(&v, &what);
    if (rc == MPI_SUCCESS)
        rc = PMPI_Irecv(v.at, v.count, v.type, number_of(w, peer), tag_of(w, w->me, match), w->comm,
                        next_request(w, owner, peer));
    view_free(&v);
    return rc;
}

/* Does the card belong to a message as long as the one that is awaited? Else ranks have called with blocks of different lengths. */
static bool fits(const pat_offer *o)
{
    const int64_t offered = (int64_t)o->card.data.bytes[0] + o->card.data.bytes[1],
                  awaited = (int64_t)o->data.bytes[0] + o->data.bytes[1];
    return o->card.mark == CARD_MARK && offered == awaited;
}

/*
 * The offer is here: its data is copied, and the sender is told; also where that fails, since it waits. Of a process that has ended nothing comes any
 * more, as in MPI: whoever has started the job sees to that.
 */
static int take(pat_wire *w, int place, int peer)
{
    const pat_offer *o = &w->offers[w->owner[place]];
    const int mate = w->mates.mate_of[peer];
    const bool good = fits(o);
    int error =
        good ? pat_reach_copy(w->mates.reach, mate, &o->card.data, o->data.at, o->data.bytes) : EINVAL;
    if (error == 0)
        error = pat_reach_set(w->mates.reach, mate, o->card.taken, TAKEN);
    if (error == ESRCH)
        w->asked[place] = PAT_WIRE_GONE;
    if (error == 0 || error == ESRCH)
        return MPI_SUCCESS;
    if (o->card.mark != CARD_MARK || pat_reach_set(w->mates.reach, mate, o->card.taken, NOT_COPIED) != 0)
        pat_bells_fail(w->mates.bells, mate); /* which message it is cannot be said */
    pat_mates_ring(&w->mates, peer, PAT_BELL_DATA);
    return good
               ? pat_error(MPI_ERR_OTHER, "data in the memory of rank %d, on this node, cannot be copied: %s",
                           peer, strerror(error))
               : pat_error(MPI_ERR_TRUNCATE, "rank %d has sent another length than this rank awaits", peer);
}

static int not_copied(void)
{
    return pat_error(MPI_ERR_OTHER, "a rank of this node could not copy data of this rank");
}

/* Is what was lent over, taken or not? */
static int ask_back(pat_wire *w, int place, bool *over)
{
    const int said = atomic_load(&w->offers[w->owner[place]].taken);
    *over = said != NOT_YET;
    if (*over) {
        w->asked[place] = PAT_WIRE_NOBODY;
        w->num_lent--;
    }
    return said == NOT_COPIED ? not_copied() : MPI_SUCCESS;
}

/*
 * MPI has finished a message. Is it over? If it was received, its sender may have waited for that, since it was long, or synchronous.
 */
static int finish(pat_wire *w, int place, bool *over)
{
    const int peer = w->asked[place];
    int rc = MPI_SUCCESS;
    *over = peer > PAT_WIRE_LENT;
    if (peer == PAT_WIRE_LENT)
        rc = ask_back(w, place, over);
    if (peer >= 0 && w->offers && w->offers[w->owner[place]].incoming) {
        rc = take(w, place, peer);
        *over = w->asked[place] != PAT_WIRE_GONE;
    }
    if (rc == MPI_SUCCESS && *over && peer >= 0)
        pat_mates_ring(&w->mates, peer, PAT_BELL_DATA);
    return rc;
}

/*
 * MPI has nothing of this round to do any more, and does not look at anything then. But who is to take what is lent may wait for another
 * message of this process, which this look sets going.
 */
static int look_at_mpi(const pat_wire *w)
{
    int found, rank;
    if (pat_progress_now())
        return MPI_SUCCESS;
    /* Nobody sends to himself here: a probe that finds something looks no further. */
    PMPI_Comm_rank(w->comm, &rank);
    return PMPI_Iprobe(rank, MPI_ANY_TAG, w->comm, &found, MPI_STATUS_IGNORE);
}

/*
 * A test that finds nothing makes Open MPI take in what there is, and give away the processor where it yields. So beside the requests there is a
 * receive from nobody here, which is over when it is posted: something is always found.
 */
int pat_wire_test_known(MPI_Comm comm, int num, MPI_Request requests[], int *finished, int over[])
{
    int kept = 0;
    int rc = PMPI_Irecv(NULL, 0, MPI_BYTE, MPI_PROC_NULL, 0, comm, &requests[num]);
    *finished = 0;
    if (rc == MPI_SUCCESS)
        rc = PMPI_Testsome(num + 1, requests, finished, over, MPI_STATUSES_IGNORE);
    for (int i = 0; i < *finished; i++)
        if (over[i] < num)
            over[kept++] = over[i];
    *finished = kept;
    return rc;
}

/* Which of the messages that MPI has sent long ago are over now? They are added to w->over. */
static int find_taken(pat_wire *w, int *over)
{
    int rc = MPI_SUCCESS;
    for (int place = 0; rc == MPI_SUCCESS && w->num_lent > 0 && place < w->num; place++)
        if (w->asked[place] == PAT_WIRE_LENT && w->requests[place] == MPI_REQUEST_NULL) {
            bool is_over;
            rc = ask_back(w, place, &is_over);
            if (is_over)
                w->over[(*over)++] = place;
        }
    return rc == MPI_SUCCESS && w->num_lent > 0 && pat_bells_failed(w->mates.bells) ? not_copied() : rc;
}

int pat_wire_test(pat_wire *w, bool asks_mpi, int *count)
{
    int finished = 0, over = 0;
    int rc = asks_mpi ? PMPI_Testsome(w->num, w->requests, &finished, w->over, MPI_STATUSES_IGNORE)
                      : pat_wire_test_known(w->comm, w->num, w->requests, &finished, w->over);
    if (finished == MPI_UNDEFINED) {
        finished = 0;
        if (rc == MPI_SUCCESS && w->num > 0)
            rc = look_at_mpi(w);
    }
    /* All of them, also after an error: their senders wait. */
    for (int i = 0; i < finished; i++) {
        bool is_over;
        const int place = w->over[i], error = finish(w, place, &is_over);
        if (is_over)
            w->over[over++] = place;
        rc = rc == MPI_SUCCESS ? error : rc;
    }
    if (rc == MPI_SUCCESS)
        rc = find_taken(w, &over);
    *count = over;
    return rc;
}

void pat_wire_compact(pat_wire *w)
{
    int kept = 0;
    for (int i = 0; i < w->num; i++) {
        if (!pat_wire_is_open(w, i))
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
    const bool sent = w->requests[place] == MPI_REQUEST_NULL; /* and lent */
    int flag = 0, gone = 0;
    int rc = PMPI_Test(&w->requests[place], &flag, &status);
    *over = *cancelled = false;
    if (rc == MPI_SUCCESS && flag && !sent)
        rc = PMPI_Test_cancelled(&status, &gone);
    if (rc != MPI_SUCCESS || !flag)
        return rc;
    *cancelled = gone;
    *over = true;
    return gone ? rc : finish(w, place, over);
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

int pat_wire_await_self(MPI_Comm world, int self, int tag, MPI_Request *request)
{
    return PMPI_Recv_init(NULL, 0, MPI_BYTE, self, tag, world, request);
}

int pat_wire_tell_self(MPI_Comm world, int self, int tag, bool fails)
{
    static const char more = 0;
    MPI_Request sent;
    const int rc = PMPI_Isend(&more, fails, MPI_BYTE, self, tag, world, &sent);
    return rc == MPI_SUCCESS ? PMPI_Request_free(&sent) : rc;
}
