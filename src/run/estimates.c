/*
 * estimates.c — see estimates.h.
 */
#include "estimates.h"

#include "ensure.h"
#include "runtime.h"
#include "select.h"

/*
 * How ranks say what they call, or will call, in one number: the collective, the root, and the bytes of a block and of an element, or,
 * where blocks differ, something that tells them from others well enough. Whoever has not called yet can make a plan for the
 * latter only if they are those that the last calls let expect.
 */
enum { TOKEN_OP = 59, TOKEN_DIFFER = 62, TOKEN_ELEMENT = 32, TOKEN_ROOT = 40 };

_Static_assert(PAT_NUM_OPS <= 1 << (TOKEN_DIFFER - TOKEN_OP), "a token has so many bits for the collective");

/* Of a rank beyond the bits that there are another one is said, by all ranks alike: a wrong guess. */
static int64_t root_bits(int root)
{
    return ((int64_t)root & ((1 << (TOKEN_OP - TOKEN_ROOT)) - 1)) << TOKEN_ROOT;
}

int64_t pat_estimates_token(const pat_comm *c, const pat_lane *lane, pat_blocks blocks)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    const int64_t op = (int64_t)lane->op << TOKEN_OP;
    if (blocks.bytes == PAT_NO_CALL)
        return PAT_NO_CALL;
    if (!blocks.starts)
        return op | root_bits(blocks.root) | blocks.element_bytes << TOKEN_ELEMENT | blocks.bytes;
    for (int b = 1; b <= c->size; b++) /* FNV-1a, a word at a time */
        hash = (hash ^ (uint64_t)blocks.starts[b]) * UINT64_C(0x100000001b3);
    return INT64_C(1) << TOKEN_DIFFER | op | (int64_t)(hash >> (64 - TOKEN_OP));
}

/* The lane of the collective that a token stands for. */
static pat_lane *lane_of_token(pat_comm *c, int64_t token)
{
    const int64_t op = token >> TOKEN_OP & ((1 << (TOKEN_DIFFER - TOKEN_OP)) - 1);
    PAT_ENSURE(op < PAT_NUM_OPS);
    return &c->lanes[op];
}

const pat_algorithm *pat_estimates_algorithm(pat_comm *c, const pat_lane *lane)
{
    const pat_algorithm *alg =
        pat_select(c, atomic_load(&pat_rt.alg[lane->op]), lane->shapes.guess.mean_bytes, true, NULL);
    return lane->by_estimates && c->said && pat_estimates_announced(c) == lane ? c->said : alg;
}

pat_lane *pat_estimates_announced(pat_comm *c)
{
    if (c->exchange.state != PAT_EXCHANGE_DONE || c->exchange.expected_token == PAT_NO_CALL)
        return NULL;
    return lane_of_token(c, c->exchange.expected_token);
}

enum pat_announced pat_estimates_announced_to(pat_comm *c, const pat_lane *lane)
{
    const pat_lane *said = pat_estimates_announced(c);
    if (!said)
        return PAT_ANNOUNCED_NONE;
    return said == lane ? PAT_ANNOUNCED_THIS : PAT_ANNOUNCED_OTHER;
}

pat_blocks pat_estimates_expected(pat_comm *c, const pat_lane *lane, const pat_algorithm *alg)
{
    const int64_t token = c->exchange.expected_token, bytes = token & UINT32_MAX;
    const enum pat_announced to = pat_estimates_announced_to(c, lane);
    const bool said_guess =
        to == PAT_ANNOUNCED_THIS && token == pat_estimates_token(c, lane, lane->shapes.guess);
    const pat_guess_facts facts = {.basis = pat_comm_basis(c, alg),
                                   .announced = to,
                                   .said_guess = said_guess,
                                   .said_hashed = token >> TOKEN_DIFFER & 1};
    switch (pat_guess_next(&facts)) {
    case PAT_GUESS_BY_ORDER:
        return lane->shapes.guess;
    case PAT_GUESS_SAID:
        return (pat_blocks){.bytes = bytes,
                            .mean_bytes = bytes,
                            .element_bytes = token >> TOKEN_ELEMENT & 0xff,
                            .root = (int)(token >> TOKEN_ROOT & ((1 << (TOKEN_OP - TOKEN_ROOT)) - 1))};
    default:
        return (pat_blocks){.bytes = PAT_NO_CALL};
    }
}

int pat_estimates_contribute(pat_comm *c, int64_t arrival_ns, int64_t token, enum pat_certain certain)
{
    pat_estimate mine = {arrival_ns, token, certain, !atomic_load(&pat_rt.edged), c->doubt_ns};
    if (c->exchange.state != PAT_EXCHANGE_NONE)
        return MPI_SUCCESS;
    c->said = NULL;
    return pat_exchange_post(&c->exchange, mine, pat_clock_local_ns());
}

int pat_estimates_say_no_call(pat_comm *c)
{
    return pat_estimates_contribute(c, pat_timekeeper_now_ns(&pat_rt.time), PAT_NO_CALL,
                                    c->leave == PAT_LEAVE_NOT ? PAT_CERTAIN : PAT_FOR_EVER);
}

bool pat_estimates_chosen(pat_comm *c)
{
    return c->said && pat_estimates_announced(c) == c->lane &&
           c->exchange.expected_token == pat_estimates_token(c, c->lane, pat_blocks_of(&c->call));
}

/* Who runs the call that they announce; of one that nobody can make a plan for before it comes nobody needs to know. */
static int choose_announced(pat_comm *c)
{
    const int64_t token = c->exchange.expected_token;
    pat_lane *lane = pat_estimates_announced(c);
    if (!lane || !lane->by_estimates)
        return MPI_SUCCESS;
    if (token == pat_estimates_token(c, lane, lane->shapes.guess))
        return pat_select_said(c, lane, lane->shapes.guess.mean_bytes, &c->said);
    return token >> TOKEN_DIFFER & 1 ? MPI_SUCCESS : pat_select_said(c, lane, token & UINT32_MAX, &c->said);
}

static void note_first(pat_comm *c)
{
    int64_t first_ns = c->exchange.mine.arrival_ns;
    for (int r = 0; r < c->size; r++)
        first_ns = c->exchange.all[r].arrival_ns < first_ns ? c->exchange.all[r].arrival_ns : first_ns;
    atomic_store(&c->ahead_ns, c->exchange.mine.arrival_ns - first_ns);
}

int pat_estimates_test(pat_comm *c, bool *moved)
{
    const enum pat_exchange_state before = c->exchange.state;
    /* Whom estimates choose follows from earlier calls, and from all of them on every rank. */
    if (c->sample.under_way)
        return pat_tell_pass(&c->exchange.tell, moved);
    int rc = pat_exchange_test(&c->exchange, moved);
    if (rc != MPI_SUCCESS || before == PAT_EXCHANGE_DONE || c->exchange.state != PAT_EXCHANGE_DONE)
        return rc;
    note_first(c);
    return choose_announced(c);
}

void pat_estimates_called(pat_comm *c, int64_t arrival_ns)
{
    enum {
        FADES = 8,
        OUTLIER = 4
    }; /* the mean is over so many calls, or so; and one that is so many times as wrong counts for no more */
    const int64_t most_ns = INT64_C(1000000000000), least_ns = 1000000;
    if (c->exchange.state == PAT_EXCHANGE_NONE || c->exchange.mine.certain || !pat_comm_estimates(c, c->alg))
        return;
    const int64_t off_ns = arrival_ns - c->exchange.mine.arrival_ns, all_ns = off_ns < 0 ? -off_ns : off_ns,
                  error_ns = all_ns < most_ns ? all_ns : most_ns,
                  outlier_ns = OUTLIER * (c->doubt_ns > least_ns ? c->doubt_ns : least_ns);
    c->num_doubts +=
        c->num_doubts == 0 ? 2 : c->num_doubts < FADES; /* the first one is not to count in full */
    c->doubt_ns += ((error_ns < outlier_ns ? error_ns : outlier_ns) - c->doubt_ns) / c->num_doubts;
    atomic_fetch_add_explicit(&pat_rt.estimates, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&pat_rt.estimates_off_ns, error_ns, memory_order_relaxed);
}

int64_t pat_estimates_due(const pat_comm *c)
{
    return atomic_load(&c->edge) && c->exchange.state == PAT_EXCHANGE_NONE ? atomic_load(&c->edge_due_ns)
                                                                           : INT64_MAX;
}

/* A PAT_Edge that should have come by now makes the call so much later, at least. */
static int64_t edge_arrival_ns(pat_comm *c)
{
    const int64_t next_ns = atomic_load(&c->edge_next_ns), now_ns = pat_clock_local_ns();
    return atomic_load(&c->edge_arrival_ns) + (now_ns > next_ns ? now_ns - next_ns : 0);
}

int pat_estimates_hear(pat_comm *c, bool *moved)
{
    int rc = MPI_SUCCESS;
    /* What a started request's round teaches is learnt by PAT_Wait, and who runs the next call follows from it. */
    if (c->hold.started && atomic_load(&c->listens))
        return rc;
    if (pat_estimates_due(c) <= pat_clock_local_ns()) {
        const pat_lane *lane = &c->lanes[c->follows[c->last_op]];
        if (!pat_comm_estimates(c, pat_estimates_algorithm(c, lane)))
            return rc;
        atomic_store(&c->edge, false);
        rc = pat_estimates_contribute(c, edge_arrival_ns(c), pat_estimates_token(c, lane, lane->shapes.guess),
                                      PAT_GUESSED);
    }
    return rc == MPI_SUCCESS ? pat_estimates_test(c, moved) : rc;
}
