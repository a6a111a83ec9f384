/*
 * epoch.c — see epoch.h. What is decided here follows only from values that all ranks share: the call's
 * bytes, the algorithm, the agreed link, and estimates that all ranks have received. Local time and local
 * luck decide only when a step is taken, never which.
 */
#include "epoch.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "error.h"
#include "pace.h"
#include "runtime.h"
#include "select.h"
#include "trace.h"
#include "wait.h"

/* ---- Plans -------------------------------------------------------------------------------------------- */

/* Two slots an epoch: the round that was prepared, and the one that takes its place when the call is another. */
static int slot_prepared(const pat_comm *c)
{
    return 2 * (int)(c->epoch % PAT_TAG_EPOCHS);
}

static void round_end(pat_comm *c, pat_round *round)
{
    pat_exec_free(round->exec);
    round->exec = NULL;
    pat_plan_cache_release(&c->plans, &round->plan);
}

static bool same_blocks(const pat_comm *c, pat_blocks a, pat_blocks b)
{
    return a.bytes == b.bytes && !a.starts == !b.starts &&
           (!a.starts || memcmp(a.starts, b.starts, ((size_t)c->size + 1) * sizeof(*a.starts)) == 0);
}

static pat_blocks blocks_of_plan(const pat_plan *plan)
{
    return (pat_blocks){plan->block_bytes, plan->starts, 0};
}

static int round_make(pat_comm *c, pat_round *round, const pat_algorithm *alg, pat_blocks blocks, int slot)
{
    pat_job job = pat_comm_job(c, blocks.bytes);
    job.starts = blocks.starts;
    if (pat_comm_estimates(c, alg)) {
        for (int r = 0; r < c->size; r++)
            c->arrival_ns[r] = c->exchange.all[r].arrival_ns;
        job.arrival_ns = c->arrival_ns;
    }
    int error = pat_plan_cache_get(&c->plans, alg, &job, c->rank, &round->plan);
    if (!error)
        error = pat_exec_create(&round->exec, round->plan, c->own, pat_comm_tags(c, slot));
    if (!error && pat_rt.trace)
        error = pat_exec_trace(round->exec);
    if (!error)
        return MPI_SUCCESS;
    round_end(c, round);
    return pat_error(MPI_ERR_NO_MEM, "the plan of %s for %d ranks cannot be made: %s", alg->name, c->size,
                     pat_exec_reason(error));
}

/* ---- The early part ----------------------------------------------------------------------------------- */

static void release_reserve(pat_comm *c)
{
    atomic_fetch_sub(&pat_rt.early_reserved, c->reserved);
    c->reserved = 0;
    /* Blocks of many rounds and communicators must not add up beyond the cap. */
    if (c->stage && atomic_load(&pat_rt.stage_bytes) > pat_rt.config.mem_bytes)
        madvise(c->stage, c->stage_size, MADV_DONTNEED);
}

/* Take up to `wanted` bytes of PAT_MEM until release_reserve. */
static int64_t reserve_early(pat_comm *c, int64_t wanted)
{
    int64_t taken = atomic_fetch_add(&pat_rt.early_reserved, wanted);
    int64_t left = pat_rt.config.mem_bytes - taken;
    int64_t got = left <= 0 ? 0 : left < wanted ? left : wanted;
    atomic_fetch_sub(&pat_rt.early_reserved, wanted - got);
    c->reserved += got;
    return got;
}

static bool make_stage(pat_comm *c, const pat_plan *plan)
{
    int64_t before = (int64_t)c->stage_size;
    bool made =
        pat_comm_buffer(&c->stage, &c->stage_size, (size_t)pat_plan_block_start(plan, plan->num_ranks));
    atomic_fetch_add(&pat_rt.stage_bytes, (int64_t)c->stage_size - before);
    return made;
}

/* Early data lands in an opened request's own buffer, else in ours as far as PAT_MEM reaches. */
static void round_land(pat_comm *c, pat_round *round)
{
    const pat_call *open = c->hold.open;
    int64_t early;
    if (open && open->recv_plain && same_blocks(c, pat_blocks_of(open), blocks_of_plan(round->plan))) {
        pat_exec_land(round->exec, open->recvbuf, INT64_MAX);
        c->landed_in_holder = true;
        return;
    }
    pat_plan_recv_bytes(round->plan, &early);
    /* A round that nobody has announced may be long in coming: it leaves half of the memory to others. */
    int64_t most = pat_rt.config.mem_bytes / 2;
    if (!pat_comm_estimates(c, pat_plan_cache_algorithm(round->plan)) && early > most)
        early = most;
    int64_t reserve = reserve_early(c, early);
    if (reserve > 0 && make_stage(c, round->plan))
        pat_exec_land(round->exec, c->stage, reserve);
}

/* Early data moves out of the application's buffer. */
static int leave_holder(pat_comm *c)
{
    pat_exec *exec = c->prepared->exec;
    int64_t early;
    bool done = false;
    if (!make_stage(c, c->prepared->plan))
        return pat_error(MPI_ERR_NO_MEM, "no memory for %lld bytes of early data",
                         (long long)pat_exec_landed(exec));
    pat_plan_recv_bytes(c->prepared->plan, &early);
    int64_t reserve = reserve_early(c, early);
    pthread_rwlock_wrlock(&pat_rt.driving);
    int rc = pat_exec_unland(exec);
    pthread_rwlock_unlock(&pat_rt.driving);
    while (rc == MPI_SUCCESS && !done) {
        pthread_rwlock_rdlock(&pat_rt.driving);
        rc = pat_exec_reland(exec, c->stage, reserve, &done);
        pthread_rwlock_unlock(&pat_rt.driving);
        if (!done)
            sched_yield();
    }
    return rc;
}

int pat_epoch_release_holder(pat_comm *c)
{
    if (c->landed_in_holder && c->prepared->exec && !c->voiding) {
        int rc = pat_comm_failed(c);
        if (rc == MPI_SUCCESS)
            rc = pat_comm_ended(c, leave_holder(c));
        if (rc != MPI_SUCCESS)
            return rc; /* MPI may still write to the request's buffer: it stays the holder */
    }
    c->landed_in_holder = false;
    c->hold = (pat_hold){0};
    return MPI_SUCCESS;
}

/*
 * A round prepared without estimates has no control messages, so each rank may make one when it likes. Forgotten it may
 * be only between calls, when no rank has called it: then nobody has sent it anything.
 */
int pat_epoch_drop_ahead(pat_comm *c)
{
    int rc = MPI_SUCCESS;
    /* After an error its messages may still be under way: then it stays. */
    if (c->prepared->exec && c->failure.code == MPI_SUCCESS &&
        pat_comm_ahead(c, pat_plan_cache_algorithm(c->prepared->plan)) && !c->voiding) {
        rc = pat_exec_void(c->prepared->exec);
        round_end(c, c->prepared);
        release_reserve(c);
    }
    return rc;
}

/*
 * How ranks tell each other what they call, or will call, in one number: the bytes of a block, or, where blocks differ,
 * something that tells them from others well enough. Whoever has not called yet can make a plan for the latter only if
 * they are those of the last call.
 */
static int64_t shape_of(const pat_comm *c, pat_blocks blocks)
{
    const uint64_t differ = UINT64_C(1) << 62;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    if (!blocks.starts)
        return blocks.bytes;
    for (int b = 1; b <= c->size; b++) /* FNV-1a, a word at a time */
        hash = (hash ^ (uint64_t)blocks.starts[b]) * UINT64_C(0x100000001b3);
    return (int64_t)(differ | hash >> 2);
}

/* What the next call is taken to be, alike on all ranks. */
static pat_blocks expected(const pat_comm *c, const pat_algorithm *alg)
{
    const pat_blocks nobody_knows = {.bytes = PAT_NO_CALL};
    if (!pat_comm_estimates(c, alg))
        return pat_comm_ahead(c, alg) ? c->last : nobody_knows;
    const int64_t shape = c->exchange.state == PAT_EXCHANGE_DONE ? c->exchange.expected_shape : PAT_NO_CALL;
    if (shape == PAT_NO_CALL || shape == shape_of(c, c->last))
        return shape == PAT_NO_CALL ? nobody_knows : c->last;
    return shape <= PAT_MAX_BLOCK ? (pat_blocks){.bytes = shape, .mean_bytes = shape} : nobody_knows;
}

/* Get the expected round ready and let its early part run. */
static int prepare(pat_comm *c, const pat_algorithm *alg)
{
    const pat_blocks blocks = expected(c, alg);
    if (blocks.bytes <= 0 || c->prepared->exec)
        return MPI_SUCCESS;
    int rc = round_make(c, c->prepared, alg, blocks, slot_prepared(c));
    c->made_ns = pat_clock_local_ns();
    if (rc == MPI_SUCCESS)
        round_land(c, c->prepared);
    return rc;
}

/* The call is another than the one prepared for, or there is none: every rank finds the same and does the
 * same. */
static int void_prepared(pat_comm *c, const pat_algorithm *alg)
{
    int rc = MPI_SUCCESS;
    const bool known = pat_comm_estimates(c, alg) && expected(c, alg).bytes > 0;
    if (!c->prepared->exec && known) /* others may have sent us its control messages */
        rc = round_make(c, c->prepared, alg, expected(c, alg), slot_prepared(c));
    if (rc != MPI_SUCCESS || !c->prepared->exec)
        return rc;
    c->voiding = true;
    atomic_fetch_add_explicit(&pat_rt.plans_void, 1, memory_order_relaxed);
    return pat_exec_void(c->prepared->exec);
}

static int progress_voiding(pat_comm *c, bool *moved)
{
    int rc = pat_exec_progress(c->prepared->exec, moved);
    if (rc == MPI_SUCCESS && pat_exec_done(c->prepared->exec)) {
        round_end(c, c->prepared);
        release_reserve(c);
        c->voiding = false;
    }
    return rc;
}

/* ---- The call ----------------------------------------------------------------------------------------- */

static int contribute(pat_comm *c, int64_t arrival_ns, int64_t shape, bool certain)
{
    pat_estimate mine = {arrival_ns, shape, certain};
    return pat_exchange_post(&c->exchange, c->own, mine, pat_clock_local_ns());
}

static void next_epoch(pat_comm *c)
{
    c->epoch++;
    pat_exchange_reset(&c->exchange);
    c->landed_in_holder = false;
}

/* The plan is known: bring the application's buffers and let it run. */
static int start_round(pat_comm *c)
{
    const pat_call *call = &c->call;
    const pat_algorithm *alg = c->alg;
    const pat_blocks blocks = pat_blocks_of(call), guess = expected(c, alg);
    const int64_t total = pat_blocks_total(c, blocks);
    const bool guessed = pat_comm_estimates(c, alg) || guess.bytes != PAT_NO_CALL;
    const bool as_prepared = !guessed || same_blocks(c, guess, blocks);
    int rc = MPI_SUCCESS;

    if (!as_prepared)
        rc = void_prepared(c, alg);
    if (rc != MPI_SUCCESS)
        return rc;
    if (as_prepared && c->prepared->exec) {
        pat_round *spare = c->current;
        c->current = c->prepared;
        c->prepared = spare;
    } else {
        rc = round_make(c, c->current, alg, blocks, slot_prepared(c) + !as_prepared);
    }
    if (rc != MPI_SUCCESS)
        return rc;

    char *home = call->recvbuf;
    const char *own = NULL;
    if (!call->recv_plain) {
        if (!pat_comm_buffer(&c->pack, &c->pack_size, (size_t)total))
            return pat_error(MPI_ERR_NO_MEM, "no memory to pack %lld bytes", (long long)total);
        home = c->pack;
    }
    char *own_place = home + pat_block_start(blocks.bytes, blocks.starts, c->rank);
    const int64_t own_bytes = pat_block_start(blocks.bytes, blocks.starts, c->rank + 1) - (own_place - home);
    if (call->in_place ? !call->recv_plain : !call->send_plain) {
        rc = pat_call_pack_own(call, c->own, c->rank, own_place);
        atomic_fetch_add_explicit(&pat_rt.bytes_copied, own_bytes, memory_order_relaxed);
    } else if (!call->in_place) {
        own = call->sendbuf;
    }
    c->phase = PAT_RUNNING;
    c->mine.arrival_ns = pat_clock_now_ns(&pat_rt.clock);
    return rc != MPI_SUCCESS ? rc : pat_exec_arrive(c->current->exec, home, own, &c->mine);
}

/* They are the guess for the next call, when the caller's arrays are long gone. */
static int remember(pat_comm *c, pat_blocks blocks)
{
    const size_t size = ((size_t)c->size + 1) * sizeof(*blocks.starts);
    if (blocks.starts && !c->last_starts && !(c->last_starts = malloc(size)))
        return pat_error(MPI_ERR_NO_MEM, "no memory for the lengths of %d blocks", c->size);
    c->last = blocks;
    if (blocks.starts)
        c->last.starts = memcpy(c->last_starts, blocks.starts, size);
    return MPI_SUCCESS;
}

static int finish_round(pat_comm *c)
{
    int rc = MPI_SUCCESS, rc_note = MPI_SUCCESS;
    pat_exec_stats stats = pat_exec_get_stats(c->current->exec);
    if (!c->call.recv_plain) {
        rc = pat_call_unpack(&c->call, c->own, c->rank, c->size, c->pack);
        stats.bytes_copied += pat_blocks_total(c, pat_blocks_of(&c->call));
    }
    atomic_fetch_add_explicit(&pat_rt.bytes_received, stats.bytes_received, memory_order_relaxed);
    atomic_fetch_add_explicit(&pat_rt.bytes_early, stats.bytes_early, memory_order_relaxed);
    atomic_fetch_add_explicit(&pat_rt.bytes_copied, stats.bytes_copied, memory_order_relaxed);
    if (pat_rt.trace)
        pat_trace_round(pat_rt.trace, c, pat_rt.clock.offset_ns);
    rc_note = pat_select_note(c, pat_exec_carried(c->current->exec), c->call.mean_bytes);
    round_end(c, c->current);
    release_reserve(c);
    if (rc == MPI_SUCCESS)
        rc = remember(c, pat_blocks_of(&c->call));
    if (rc == MPI_SUCCESS)
        rc = rc_note;
    if (rc != MPI_SUCCESS)
        return rc;
    next_epoch(c);
    c->phase = PAT_IDLE;
    return MPI_SUCCESS;
}

int pat_epoch_new_algorithm(pat_comm *c)
{
    int rc = pat_epoch_drop_ahead(c);
    next_epoch(c);
    return rc;
}

static int begin(pat_comm *c, const pat_call *call, const pat_algorithm *alg)
{
    int rc = pat_comm_failed(c);
    if (rc != MPI_SUCCESS)
        return rc;
    c->call = *call;
    c->alg = alg;
    c->called_ns = pat_rt.trace ? pat_clock_local_ns() : 0;
    atomic_store(&c->edge, false); /* this call speaks for itself */
    if (!pat_comm_estimates(c, alg)) {
        rc = start_round(c);
    } else {
        c->phase = PAT_AWAIT_ESTIMATES;
        if (c->exchange.state == PAT_EXCHANGE_NONE)
            rc = contribute(c, pat_clock_now_ns(&pat_rt.clock), shape_of(c, pat_blocks_of(call)), true);
    }
    return pat_comm_ended(c, rc);
}

int pat_epoch_begin(pat_comm *c, const pat_call *call, const pat_algorithm *alg)
{
    pthread_rwlock_rdlock(&pat_rt.driving);
    int rc = begin(c, call, alg);
    pthread_rwlock_unlock(&pat_rt.driving);
    return rc;
}

/* A round that broke off is never over: whoever waits for it is told of the error. Its buffers may be the application's again. */
static int progress(pat_comm *c, bool *moved)
{
    int rc = pat_comm_failed(c);
    if (rc != MPI_SUCCESS)
        return rc;
    if (c->phase == PAT_AWAIT_ESTIMATES) {
        rc = pat_exchange_test(&c->exchange, c->size);
        if (rc == MPI_SUCCESS && c->exchange.state == PAT_EXCHANGE_DONE) {
            *moved = true;
            rc = start_round(c);
        }
    }
    if (rc == MPI_SUCCESS && c->phase == PAT_RUNNING) {
        rc = pat_exec_progress(c->current->exec, moved);
        if (rc == MPI_SUCCESS && c->voiding)
            rc = progress_voiding(c, moved);
        if (rc == MPI_SUCCESS && !c->voiding && pat_exec_done(c->current->exec))
            rc = finish_round(c);
    }
    return pat_comm_ended(c, rc);
}

int pat_epoch_progress(pat_comm *c, bool *moved)
{
    pthread_rwlock_rdlock(&pat_rt.driving);
    int rc = progress(c, moved);
    pthread_rwlock_unlock(&pat_rt.driving);
    return rc;
}

static int look_at_prepared(pat_comm *c, bool *moved)
{
    return pat_exec_progress(c->prepared->exec, moved);
}

int pat_epoch_look(pat_comm *c, bool *moved)
{
    int rc = pat_comm_failed(c);
    pthread_rwlock_rdlock(&pat_rt.driving);
    if (rc == MPI_SUCCESS && c->phase != PAT_IDLE)
        rc = progress(c, moved);
    else if (rc == MPI_SUCCESS && c->prepared->exec && !c->voiding)
        rc = pat_comm_ended(c, look_at_prepared(c, moved));
    pthread_rwlock_unlock(&pat_rt.driving);
    return rc;
}

static bool calling(const pat_comm *c)
{
    return c->phase != PAT_IDLE;
}

int pat_epoch_wait(pat_comm *c)
{
    return pat_comm_ended(c, pat_wait_while(c, calling, pat_epoch_progress));
}

/* ---- The background thread's visit --------------------------------------------------------------------- */

static void no_later(pat_visit *visit, int64_t when_ns)
{
    if (when_ns < visit->next_ns)
        visit->next_ns = when_ns;
}

/* Come again at `when_ns` or sooner, or when a socket tells. */
static void come_again(pat_visit *visit, int64_t now, int64_t when_ns)
{
    const pat_pace_facts facts = {.came = visit->moved || visit->by_data,
                                  .sending = visit->sending,
                                  .calling = atomic_load(&pat_rt.callers) > 0};
    visit->watch = !facts.calling; /* or we would take from the caller what wakes it */
    no_later(visit, pat_pace_come_again(&facts, now, when_ns));
}

/* When to look for early data again where sockets do not tell. */
static int64_t next_look(pat_comm *c, int64_t now)
{
    const bool estimates = pat_comm_estimates(c, pat_plan_cache_algorithm(c->prepared->plan));
    pat_pace_early early = pat_pace_early_none(estimates, c->moved_ns);
    for (int i = 0; i < pat_exec_num_in_flight(c->prepared->exec); i++) {
        int peer;
        int64_t bytes;
        if (!pat_exec_receiving(c->prepared->exec, i, &peer, &bytes))
            continue;
        int64_t from = estimates ? c->exchange.all[peer].arrival_ns - pat_rt.clock.offset_ns : c->moved_ns;
        pat_pace_early_expect(&early, from, pat_link_tau_ns(&c->link, bytes));
    }
    return pat_pace_early_look(&early, now, &c->poll_ns);
}

/* Look until two looks in a row find nothing: what MPI takes in at one is only seen at the next. */
static int look_twice(pat_comm *c, int (*look)(pat_comm *c, bool *moved), pat_visit *visit, bool *moved)
{
    int rc = MPI_SUCCESS;
    *moved = false;
    for (int idle = 0; rc == MPI_SUCCESS && pat_pace_at_once(idle);) {
        bool now_moved = false;
        rc = look(c, &now_moved);
        idle = now_moved ? 0 : idle + 1;
        *moved = *moved || now_moved;
    }
    visit->drove = true;
    visit->moved = visit->moved || *moved;
    return rc;
}

/* Drive the prepared round's early part. */
static int drive_early(pat_comm *c, pat_visit *visit)
{
    bool moved;
    int rc = look_twice(c, look_at_prepared, visit, &moved);
    if (rc == MPI_SUCCESS && pat_exec_expects_early(c->prepared->exec)) {
        int64_t now = pat_clock_local_ns();
        if (moved)
            c->moved_ns = now;
        visit->sending = visit->sending || pat_exec_sending(c->prepared->exec);
        come_again(visit, now,
                   visit->reliable ? pat_pace_early_spare(now, c->moved_ns, c->made_ns) : next_look(c, now));
    }
    return rc;
}

/* Drive a started request while the application does something else. */
static int drive_started(pat_comm *c, pat_visit *visit)
{
    bool moved;
    int rc = look_twice(c, progress, visit, &moved);
    if (rc == MPI_SUCCESS && c->phase != PAT_IDLE) {
        int64_t now = pat_clock_local_ns();
        visit->sending = visit->sending || (c->current->exec && pat_exec_sending(c->current->exec));
        come_again(visit, now, pat_pace_started(now, visit->reliable));
    }
    return rc;
}

/* Tell the others when this rank will arrive, and hear from them. */
static int drive_exchange(pat_comm *c, pat_visit *visit)
{
    int rc = MPI_SUCCESS;
    if (atomic_exchange(&c->edge, false) && c->exchange.state == PAT_EXCHANGE_NONE)
        rc = contribute(c, atomic_load(&c->edge_arrival_ns), shape_of(c, c->last), false);
    for (int look = 0; rc == MPI_SUCCESS && pat_pace_at_once(look); look++)
        rc = pat_exchange_test(&c->exchange, c->size);
    visit->drove = true;
    if (rc == MPI_SUCCESS && c->exchange.state == PAT_EXCHANGE_POSTED) {
        int64_t now = pat_clock_local_ns();
        come_again(visit, now, pat_pace_estimates(now, c->exchange.posted_ns));
    }
    return rc;
}

static int look_at_credits(pat_comm *c, bool *moved)
{
    return pat_credits_look_driving(&c->credits, moved);
}

/* Pass on what keeps the callers of operations with a root together. */
static int drive_credits(pat_comm *c, pat_visit *visit)
{
    bool moved = false;
    int rc = c->credits.exec ? look_twice(c, look_at_credits, visit, &moved) : MPI_SUCCESS;
    int64_t now = pat_clock_local_ns(), next = pat_credits_next_look(&c->credits, moved, now);
    if (c->credits.exec)
        come_again(visit, now, next);
    else
        no_later(visit, next);
    return rc;
}

/* What ranks say of a measured call; who runs the next one is not known before. */
static int drive_sample(pat_comm *c, pat_visit *visit)
{
    bool moved;
    int rc = look_twice(c, pat_select_look_driving, visit, &moved);
    if (rc == MPI_SUCCESS && c->sample.under_way) {
        int64_t now = pat_clock_local_ns();
        come_again(visit, now, pat_pace_measured(now, c->sample.mine.exit_ns - pat_rt.clock.offset_ns));
    }
    return rc;
}

static int background_visit(pat_comm *c, pat_visit *visit)
{
    int rc = MPI_SUCCESS;
    bool may_prepare = false;
    if (c->credits.exec || atomic_load(&c->credits.watched))
        rc = drive_credits(c, visit);
    if (rc == MPI_SUCCESS && c->phase != PAT_IDLE)
        rc = drive_started(c, visit);
    if (rc == MPI_SUCCESS && c->sample.under_way)
        rc = drive_sample(c, visit);
    if (rc != MPI_SUCCESS || c->phase != PAT_IDLE || c->voiding || c->sample.under_way)
        return rc;
    const pat_algorithm *alg =
        pat_select(c, atomic_load(&pat_rt.alg[PAT_OP_ALLGATHER]), c->last.mean_bytes, true, NULL);
    if (pat_comm_estimates(c, alg)) {
        rc = drive_exchange(c, visit);
        may_prepare = rc == MPI_SUCCESS && c->exchange.state == PAT_EXCHANGE_DONE;
    } else if (pat_comm_ahead(c, alg)) {
        may_prepare = !c->by_request || c->hold.open;
    }
    if (may_prepare && prepare(c, alg) != MPI_SUCCESS)
        return MPI_SUCCESS; /* no memory now: the call makes its plan itself */
    return rc == MPI_SUCCESS && c->prepared->exec ? drive_early(c, visit) : rc;
}

void pat_epoch_background(pat_comm *c, pat_visit *visit)
{
    if (atomic_load(&c->foreground)) {
        if (atomic_load(&c->credits.watched)) { /* its caller may not kick */
            int64_t now = pat_clock_local_ns();
            no_later(visit, pat_pace_credits(now, now, false, true));
        }
        return;
    }
    if (pthread_mutex_trylock(&c->lock) != 0) {
        no_later(visit, pat_pace_soon(pat_clock_local_ns()));
        return;
    }
    pthread_rwlock_rdlock(&pat_rt.driving);
    if (pat_rt.thread)
        pat_error_clear(); /* else this is a caller's thread, which may have an error to return */
    if (!c->dead && c->failure.code == MPI_SUCCESS)
        pat_comm_ended(c, background_visit(c, visit));
    pthread_rwlock_unlock(&pat_rt.driving);
    pthread_mutex_unlock(&c->lock);
}

/* ---- Settling: an epoch that ends without a call ------------------------------------------------------ */

bool pat_epoch_withdraw_edge(pat_comm *c)
{
    atomic_store(&c->edge, false);
    return c->exchange.state != PAT_EXCHANGE_NONE;
}

int pat_epoch_settle_begin(pat_comm *c)
{
    atomic_store(&c->edge, false);
    if (c->phase == PAT_IDLE && c->exchange.state == PAT_EXCHANGE_NONE)
        return contribute(c, pat_clock_now_ns(&pat_rt.clock), PAT_NO_CALL, false);
    return MPI_SUCCESS;
}

static int settle_step(pat_comm *c, bool *done)
{
    bool moved;
    *done = false;
    if (c->voiding) {
        int rc = progress_voiding(c, &moved);
        if (rc == MPI_SUCCESS && !c->voiding) {
            next_epoch(c);
            *done = true;
        }
        return rc;
    }
    int rc = pat_exchange_test(&c->exchange, c->size);
    if (rc != MPI_SUCCESS || c->exchange.state != PAT_EXCHANGE_DONE)
        return rc;
    rc = void_prepared(c, atomic_load(&pat_rt.alg[PAT_OP_ALLGATHER]));
    if (rc == MPI_SUCCESS && !c->voiding) {
        next_epoch(c);
        *done = true;
    }
    return rc;
}

int pat_epoch_settle_step(pat_comm *c, bool *done)
{
    pthread_rwlock_rdlock(&pat_rt.driving);
    int rc = settle_step(c, done);
    pthread_rwlock_unlock(&pat_rt.driving);
    return rc;
}
