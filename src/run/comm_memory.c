/*
 * comm_memory.c — see comm.h: how long a communicator's state stays in memory, who may use it, and what is freed with it.
 */
#include <stdlib.h>
#include <sys/mman.h>

#include "comm.h"
#include "runtime.h"

void pat_comm_ref(pat_comm *c)
{
    pthread_mutex_lock(&pat_rt.lock);
    c->refs++;
    pthread_mutex_unlock(&pat_rt.lock);
}

/*
 * After an error MPI may still write what others have sent into buffers, executions, estimates: then these stay, and with them the
 * library's communicator. To cancel the messages would not do: what has begun to come in cannot be cancelled, and to wait for the rest
 * is to wait for ranks that may have broken off too. And others may still send what this rank takes in nowhere: its tags must not be chosen again.
 */
bool pat_comm_stays(const pat_comm *c)
{
    bool stays = c->exchange.state == PAT_EXCHANGE_POSTED || c->sample.under_way ||
                 pat_contact_exposed(&c->contact) ||
                 (pat_comm_is_local(c) && c->contact.begun && c->failure.code != MPI_SUCCESS);
    stays = stays || pat_exec_exposed(c->alone.exec);
    for (int op = 0; op < PAT_NUM_OPS; op++)
        for (int i = 0; i < 2; i++)
            stays = stays || pat_exec_exposed(c->lanes[op].rounds[i].exec);
    for (const pat_pending *p = c->pending; p; p = p->next)
        stays = stays || pat_exec_exposed(p->round.exec);
    return stays;
}

static void free_guesses(pat_lane *lane)
{
    pat_shapes_free(&lane->shapes);
    pat_predict_free(lane->predicts);
}

static void free_lane(pat_lane *lane)
{
    for (int i = 0; i < 2; i++)
        pat_exec_free(lane->rounds[i].exec);
    if (lane->stage) {
        munmap(lane->stage, lane->stage_size);
        atomic_fetch_sub(&pat_rt.stage_bytes, (int64_t)lane->stage_size);
    }
    atomic_fetch_sub(&pat_rt.early_reserved, lane->reserved);
    if (lane->pack.at)
        munmap(lane->pack.at, lane->pack.size);
}

/* Those that an error has ended. */
static void free_pending(pat_comm *c)
{
    while (c->pending) {
        pat_pending *p = c->pending;
        c->pending = p->next;
        pat_pending_give_up(p);
        pat_exec_free(p->round.exec);
        pat_pending_release(p);
        pat_pending_unref(p);
    }
}

void pat_comm_unref(pat_comm *c)
{
    pthread_mutex_lock(&pat_rt.lock);
    bool last = --c->refs == 0;
    pthread_mutex_unlock(&pat_rt.lock);
    if (!last)
        return;
    const bool stays = pat_comm_stays(c);
    pat_exec_free(c->credits.round.exec); /* its messages carry nothing */
    pat_sockets_free(c->sockets);
    pat_plan_cache_free(&c->plans);
    pat_plan_free(&c->credits.plan);
    for (int op = 0; op < PAT_NUM_OPS; op++)
        free_guesses(&c->lanes[op]);
    pat_layout_free(&c->layout);
    free(c->arrival_ns);
    free(c->from_root);
    pthread_mutex_destroy(&c->lock);
    if (stays) {
        pthread_mutex_lock(&pat_rt.lock);
        c->next = pat_rt.kept;
        pat_rt.kept = c;
        pthread_mutex_unlock(&pat_rt.lock);
        return;
    }
    for (int op = 0; op < PAT_NUM_OPS; op++)
        free_lane(&c->lanes[op]);
    pat_exec_free(c->alone.exec);
    if (c->alone_pack.at)
        munmap(c->alone_pack.at, c->alone_pack.size);
    free_pending(c);
    pat_exchange_free(&c->exchange);
    pat_sample_free(&c->sample);
    pthread_mutex_lock(&pat_rt.lock);
    pat_contact_drop(&c->contact, &pat_rt.contacts);
    pthread_mutex_unlock(&pat_rt.lock);
    pat_contact_free(&c->contact);
    free(c);
}

static bool is_left_out(const pat_comm *c)
{
    return c->of_request && atomic_load(&c->idle) && !atomic_load(&c->freed);
}

pat_comm *pat_comm_next(pat_comm *after, bool *cut_short)
{
    pthread_mutex_lock(&pat_rt.lock);
    pat_comm *c = !after ? pat_rt.comms : after->listed ? after->next : NULL;
    while (c && is_left_out(c))
        c = c->next;
    if (c)
        c->refs++;
    *cut_short = after && !after->listed;
    pthread_mutex_unlock(&pat_rt.lock);
    if (after)
        pat_comm_unref(after);
    return c;
}

/* How many communicators' locks this thread has, pat_rt.keep among them. */
static _Thread_local int num_held;

void pat_comm_lock(pat_comm *c)
{
    atomic_fetch_add(&c->wanted, 1);
    pthread_mutex_lock(&c->lock);
    atomic_fetch_sub(&c->wanted, 1);
    num_held++;
}

bool pat_comm_trylock(pat_comm *c)
{
    if (pthread_mutex_trylock(&c->lock) != 0)
        return false;
    num_held++;
    return true;
}

void pat_comm_unlock(pat_comm *c)
{
    num_held--;
    pthread_mutex_unlock(&c->lock);
}

void pat_comm_keep(void)
{
    pthread_mutex_lock(&pat_rt.keep);
    num_held++;
}

void pat_comm_keep_end(void)
{
    num_held--;
    pthread_mutex_unlock(&pat_rt.keep);
}

bool pat_comm_holds_any(void)
{
    return num_held > 0;
}

bool pat_comm_buffer(char **buf, size_t *have, size_t size)
{
    if (*have >= size)
        return true;
    if (*buf)
        munmap(*buf, *have);
    /* Only what is touched costs memory: the early-data image is as long as the result but mostly empty. */
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    *buf = p == MAP_FAILED ? NULL : p;
    *have = *buf ? size : 0;
    return *buf != NULL;
}
