/*
 * guide_side.c — see guide_side.h. Must never let one side stand in for another: what cannot run is told.
 */
#include "guide_side.h"

#include <stdio.h>
#include <string.h>

#include "bench_must.h"
#include "mockup_own.h"
#include "pat.h"

static const char default_name[] = "default";

/* ---- The MPI library's own calls -------------------------------------------------------------------------------- */

/*
 * Each by its own name and by the one that a preloaded library may have taken, and both in the same way: what one of them had to do beside the call would be a
 * difference between two sides that are the same.
 */
#define BOTH(name, call)                                                                                     \
    static void native_##name(const pat_mock_call *c)                                                        \
    {                                                                                                        \
        MUST(PMPI_##call);                                                                                   \
    }                                                                                                        \
    static void by_name_##name(const pat_mock_call *c)                                                       \
    {                                                                                                        \
        MUST(MPI_##call);                                                                                    \
    }

BOTH(allgather,
     Allgather(c->send, c->send_count, c->send_type, c->recv, c->recv_count, c->recv_type, c->comm))
BOTH(allreduce, Allreduce(c->send, c->recv, c->recv_count, c->recv_type, c->op, c->comm))
BOTH(alltoall, Alltoall(c->send, c->send_count, c->send_type, c->recv, c->recv_count, c->recv_type, c->comm))
BOTH(bcast, Bcast(c->recv, c->recv_count, c->recv_type, c->root, c->comm))
BOTH(gather,
     Gather(c->send, c->send_count, c->send_type, c->recv, c->recv_count, c->recv_type, c->root, c->comm))
BOTH(reduce, Reduce(c->send, c->recv, c->recv_count, c->recv_type, c->op, c->root, c->comm))
BOTH(reduce_scatter_block,
     Reduce_scatter_block(c->send, c->recv, c->recv_count, c->recv_type, c->op, c->comm))
BOTH(scan, Scan(c->send, c->recv, c->recv_count, c->recv_type, c->op, c->comm))
BOTH(scatter,
     Scatter(c->send, c->send_count, c->send_type, c->recv, c->recv_count, c->recv_type, c->root, c->comm))

/* Found once for a side, since a search in each call would be measured too. */
static guide_caller *caller_of(const char *cli_name, bool native)
{
#define ROW(name)                                                                                            \
    {                                                                                                        \
#name, native_##name, by_name_##name                                                                 \
    }
    static const struct {
        const char *cli_name;
        guide_caller *native, *by_name;
    } all[] = {ROW(allgather),
               ROW(allreduce),
               ROW(alltoall),
               ROW(bcast),
               ROW(gather),
               ROW(reduce),
               ROW(reduce_scatter_block),
               ROW(scan),
               ROW(scatter)};
#undef ROW
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        if (strcmp(all[i].cli_name, cli_name) == 0)
            return native ? all[i].native : all[i].by_name;
    return NULL;
}

/* ---- Which there are ------------------------------------------------------------------------------------------ */

static void add_own(guide_list *list, const pat_mock *native)
{
    const enum pat_op op = pat_mockup_op(native->mpi_name);
    for (int i = 0; i < pat_algorithm_count(); i++) {
        const pat_algorithm *alg = pat_algorithm_at(i);
        char name[GUIDE_NAME];
        if (alg->op != op || (!alg->build && !alg->chooses))
            continue;
        snprintf(name, sizeof(name), "pat_%s", alg->name);
        guide_list_add(list, native->cli_name, native->mpi_name, name, native->is_rooted);
    }
}

void guide_known(guide_list *list, bool own, bool by_name)
{
    *list = (guide_list){.num = 0};
    for (int i = 0; pat_mock_at(i); i++) {
        const pat_mock *m = pat_mock_at(i), *next = pat_mock_at(i + 1);
        guide_list_add(list, m->cli_name, m->mpi_name, m->name, m->is_rooted);
        const bool is_last = !next || strcmp(next->mpi_name, m->mpi_name) != 0;
        if (is_last && by_name)
            guide_list_add(list, m->cli_name, m->mpi_name, "mpi", m->is_rooted);
        if (is_last && own)
            add_own(list, m);
    }
}

const char *guide_side_collectives(void)
{
    static char names[512];
    size_t length = 0;
    if (names[0])
        return names;
    for (int i = 0; pat_mock_at(i); i++)
        if (strcmp(pat_mock_at(i)->name, default_name) == 0)
            length += (size_t)snprintf(names + length, sizeof(names) - length, "%s%s", length > 0 ? ", " : "",
                                       pat_mock_at(i)->mpi_name);
    return names;
}

bool guide_side_find(guide_side *s, const char *mpi, const char *name, char *why, size_t why_size)
{
    const enum pat_op op = pat_mockup_op(mpi);
    *s = (guide_side){.native = pat_mock_find(mpi, default_name), .mock = pat_mock_find(mpi, name)};
    snprintf(s->name, sizeof(s->name), "%s", name);
    if (!s->native) {
        snprintf(why, why_size, "'%s': accepted: %s", mpi, guide_side_collectives());
        return false;
    }
    const bool is_native = s->mock == s->native;
    if (is_native || strcmp(name, "mpi") == 0)
        s->call = caller_of(s->native->cli_name, is_native);
    s->kind = s->call ? GUIDE_DIRECT : s->mock ? GUIDE_MOCK : GUIDE_PAT;
    if (s->call || s->mock)
        return true;
    for (int i = 0; s->kind == GUIDE_PAT && !s->alg && i < pat_algorithm_count(); i++) {
        const pat_algorithm *alg = pat_algorithm_at(i);
        const bool asked = strcmp(name, "pat") == 0
                               ? alg->chooses
                               : strncmp(name, "pat_", 4) == 0 && strcmp(name + 4, alg->name) == 0;
        s->alg = asked && alg->op == op ? alg : NULL;
    }
    if (s->alg)
        return true;
    if (op == PAT_NUM_OPS)
        snprintf(why, why_size, "'%s': accepted for %s, which PAT has not: default, mpi", name, mpi);
    else
        snprintf(why, why_size, "'%s': accepted for %s: default, mpi, pat, and pat_ALG with ALG one of %s",
                 name, mpi, pat_algorithm_names(op));
    return false;
}

/* ---- Calls --------------------------------------------------------------------------------------------------- */

void guide_side_set(const guide_side *s)
{
    if (s->kind == GUIDE_PAT)
        MUST(PAT_UseAlg(s->alg->name));
}

static void by_pat(const guide_side *s, const pat_mock_call *c)
{
    switch (s->alg->op) {
    case PAT_OP_ALLGATHER:
        MUST(PAT_Allgather(c->send, c->send_count, c->send_type, c->recv, c->recv_count, c->recv_type,
                           c->comm));
        break;
    case PAT_OP_GATHER:
        MUST(PAT_Gather(c->send, c->send_count, c->send_type, c->recv, c->recv_count, c->recv_type, c->root,
                        c->comm));
        break;
    case PAT_OP_SCATTER:
        MUST(PAT_Scatter(c->send, c->send_count, c->send_type, c->recv, c->recv_count, c->recv_type, c->root,
                         c->comm));
        break;
    case PAT_OP_BCAST:
        MUST(PAT_Bcast(c->recv, c->recv_count, c->recv_type, c->root, c->comm));
        break;
    case PAT_OP_REDUCE:
        MUST(PAT_Reduce(c->send, c->recv, c->recv_count, c->recv_type, c->op, c->root, c->comm));
        break;
    case PAT_OP_ALLREDUCE:
        MUST(PAT_Allreduce(c->send, c->recv, c->recv_count, c->recv_type, c->op, c->comm));
        break;
    case PAT_OP_ALLTOALL:
        MUST(PAT_Alltoall(c->send, c->send_count, c->send_type, c->recv, c->recv_count, c->recv_type,
                          c->comm));
        break;
    default:
        MUST(PAT_Reduce_scatter_block(c->send, c->recv, c->recv_count, c->recv_type, c->op, c->comm));
    }
}

const char *guide_side_run(const guide_side *s, const pat_mock_call *call, pat_mock_scratch *scratch)
{
    enum pat_mock_why why = PAT_MOCK_RAN;
    if (s->kind == GUIDE_MOCK)
        MUST(pat_mock_run(s->mock, call, scratch, &why));
    else if (s->kind == GUIDE_PAT)
        by_pat(s, call);
    else
        s->call(call);
    return why == PAT_MOCK_RAN ? NULL : pat_mock_why_text(why);
}

static int64_t calls_by(const char *alg)
{
    PAT_Counters now;
    int64_t calls = 0;
    MUST(PAT_Get_counters(&now));
    for (int i = 0; i < now.num_algs; i++)
        calls += strcmp(now.alg_name[i], alg) == 0 ? now.alg_calls[i] : 0;
    return calls;
}

const char *guide_side_ready(const guide_side *s, const pat_mock_call *call, pat_mock_scratch *scratch)
{
    enum pat_mock_why why = PAT_MOCK_RAN;
    if (s->kind == GUIDE_MOCK)
        MUST(pat_mock_prepare(s->mock, call, scratch, &why));
    if (s->kind == GUIDE_PAT && s->alg->build) {
        const int64_t before = calls_by(s->alg->name);
        int ran, all;
        guide_side_set(s);
        by_pat(s, call);
        ran = calls_by(s->alg->name) > before;
        MUST(PMPI_Allreduce(&ran, &all, 1, MPI_INT, MPI_MIN, call->comm));
        return all ? NULL : "PAT has left it to another algorithm";
    }
    return why == PAT_MOCK_RAN ? NULL : pat_mock_why_text(why);
}
