/*
 * plain_flights.c — random programs that know nothing of this library: several collectives and messages under way at once on several communicators and in two
 * threads, blocking calls between them, completed in every way that MPI has and in another order on every rank. What every result must be is known beforehand. Run
 * as it is and under the drop-in. Arguments: seed, programs.
 *
 * What all ranks must do alike comes from one generator with the same seed everywhere, what each does for itself from another one. A program's seed is that of the
 * first one plus its number, so that one that fails can be run alone.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "plain_flights.h"

enum { MOST_FLIGHTS = 6, MOST_STEPS = 16, STRANDS = 2, MOST_COMMS = 3 };

/* One thread's part of a program. */
typedef struct strand {
    MPI_Comm base;
    uint64_t shared, own;
    flight flights[MOST_FLIGHTS];
    int failures;
    bool frees_first; /* the communicators are freed before what is under way there is complete */
} strand;

static atomic_llong num_calls;

static int upto(uint64_t *state, int n)
{
    return (int)(next(state) % (uint32_t)n);
}

/* ---- Flights: which are under way is the same on all ranks, but not which have ended ------------------------ */

static void land(strand *s, flight *f)
{
    int wrong = f->what->wrong(f);
    for (int i = 0; i < BEHIND; i++)
        wrong += f->to[f->to_count + i] != SPOILT;
    for (int i = 0; f->from && i < f->from_count; i++) /* what is sent must stay as it is */
        wrong += f->from[i] != as_stored(f, given(f, f->g.rank, i));
    for (int i = 0; i < f->num_requests; i++)
        if (f->kept)
            MUST(MPI_Request_free(&f->requests[i]));
        else
            wrong += f->requests[i] != MPI_REQUEST_NULL;
    if (wrong && s->failures++ < 5)
        fprintf(stderr, "%s of %d integers, rank %d of %d, key %d: %d are wrong\n", f->what->name, f->count,
                f->g.rank, f->g.size, f->key, wrong);
    free(f->from);
    free(f->to);
    free(f->counts);
    free(f->at);
    free(f->from_counts);
    free(f->from_at);
    *f = (flight){.what = NULL};
}

/* The requests of all flights, and where each belongs. */
typedef struct open_requests {
    int num, flight[2 * MOST_FLIGHTS], place[2 * MOST_FLIGHTS];
    bool any_kept;
    MPI_Request of[2 * MOST_FLIGHTS];
} open_requests;

static open_requests collect(const strand *s, int only)
{
    open_requests o = {.num = 0};
    for (int i = 0; i < MOST_FLIGHTS; i++)
        for (int k = 0; (only < 0 || only == i) && k < s->flights[i].num_requests; k++) {
            if (s->flights[i].done[k])
                continue;
            o.any_kept = o.any_kept || s->flights[i].kept;
            o.flight[o.num] = i;
            o.place[o.num] = k;
            o.of[o.num++] = s->flights[i].requests[k];
        }
    return o;
}

/* What a call of MPI has made of them: those at `done` are complete. */
static void settle(strand *s, const open_requests *o, int num_done, const int *done)
{
    for (int i = 0; i < o->num; i++)
        s->flights[o->flight[i]].requests[o->place[i]] = o->of[i];
    for (int i = 0; i < num_done; i++) {
        const int which = done ? done[i] : i;
        flight *f = &s->flights[o->flight[which]];
        f->done[o->place[which]] = true;
        if (--f->left == 0 && !(f->kept && s->frees_first)) /* these are freed after their communicators */
            land(s, f);
    }
}

enum way { WAITALL, WAITANY, WAITSOME, TEST, TESTANY, TESTSOME, TESTALL, STATUS_FIRST, NUM_WAYS };

/* Complete one flight or more, or look whether there is one that is complete. */
static void complete(strand *s, int only, enum way way)
{
    open_requests o = collect(s, only);
    int done[2 * MOST_FLIGHTS], num = 0, flag = 0;
    if (o.num == 0)
        return;
    if (way == TESTALL && o.any_kept && !mpi_has_good_persistent())
        way = WAITALL;
    switch (way) {
    case WAITANY:
        MUST(MPI_Waitany(o.num, o.of, &done[0], MPI_STATUS_IGNORE));
        num = done[0] != MPI_UNDEFINED;
        break;
    case WAITSOME:
        MUST(MPI_Waitsome(o.num, o.of, &num, done, MPI_STATUSES_IGNORE));
        break;
    case TEST:
        MUST(MPI_Test(&o.of[0], &flag, MPI_STATUS_IGNORE));
        num = flag;
        done[0] = 0;
        break;
    case TESTANY:
        MUST(MPI_Testany(o.num, o.of, &done[0], &flag, MPI_STATUS_IGNORE));
        num = flag && done[0] != MPI_UNDEFINED;
        break;
    case TESTSOME:
        MUST(MPI_Testsome(o.num, o.of, &num, done, MPI_STATUSES_IGNORE));
        break;
    case TESTALL:
        MUST(MPI_Testall(o.num, o.of, &flag, MPI_STATUSES_IGNORE));
        settle(s, &o, flag ? o.num : 0, NULL);
        return;
    case STATUS_FIRST:
        MUST(MPI_Request_get_status(o.of[0], &flag, MPI_STATUS_IGNORE));
        MUST(MPI_Wait(&o.of[0], MPI_STATUS_IGNORE));
        num = 1;
        done[0] = 0;
        break;
    default:
        MUST(MPI_Waitall(o.num, o.of, MPI_STATUSES_IGNORE));
        settle(s, &o, o.num, NULL);
        return;
    }
    settle(s, &o, num == MPI_UNDEFINED ? 0 : num, done);
}

static int some_count(strand *s, int size)
{
    static const int most[] = {2, 16, 300, 3000, 12000, 30000};
    const int limit = most[upto(&s->shared, 6)], count = upto(&s->shared, limit + 1);
    return size > 8 ? count / 4 : count;
}

static bool is_message(const flight *f)
{
    return f->what->wrong == wrong_message;
}

/* What is to begin: of so many kinds, in a place that is free. */
static void draw(strand *s, flight *f, const group *g, int num_kinds)
{
    *f = (flight){.what = &kinds[upto(&s->shared, num_kinds)], .g = *g, .num_requests = 1};
    f->key = (int)(next(&s->shared) % 1000000);
    f->count = some_count(s, g->size);
    f->root = upto(&s->shared, g->size);
    f->shift = 1 + upto(&s->shared, g->size);
    f->in_place = upto(&s->shared, 3) == 0 && !is_message(f);
    f->largest = upto(&s->shared, 2);
    f->pairs = f->count % 2 == 0 && upto(&s->own, 2);
    sometimes_sleep(&s->own);
}

#ifdef PERSISTENT
/* Ranks may start them in different orders. */
static void start_two(strand *s, flight *of[2])
{
    const int first = upto(&s->own, 2);
    MPI_Request both[2] = {of[first]->requests[0], of[1 - first]->requests[0]};
    if (upto(&s->own, 2)) {
        MUST(MPI_Startall(2, both));
    } else {
        MUST(MPI_Start(&both[0]));
        sometimes_sleep(&s->own);
        MUST(MPI_Start(&both[1]));
    }
    atomic_fetch_add(&num_calls, 2);
}

/* One time is over: what has come is spoilt, so that it has to come again. Not where it is sent too. */
static void spoil(strand *s, flight *f, bool in_place)
{
    const int wrong = f->what->wrong(f);
    if (wrong && s->failures++ < 5)
        fprintf(stderr, "%s of %d integers, rank %d of %d, key %d, to be started again: %d are wrong\n",
                f->what->name, f->count, f->g.rank, f->g.size, f->key, wrong);
    for (int i = 0; !in_place && f->what->begin != begin_bcast && i < f->to_count; i++)
        f->to[i] = SPOILT;
}

/* Is more than one start wanted, and can the MPI library do that, with what this flight is given? */
static bool may_start_again(const flight *f, bool in_place)
{
    return mpi_has_good_persistent() && (!in_place || f->what->begin == begin_bcast);
}

/* While both are under way, and beside them: calls that block and that do not, and a request that is made, never started, and freed. */
static void disturb(strand *s, const group *g)
{
    int one = 1, sum[2] = {0, 0};
    MPI_Request request;
    switch (upto(&s->shared, 4)) {
    case 0:
        MUST(MPI_Allreduce(&one, sum, 1, MPI_INT, MPI_SUM, g->comm));
        s->failures += sum[0] != g->size;
        break;
    case 1:
        MUST(MPI_Iallreduce(&one, sum, 1, MPI_INT, MPI_SUM, g->comm, &request));
        MUST(MPI_Wait(&request, MPI_STATUS_IGNORE));
        s->failures += sum[0] != g->size;
        break;
    case 2:
        MUST(PERSISTENT(Allreduce)(&one, sum, 1, MPI_INT, MPI_SUM, g->comm, MPI_INFO_NULL, &request));
        MUST(MPI_Request_free(&request));
        break;
    default:
        break;
    }
}

/* Two persistent collectives, which are made and started, and sometimes waited for and started again, up to four times in all. */
static void begin_kept(strand *s, const group *g)
{
    const int slot = upto(&s->shared, MOST_FLIGHTS),
              other = (slot + 1 + upto(&s->shared, MOST_FLIGHTS - 1)) % MOST_FLIGHTS;
    flight *of[2] = {&s->flights[slot], &s->flights[other]};
    bool in_place[2];
    int again = upto(&s->shared, 4);
    while (of[0]->left > 0 || of[1]->left > 0)
        complete(s, of[0]->left > 0 ? slot : other, WAITALL);
    for (int i = 0; i < 2; i++) {
        draw(s, of[i], g, COLLECTIVES);
        of[i]->kept = true;
        in_place[i] = of[i]->in_place;
        again = may_start_again(of[i], in_place[i]) ? again : 0;
        must(of[i]->what->begin(of[i], of[i]->requests), of[i]->what->name);
    }
    start_two(s, of);
    for (int i = 0; i < again; i++) {
        disturb(s, g);
        for (int k = 0; k < 2; k++) {
            MUST(MPI_Wait(&of[k]->requests[0], MPI_STATUS_IGNORE));
            spoil(s, of[k], in_place[k]);
        }
        start_two(s, of);
    }
    disturb(s, g);
    of[0]->left = of[1]->left = 1;
}
#endif

static void begin(strand *s, const group *g)
{
    const int slot = upto(&s->shared, MOST_FLIGHTS), form = upto(&s->shared, 6);
    const bool blocking = form < 2;
    flight *f = &s->flights[slot];
#ifdef PERSISTENT
    if (form == 2) {
        begin_kept(s, g);
        return;
    }
#endif
    while (f->left > 0)
        complete(s, slot, WAITALL);
    draw(s, f, g, KINDS);
    must(f->what->begin(f, blocking ? NULL : f->requests), f->what->name);
    atomic_fetch_add(&num_calls, 1);
    if (blocking) {
        f->num_requests = 0;
        land(s, f);
    } else {
        f->left = f->num_requests;
    }
}

static void complete_some(strand *s)
{
    const int only = upto(&s->own, 2) ? -1 : upto(&s->own, MOST_FLIGHTS);
    complete(s, only, (enum way)upto(&s->own, NUM_WAYS));
}

/* Open MPI 4.1 crashes where a communicator is freed while a collective of its own is under way there. */
static void complete_collectives(strand *s)
{
    for (int i = 0; i < MOST_FLIGHTS; i++)
        if (s->flights[i].left > 0 && !is_message(&s->flights[i]))
            complete(s, i, WAITALL);
}

/* Its communicators are made in the program, and freed at its end, or before all messages there have come. */
static void *run_strand(void *of)
{
    strand *s = of;
    group groups[MOST_COMMS];
    const int num_groups = 1 + upto(&s->shared, MOST_COMMS), steps = 4 + upto(&s->shared, MOST_STEPS - 3);
    const group base = group_of(s->base);
    for (int i = 0; i < num_groups; i++) {
        MPI_Comm comm;
        const int form = upto(&s->shared, 3);
        MUST(form == 0   ? MPI_Comm_dup(s->base, &comm)
             : form == 1 ? MPI_Comm_split(s->base, 0, -base.rank, &comm)
                         : MPI_Comm_split(s->base, base.rank % 2, base.rank, &comm));
        groups[i] = group_of(comm);
    }
    for (int i = 0; i < steps; i++) {
        begin(s, &groups[upto(&s->shared, num_groups)]);
        if (upto(&s->own, 3) == 0)
            complete_some(s);
    }
    const bool frees_first = s->frees_first = upto(&s->shared, 3) == 0;
    if (frees_first)
        complete_collectives(s);
    for (int i = 0; frees_first && i < num_groups; i++)
        MUST(MPI_Comm_free(&groups[i].comm));
    s->frees_first = false;
    for (int i = 0; i < MOST_FLIGHTS; i++)
        if (s->flights[i].what && s->flights[i].kept && s->flights[i].left == 0)
            land(s, &s->flights[i]);
    while (collect(s, -1).num > 0) {
        sometimes_sleep(&s->own);
        complete_some(s);
    }
    for (int i = 0; !frees_first && i < num_groups; i++)
        MUST(MPI_Comm_free(&groups[i].comm));
    return NULL;
}

#ifdef PERSISTENT
/* Of these the first has been started, and none is freed before MPI_Finalize. */
static void leave_behind(MPI_Comm comm)
{
    static int ones[2][2000], sums[2][2000];
    MPI_Request requests[2];
    for (int i = 0; i < 2; i++)
        MUST(PERSISTENT(Allreduce)(ones[i], sums[i], 2000, MPI_INT, MPI_SUM, comm, MPI_INFO_NULL,
                                   &requests[i]));
    MUST(MPI_Start(&requests[0]));
    MUST(MPI_Wait(&requests[0], MPI_STATUS_IGNORE));
}
#endif

/* Returns how many results were wrong. */
static int run_program(const MPI_Comm *bases, int rank, uint64_t seed, bool threads)
{
    strand s[STRANDS] = {0};
    pthread_t other;
    for (int i = 0; i < STRANDS; i++) {
        s[i].base = bases[i];
        s[i].shared = seed * 7919 + 17 + (uint64_t)i * UINT64_C(0x9e3779b97f4a7c15);
        s[i].own = s[i].shared + (uint64_t)(rank + 1) * 104729;
        for (int n = 0; n < 8; n++) {
            next(&s[i].shared);
            next(&s[i].own);
        }
    }
    const bool two = threads && upto(&s[0].shared, 2);
    if (two && pthread_create(&other, NULL, run_strand, &s[1]) != 0)
        MPI_Abort(MPI_COMM_WORLD, 3);
    run_strand(&s[0]);
    if (two)
        pthread_join(other, NULL);
    return s[0].failures + s[1].failures;
}

int main(int argc, char **argv)
{
    int level, rank, size, all = 0, failures = 0;
    MPI_Comm bases[STRANDS];
    if (argc != 3) {
        fprintf(stderr, "usage: plain_flights SEED PROGRAMS\n");
        return 2;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (level != MPI_THREAD_MULTIPLE && rank == 0)
        fprintf(stderr, "plain_flights: one thread: MPI gives no MPI_THREAD_MULTIPLE\n");
    const long seed = atol(argv[1]), programs = atol(argv[2]);
    for (int i = 0; i < STRANDS; i++)
        MPI_Comm_dup(MPI_COMM_WORLD, &bases[i]);
    for (long p = 0; p < programs; p++) {
        const int wrong = run_program(bases, rank, (uint64_t)(seed + p), level == MPI_THREAD_MULTIPLE);
        if (wrong)
            fprintf(stderr, "plain_flights: seed %ld: %d results are wrong on rank %d\n", seed + p, wrong,
                    rank);
        failures += wrong;
        if (rank == 0 && (p + 1) % 500 == 0) {
            fprintf(stderr, "plain_flights: %ld programs\n", p + 1);
            fflush(stderr);
        }
    }
    MPI_Reduce(&failures, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0)
        printf("plain_flights: seed %ld, %ld programs, %d ranks, %lld calls: %d differences\n", seed,
               programs, size, (long long)atomic_load(&num_calls), all);
#ifdef PERSISTENT
    leave_behind(bases[0]);
#endif
    for (int i = 0; i < STRANDS; i++)
        MPI_Comm_free(&bases[i]);
    MPI_Finalize();
    return failures != 0;
}
