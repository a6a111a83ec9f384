/*
 * starts.c — see starts.h. Who runs a call is decided by what is the same on all ranks.
 */
#include "starts.h"

#include "bring.h"
#include "closed_form.h"
#include "comm.h"
#include "describe.h"
#include "error.h"
#include "fail.h"
#include "nbc.h"
#include "reduction.h"
#include "runtime.h"
#include "select.h"

/* May the algorithm run non-blocking calls? Those that go by arrivals have nothing to go by: nobody says when he comes to such a call. */
static bool may_run(const pat_algorithm *alg)
{
    return alg->build && !alg->uses_arrivals;
}

/* What one message takes beside its bytes, and each of these. */
typedef struct hockney {
    double alpha_ns, beta_ns;
} hockney;

/*
 * Floating-point numbers are to be joined in the same order in every run. So who joins them may not go by what was measured: a message then takes
 * as long as so many bytes.
 */
enum { BYTES_A_MESSAGE = 8192 };

static hockney hockney_for(const pat_comm *c, const pat_call *call)
{
    if (call->element_bytes > 0 && !pat_rt.config.reorder && !pat_reduction_any_order(call->recvtype))
        return (hockney){BYTES_A_MESSAGE, 1};
    return (hockney){(double)c->link.alpha_ns, 1e-3 * (double)c->link.beta_ps};
}

/* By the formula, when all call at once. Messages that a rank sends at once to several others go through its link one after the other. */
static double time_of(const pat_comm *c, const pat_algorithm *alg, const pat_call *call)
{
    static const double one_by_one[] = {1, 2};
    const hockney link = hockney_for(c, call);
    const pat_job job = {.num_ranks = c->size,
                         .block_bytes = call->mean_bytes > 0 ? call->mean_bytes : call->block_bytes,
                         .element_bytes = call->element_bytes,
                         .segment_bytes = pat_nbc_segment_bytes(call->block_bytes)};
    const pat_form_cost cost = pat_closed_form(alg, &job, (pat_gamma){one_by_one, 2});
    return cost.messages * link.alpha_ns + cost.bytes * link.beta_ns;
}

/* Of two that are alike by formula the simpler one runs, which stands first in the table. */
static const double CLEARLY = 0.95;

static const pat_algorithm *fastest(const pat_comm *c, enum pat_op op, const pat_call *call)
{
    const pat_algorithm *best = pat_algorithm_native(op);
    double least = 0;
    for (int i = 0; i < pat_algorithm_count(); i++) {
        const pat_algorithm *alg = pat_algorithm_at(i);
        if (alg->op != op || !may_run(alg) || !alg->formula)
            continue;
        const double time = time_of(c, alg, call);
        if (!best->build || time < CLEARLY * least) {
            best = alg;
            least = time;
        }
    }
    return best;
}

/*
 * The plans of gathers have the root take one block after the other, or pass blocks on up a tree, so that ranks are kept for longer than by the MPI
 * library, whose root takes all at once: on eight emulated nodes at 50 Mbit/s, 64 KiB, 3.7 and 1.7 times as long on average. Who names one has it.
 */
static bool is_chosen(const pat_collective *row)
{
    return !(row->rooted && row->all_give);
}

/*
 * May a plan gain anything? Short calls are over before a thread would be awake; whoever names an algorithm has it all the same. Needs no
 * communicator's state.
 */
static bool may_gain(const pat_algorithm *in_use, const pat_call *call)
{
    int size;
    if (call->block_bytes <= 0 || call->block_bytes > PAT_MAX_BLOCK)
        return false;
    if (!in_use->chooses)
        return in_use->build;
    return is_chosen(pat_collective_of(in_use->op)) && PMPI_Comm_size(call->comm, &size) == MPI_SUCCESS &&
           !pat_select_is_small(in_use->op, size, call->block_bytes);
}

/* Who is to run it: the MPI library where no plan can. */
static const pat_algorithm *choose(const pat_comm *c, const pat_algorithm *in_use, const pat_call *call)
{
    const bool rooted = pat_collective_of(in_use->op)->rooted;
    if (!c->background || (in_use->chooses && !pat_comm_chooses_here(c->layout.one_node, false)) ||
        (rooted && !pat_bring_fits(c, in_use->op, call)))
        return pat_algorithm_native(in_use->op);
    return may_run(in_use) ? in_use : fastest(c, in_use->op, call);
}

/* Returns true when the call has been started, or has failed, with what to return in *rc; else the MPI library is to run it. */
static bool start_here(const pat_algorithm *in_use, pat_call *call, MPI_Request *request, int *rc)
{
    pat_comm *c = NULL;
    const pat_algorithm *alg = pat_algorithm_native(in_use->op);
    *rc = may_gain(in_use, call) ? pat_comm_get(call->comm, in_use->chooses, false, &c) : MPI_SUCCESS;
    if (*rc == MPI_SUCCESS && c)
        alg = choose(c, in_use, call);
    if (*rc == MPI_SUCCESS && alg->build)
        *rc = pat_nbc_start(c, call, alg, request);
    if (*rc != MPI_SUCCESS) {
        *rc = pat_fail(call->comm, *rc);
        return true;
    }
    if (alg->build)
        pat_runtime_count(alg);
    return alg->build;
}

/* Of a call between groups some arguments are of no significance, and must not be looked at. */
static bool may_be_ours(const pat_face *face, const pat_args *args, const MPI_Request *request)
{
    return request && !pat_comm_is_inter(args->comm) &&
           (pat_collective_of(face->op)->rooted || args->datatype != MPI_DATATYPE_NULL);
}

int pat_starts_run(const pat_face *face, const pat_args *args, pat_any *next, MPI_Request *request)
{
    const pat_algorithm *in_use = atomic_load_explicit(&pat_rt.alg[face->op], memory_order_acquire);
    pat_call call;
    bool ours, done = false;
    int rc;
    pat_error_begin();
    /* Open MPI 4.1 crashes there. */
    if (args->comm == MPI_COMM_NULL)
        return pat_fail(MPI_COMM_WORLD,
                        pat_error(MPI_ERR_COMM, "a non-blocking %s on MPI_COMM_NULL", face->mpi));
    const bool counts = in_use && atomic_load(&pat_rt.started);
    if (counts && may_be_ours(face, args, request)) {
        rc = pat_describe(face, args, &call, &ours);
        if (rc != MPI_SUCCESS)
            return pat_fail(args->comm, rc);
        if (ours)
            done = start_here(in_use, &call, request, &rc);
        pat_describe_done(&call);
    }
    if (done)
        return rc;
    if (counts)
        pat_runtime_count(pat_algorithm_native(face->op));
    rc = face->start(next, args, request);
    if (rc != MPI_SUCCESS)
        pat_error_clear();
    return rc;
}
