/*
 * wire.h — the messages of one round that are in flight. The only file of a round that sends, receives, tests and cancels: another
 * transport, or another way of making progress, is another file like it. Must never know what a message is for.
 *
 * A long message between ranks that reach each other's memory (reach.h) goes as an offer: what MPI sends is where the data lies, the receiver
 * copies it, and then tells the sender that it has. So it is copied once, also where it has two runs, and it is over for its sender when the receiver has it.
 *
 * A message has an owner, a number that the caller chooses (the engine: the node), and a place, its index among the messages in
 * flight. All functions that return int return MPI error codes.
 */
#ifndef PAT_WIRE_H
#define PAT_WIRE_H

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

#include "bells.h"
#include "engine_types.h"

/* The data of a message: one run of bytes, or two, of which the second may be empty. */
typedef struct pat_message_data {
    char *at[2];
    int bytes[2];
} pat_message_data;

typedef struct pat_offer pat_offer;

/*
 * Who waits for a message's end: nobody; its own sender, which has offered it and waits until it is taken; or its receiver, for ever, since whoever has
 * offered it is gone.
 */
enum { PAT_WIRE_NOBODY = -1, PAT_WIRE_LENT = -2, PAT_WIRE_GONE = -3 };

typedef struct pat_wire {
    MPI_Comm comm;
    int first_tag; /* after the receiver's own, where it has chosen some */
    pat_contacts contacts;
    int me;                /* this rank's number; not needed where nobody has chosen tags */
    pat_mates mates;       /* woken by what is sent to them, and by the end of what they sent */
    MPI_Request *requests; /* dense but for those that are over since the last pat_wire_compact */
    int *owner;
    int *asked;        /* of a receive: the rank that may wait for its end; else one of those above */
    int *over;         /* places of the messages that the last pat_wire_test found over */
    pat_offer *offers; /* by owner; NULL: there has been none */
    int most;          /* owners are below that */
    int num;
    int num_lent; /* offers that MPI has sent and nobody has taken yet, as far as is known */
} pat_wire;

/* Room for so many messages. Returns whether there is memory; pat_wire_free is to be called in any case. */
bool pat_wire_make(pat_wire *wire, MPI_Comm comm, int first_tag, int most);
void pat_wire_free(pat_wire *wire);

/* Post a message with the tag first_tag + match. sync: it ends when the receiver takes it. */
int pat_wire_send(pat_wire *wire, int owner, int peer, int match, const pat_message_data *data, bool sync);
int pat_wire_recv(pat_wire *wire, int owner, int peer, int match, const pat_message_data *data);

/*
 * Which messages are over? asks_mpi: MPI takes in first what there is, where it has not told of any; else, with Open MPI, only what it has taken in before counts,
 * which asks nothing of the network (data that a rank of this node has offered by then is copied all the same). *count of them; their places are over[0] and so on. Messages that are posted meanwhile come behind all
 * others. pat_wire_compact then drops those that are over; what is left keeps its order.
 */
int pat_wire_test(pat_wire *wire, bool asks_mpi, int *count);
void pat_wire_compact(pat_wire *wire);

/*
 * The same for any requests: which of them are over, by what MPI has taken in already? Room for one request more is used, and for one place more. Their
 * places are over[0] and so on, *finished of them. comm: some communicator of the library's.
 */
int pat_wire_test_known(MPI_Comm comm, int num, MPI_Request requests[], int *finished, int over[]);

/* Is the message at a place an offer of this rank, of which MPI has told, and another one has only to take it? */
static inline bool pat_wire_is_lent(const pat_wire *wire, int place)
{
    return wire->requests[place] == MPI_REQUEST_NULL && wire->asked[place] == PAT_WIRE_LENT;
}

/* Of one message by its place: has no test found it over yet? Is it over now, and was it cancelled then? */
static inline bool pat_wire_is_open(const pat_wire *wire, int place)
{
    return wire->requests[place] != MPI_REQUEST_NULL || wire->asked[place] <= PAT_WIRE_LENT;
}
int pat_wire_test_one(pat_wire *wire, int place, bool *over, bool *cancelled);

/* Cancel a receive: only ask MPI for it; or ask, and wait until the receive is over. */
int pat_wire_cancel(pat_wire *wire, int place);
int pat_wire_cancel_wait(pat_wire *wire, int place);

/*
 * A persistent receive of nothing, from this rank itself, whose number in `world` this is; and what completes it once it is started, from whichever thread, with an error (MPI_ERR_TRUNCATE) where `fails`. On a communicator of this rank alone
 * MPI_Wait of MPICH 4.0 would not see what another thread sends. Return MPI error codes.
 */
int pat_wire_await_self(MPI_Comm world, int self, int tag, MPI_Request *request);
int pat_wire_tell_self(MPI_Comm world, int self, int tag, bool fails);

#endif
