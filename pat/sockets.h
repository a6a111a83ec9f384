/*
 * sockets.h — sleep until something comes in over TCP, or until a rank of this node rings the bell. MPI cannot be waited for without polling it; but the
 * sockets that its messages come in through belong to this process, and the kernel tells when one of them has
 * something to read. They are only ever looked at: reading stays with the MPI library.
 *
 * Nothing relies on it: messages may come another way (other networks), a socket may be missed,
 * and sockets of the application are watched as well. So every wait has a time limit, a socket that stays
 * readable although MPI was driven is left out after a while, and a thread that sees messages come in that no
 * socket announced polls instead.
 */
#ifndef PAT_SOCKETS_H
#define PAT_SOCKETS_H

#include <stdbool.h>
#include <stdint.h>

#include "bells.h"

typedef struct pat_sockets pat_sockets;

/* Make a set of sockets, for one thread at a time; pat_sockets_scan fills it. NULL when there is no memory. */
pat_sockets *pat_sockets_create(void);
void pat_sockets_free(pat_sockets *sockets);

/*
 * Beside sockets, this process's bell (bells.h) is to wake: it tells of messages from ranks of this node. The bells stay the caller's, and outlive the set.
 * NULL is allowed for either.
 */
void pat_sockets_hear(pat_sockets *sockets, pat_bells *bells);

/* A look begins: a bell that is rung from now on ends the next wait, at once where it was rung before that. NULL is allowed. */
void pat_sockets_look(pat_sockets *sockets);

/* Is a bell that is rung for data to end waits from now on? At first it is. NULL is allowed. */
void pat_sockets_heed(pat_sockets *sockets, bool data);

/*
 * Find this process's connected TCP sockets, and those that listen: the MPI library opens the connection of two ranks when they first send each
 * other something, and whoever sleeps would be told of none of what comes over it. Returns how many are connected.
 */
int pat_sockets_scan(pat_sockets *sockets);

/*
 * Data that a packet of the network carries: the least that TCP may put into one (TCP_MAXSEG) over the connections found
 * by the last scan, whosever they are. Those that carry more than jumbo frames stay within the machine and do not count.
 * INT_MAX: there are none (0 in pat_link).
 */
int pat_sockets_packet_bytes(const pat_sockets *sockets);

enum pat_sockets_event {
    PAT_SOCKETS_TIME,  /* the time has passed */
    PAT_SOCKETS_EXTRA, /* extra_fd has something to read */
    PAT_SOCKETS_DATA,  /* a socket has something to read, or takes more, or the bell was rung */
};

/*
 * Sleep until a socket has something to read, one that is full takes more if `sending`, extra_fd (unless -1) has
 * something to read, or timeout_ns have passed (negative: no limit). With sockets NULL: only the last two. Returns which it was.
 */
enum pat_sockets_event pat_sockets_wait(pat_sockets *sockets, int extra_fd, bool sending, int64_t timeout_ns);

/* Learn from a wait that ended with `event`: did driving MPI then move anything (that a socket or a bell should have told of, after PAT_SOCKETS_TIME)? NULL is allowed here and below. */
void pat_sockets_learn(pat_sockets *sockets, enum pat_sockets_event event, bool moved);

/* Of whose messages is this process told? Of others' they must be looked for by the clock. */
typedef struct pat_sockets_told {
    bool near; /* by a bell, of those from ranks of this node */
    bool far;  /* by sockets, of those from ranks of other nodes */
} pat_sockets_told;

/* Of nobody's, where most messages have come in lately of which nothing told. NULL is allowed. */
pat_sockets_told pat_sockets_tell(const pat_sockets *sockets);

#endif
