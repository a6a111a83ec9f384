/*
 * starts.c — see starts.h. Who runs a call is decided by what is the same on all ranks.
 */
#include "starts.h"

#include "bring.h"
#include "closed_form.h"
#include "comm_local.h"
#include "describe.h"
#include "error.h"
#include "fail.h"
#include "keep.h"
#include "nbc.h"
#include "reduction.h"
#include "runtime.h"
#include "select.h"

/* A call, and how it is to go. */
typedef struct start {
    const pat_algorithm *in_use;
    pat_call call;
    MPI_Request *request;
    bool as_mpi;
    bool keeps;         /* a persistent request is to be made, whose starts are such calls */
    bool (*able)(void); /* can this rank make one? */
    /* The MPI library is to run it, and the thread is to move it on; of one that is not kept, there; NULL: it is not. */
    pat_comm *moves;
    pat_outcome *outcome;
} start;

/* May the algorithm run non-blocking calls? Those that go by arrivals have nothing to go by: nobody says when he comes to such a call. */
static bool may_run(const pat_algorithm *alg)
{
    return alg->build && !alg->uses_arrivals;
}

/* Does the result depend on the order in which operands are joined, and does that matter? */
static bool has_an_order(const pat_call *call)
{
    return call->element_bytes > 0 && !pat_rt.config.reorder && !pat_reduction_any_order(call->recvtype);
}

/*
 * What messages are reckoned to take. Floating-point numbers are to be joined in the same order in every run, so who joins them may not go by what was measured. Else
 * what the members have measured for blocking calls counts, where they have made some.
 */
static pat_link link_for(const pat_call *call)
{
    int found;
    pat_comm *blocking;
    const bool fixed = has_an_order(call);
    if (fixed || PMPI_Comm_get_attr(call->comm, pat_rt.comm_keyval, &blocking, &found) != MPI_SUCCESS ||
        !found || !blocking->usable)
        return pat_link_reckoned(fixed ? NULL : &pat_rt.config);
    return blocking->link;
}

static int64_t mean_bytes(const pat_call *call)
{
    return pat_blocks_mean(pat_blocks_of(call));
}

/*
 * By the formula, when all call at once, and by what is the same on all ranks. Messages that a rank sends at once to several others go through its link one after the
 * other. Segments that follow another one on its way cost less than a latency: with a latency for each of them no reduce went up a chain, which takes 0.53 to 0.82 of the MPI library's time
 * for 256 KiB and 1 MiB on 3 to 8 nodes, where halving took 0.96 to 1.19. What MPI sends unasked is left out, so that parts of more than 8 KiB are thought to be asked for: by halving, whose steps wait for each other, an all-reduce of
 * 512 KiB took 1.2 times as long as the MPI library's, round the ring 0.8, though its messages were sent unasked.
 */
static double time_of(const pat_comm *c, const pat_link *link, const pat_algorithm *alg, const pat_call *call)
{
    static const double one_by_one[] = {1, 2};
    const pat_job job = {.num_ranks = c->size,
                         .block_bytes = mean_bytes(call),
                         .element_bytes = call->element_bytes,
                         .tau_ns = pat_link_tau_ns(link, mean_bytes(call)),
                         .alpha_ns = link->alpha_ns,
                         .beta_ps = link->beta_ps,
                         .piece_ns = link->piece_ns,
                         .segment_bytes = pat_nbc_segment_bytes(mean_bytes(call))};
    const pat_form_cost cost = pat_closed_form(alg, &job, (pat_gamma){one_by_one, 2});
    return (cost.messages - cost.pieces) * (double)link->alpha_ns + cost.pieces * (double)link->piece_ns +
           cost.bytes * 1e-3 * (double)link->beta_ps;
}

/* Of two that are alike by formula the simpler one runs, which stands first in the table. */
static const double CLEARLY = 0.95;

/* Where nodes have several ranks: does this one send no more between them than it has to? */
static bool heeds_nodes(const pat_comm *c, const pat_algorithm *in_use, const pat_algorithm *alg)
{
    const pat_collective *row = pat_collective_of(alg->op);
    const bool node_by_node = !c->layout.order;
    if (c->layout.one_a_node)
        return true;
    if (alg->repeats) /* also in place of one that was named and cannot run such calls */
        return false;
    if (!in_use->chooses)
        return true;
    /* Where halving can heed the nodes it does: 4 x 4 ranks on two processors, reduces of 256 KiB took 0.87 of the MPI library's time by halving, 0.96 up a chain, of 1 MiB 1.1 and 1.2 to 1.5. */
    return alg->reduces ? (c->layout.even ? alg->places : alg->neighbours && node_by_node)
                        : row->personal || alg->direct || node_by_node || alg->any_order;
}

static const pat_algorithm *fastest(const pat_comm *c, const pat_algorithm *in_use, const pat_call *call,
                                    const pat_link *link)
{
    const pat_algorithm *best = pat_algorithm_native(in_use->op);
    double least = 0;
    for (int i = 0; i < pat_algorithm_count(); i++) {
        const pat_algorithm *alg = pat_algorithm_at(i);
        if (alg->op != in_use->op || !may_run(alg) || !alg->formula || !heeds_nodes(c, in_use, alg) ||
            (call->pairs && !alg->direct))
            continue;
        const double time = time_of(c, link, alg, call);
        if (!best->build || time < CLEARLY * least) {
            best = alg;
            least = time;
        }
    }
    return best;
}

/*
 * One that moves data early, and passes it on, may take less than the fastest of the others: that depends on when ranks come, and calls will show it. Between two ranks nobody passes
 * anything on.
 */
static const pat_algorithm *rival_of(const pat_comm *c, const pat_algorithm *in_use,
                                     const pat_algorithm *best)
{
    const pat_algorithm *rival = pat_algorithm_contender(in_use->op);
    return in_use->chooses && c->size > 2 && best->build && rival && rival != best && may_run(rival) &&
                   pat_algorithm_is_ahead(rival) && heeds_nodes(c, in_use, rival)
               ? rival
               : NULL;
}

/* The longest message between two ranks, which both know. */
static int64_t longest_between_two(const pat_collective *row, const pat_call *call)
{
    int rank;
    if (!call->pairs || PMPI_Comm_rank(call->comm, &rank) != MPI_SUCCESS ||
        (row->rooted && rank != call->root)) /* elsewhere than at the root there is no other block */
        return call->block_bytes;
    const int other = 1 - rank;
    const bool gets = !row->rooted || !row->personal;
    const int64_t sent = call->own_starts ? call->own_starts[other + 1] - call->own_starts[other] : 0,
                  got = gets ? call->starts[other + 1] - call->starts[other] : 0,
                  longer = sent > got ? sent : got;
    return longer > 0 ? longer : 1;
}

/* Is there nothing to pass on, and does the MPI library send at once what there is? Then it has moved when the program comes to wait for it, whoever does it. */
static bool is_early_anyway(const pat_collective *row, const pat_call *call, int size)
{
    return size == 2 && call->element_bytes == 0 && longest_between_two(row, call) <= pat_rt.eager_bytes;
}

/*
 * Is the call so short that a thread would hardly be awake? Most ranks are through a broadcast much sooner than the last one: moved on, one of 4 KiB that was waited for at once took 1.2 times as long as the MPI
 * library's on 16 nodes that shared two processors, of 16 KiB 1.02.
 */
static bool is_tiny(const pat_algorithm *in_use, int64_t bytes, int size)
{
    if (in_use->op == PAT_OP_BCAST)
        return bytes < 4 * PAT_SMALL_BYTES;
    if (pat_collective_of(in_use->op)->rooted) /* most ranks have to do with a single block */
        return bytes < PAT_SMALL_BYTES;
    return pat_select_is_small(in_use->op, size, bytes);
}

/* Or is it a broadcast that is not cut, so that a plan can do no more than the MPI library does? */
static bool is_short(const pat_algorithm *in_use, int64_t bytes, int size)
{
    return is_tiny(in_use, bytes, size) ||
           (in_use->op == PAT_OP_BCAST && bytes <= pat_nbc_segment_bytes(bytes));
}

/* Why no call may run here; PAT_WHY_MEANWHILE: it may. */
static enum pat_why why_none(void)
{
    return pat_rt.all_joined ? PAT_WHY_MEANWHILE : PAT_WHY_LIBRARY;
}

/* Is an operation to give what the MPI library's own gives, which joins operands in its own order? */
static bool keeps_order(const pat_call *call, bool as_mpi)
{
    return as_mpi && has_an_order(call);
}

/* Open MPI 4.1 crashes there. */
static bool in_place_by_lists(const pat_collective *row, const pat_call *call)
{
    return call->pairs && call->in_place && !row->rooted;
}

/*
 * Does every block go straight from the rank that has it to the one that is to have it, so that there is nothing in which a plan could be better? Measured on 2 to 16 nodes with blocks of 4 KiB to 4 MiB: gathers by plan
 * took 0.95 to 1.27 times as long as the MPI library's, scatters 0.96 to 1.05, all-to-alls with lists 0.97 to 1.05. Between two ranks, over UCX, reduces of 64 and 256 KiB took 1.95 and 1.82: the one that
 * sends is through with pieces at once, as the MPI library cuts them, with a whole vector only when the other one has it.
 */
static bool goes_straight(const pat_collective *row, const pat_call *call, int size)
{
    return call->pairs || (row->rooted && (size == 2 || (!row->reduces && (row->all_give || row->personal))));
}

/*
 * Why a plan can gain nothing, or may not run; PAT_WHY_MEANWHILE: it may. Whoever names an algorithm has it all the same. Needs no communicator's state.
 */
static enum pat_why why_not(const start *s)
{
    const pat_algorithm *in_use = s->in_use;
    const pat_call *call = &s->call;
    const pat_collective *row = pat_collective_of(in_use->op);
    int size;
    if ((!call->pairs && (call->block_bytes <= 0 || call->block_bytes > PAT_MAX_BLOCK)) ||
        PMPI_Comm_size(call->comm, &size) != MPI_SUCCESS)
        return PAT_WHY_CANNOT;
    if (!in_use->chooses)
        return PAT_WHY_ASKED;
    const enum pat_why none = why_none();
    return none != PAT_WHY_MEANWHILE                                  ? none
           : !call->pairs && is_short(in_use, mean_bytes(call), size) ? PAT_WHY_SHORT
           : in_place_by_lists(row, call)                             ? PAT_WHY_MEANWHILE
           : is_early_anyway(row, call, size)                         ? PAT_WHY_TWO
           : keeps_order(call, s->as_mpi)                             ? PAT_WHY_ORDER
           : goes_straight(row, call, size)                           ? PAT_WHY_AS_FAST
                                                                      : PAT_WHY_MEANWHILE;
}

/* Who is to run it: the MPI library where no plan can, with *why. */
static const pat_algorithm *choose(const pat_comm *c, const pat_algorithm *in_use, const pat_call *call,
                                   const pat_link *link, enum pat_why *why)
{
    const pat_algorithm *alg = in_use;
    if (pat_collective_of(in_use->op)->rooted && !pat_bring_fits(c, in_use->op, call)) {
        *why = PAT_WHY_CANNOT;
        return pat_algorithm_native(in_use->op);
    }
    if (!may_run(in_use))
        alg = fastest(c, in_use, call, link);
    if (!alg->build)
        *why = PAT_WHY_NODES;
    if (!call->pairs || alg->direct || !alg->build)
        return alg;
    *why = PAT_WHY_LENGTHS;
    return pat_algorithm_native(in_use->op);
}

static void say(const start *s, const pat_algorithm *alg, enum pat_why why)
{
    if (!s->keeps) /* else its starts are counted */
        pat_runtime_count(alg);
    if (!s->outcome)
        return;
    s->outcome->alg = alg->build ? alg : NULL;
    s->outcome->why = why;
}

/* An operation keeps its order, unless all calls here are left anyway, which is then the reason. For people who have asked. */
static enum pat_why why_kept(const start *s)
{
    if (!s->outcome && !pat_rt.config.explain)
        return PAT_WHY_ORDER;
    const enum pat_why why = pat_comm_why_left(s->call.comm, PAT_WHY_ORDER);
    if (why == PAT_WHY_ORDER)
        pat_comm_explain_order(s->call.comm);
    return why;
}

/* With the algorithm that is chosen; *alg is another one where it cannot be, for the reason *why. Returns an MPI error code. */
static int begin(start *s, pat_comm *c, pat_nbc_way *way, const pat_algorithm **alg, enum pat_why *why)
{
    if (!s->keeps) {
        const int rc = pat_nbc_start(c, &s->call, way, s->outcome ? s->outcome->hiding : NULL, s->request);
        *alg = way->alg;
        return rc;
    }
    MPI_Request made;
    const int rc = pat_keep_make(&s->call, way, s->able(), &made);
    if (rc != MPI_SUCCESS || made != MPI_REQUEST_NULL) {
        *s->request = made;
        return rc;
    }
    *alg = pat_algorithm_native((*alg)->op);
    *why = PAT_WHY_CANNOT;
    return MPI_SUCCESS;
}

/*
 * May a call move while the program computes, though no plan runs it? A rank decides that for itself. One that calls a function of the program's, which is used to be called
 * in the program's own calls, is left alone as it is for no plan either (PAT_WHY_CANNOT); but while the thread moves another one, MPI may call that function in the thread.
 */
static bool may_move(const start *s, enum pat_why why)
{
    const pat_call *call = &s->call;
    int size;
    if (!s->in_use->chooses ||
        (why != PAT_WHY_AS_FAST && why != PAT_WHY_ORDER && why != PAT_WHY_NODES && why != PAT_WHY_SHORT))
        return false;
    PMPI_Comm_size(call->comm, &size);
    if (!call->pairs)
        return !is_tiny(s->in_use, mean_bytes(call), size);
    return (call->own_starts ? call->own_starts[size] : 0) >= PAT_SMALL_BYTES ||
           call->starts[size] >= PAT_SMALL_BYTES;
}

/* *why: where nothing moves on this communicator, the reason for that. */
static void find_mover(start *s, pat_comm *c, enum pat_why *why)
{
    if (!may_move(s, *why))
        return;
    if (!c && pat_comm_get_local(s->call.comm, true, &c, why) != MPI_SUCCESS)
        pat_error_begin();
    s->moves = c;
}

/* Returns true when the call has been started, or has failed, with what to return in *rc; else the MPI library is to run it. */
static bool start_here(start *s, int *rc)
{
    pat_comm *c = NULL;
    const pat_algorithm *alg = pat_algorithm_native(s->in_use->op);
    pat_nbc_way way;
    enum pat_why why = why_not(s);
    const bool wanted = why == PAT_WHY_MEANWHILE || (why == PAT_WHY_ASKED && s->in_use->build);
    *rc = wanted ? pat_comm_get_local(s->call.comm, s->in_use->chooses, &c, &why) : MPI_SUCCESS;
    if (*rc == MPI_SUCCESS && c) {
        way.link = link_for(&s->call);
        alg = choose(c, s->in_use, &s->call, &way.link, &why);
        way.alg = alg;
        way.rival = rival_of(c, s->in_use, alg);
    }
    if (*rc == MPI_SUCCESS && alg->build)
        *rc = begin(s, c, &way, &alg, &why);
    if (*rc != MPI_SUCCESS) {
        *rc = pat_fail(s->call.comm, *rc);
        return true;
    }
    if (!alg->build)
        find_mover(s, c, &why);
    say(s, alg, why == PAT_WHY_ORDER ? why_kept(s) : why);
    return alg->build;
}

/* Of a call between groups some arguments are of no significance, and must not be looked at. */
static bool may_be_ours(const pat_face *face, const pat_args *args, const MPI_Request *request)
{
    return request && !pat_comm_is_inter(args->comm) &&
           (pat_collective_of(face->op)->rooted || args->datatype != MPI_DATATYPE_NULL);
}

/*
 * Why the call is left to the MPI library whatever its other arguments are; PAT_WHY_MEANWHILE: these decide. Nobody looks at them before: that took longer than all
 * else that is done here for a short call.
 */
static enum pat_why why_at_once(const pat_algorithm *in_use, const pat_face *face, const pat_args *args,
                                const pat_outcome *outcome)
{
    const enum pat_why none = why_none();
    const bool is_barrier = face->kind == PAT_ARGS_NOTHING;
    int size = 1;
    /*
     * Where the first call on a communicator waits for its members a program would stand still that has started its barrier, and goes on to receive what the others send
     * before they start theirs.
     */
    if (PAT_CONTACT_WAITS && is_barrier)
        return PAT_WHY_LIBRARY;
    if (!in_use->chooses)
        return PAT_WHY_MEANWHILE;
    if (none != PAT_WHY_MEANWHILE)
        return none;
    if (is_barrier)
        return PAT_WHY_SHORT;
    PMPI_Comm_size(args->comm, &size);
    if (face->kind == PAT_ARGS_PAIRS)
        return !pat_comm_is_left(args->comm, size, true, false) ? PAT_WHY_MEANWHILE
               : outcome                                        ? pat_comm_why_left_ever(args->comm)
                                                                : PAT_WHY_ONE_NODE;
    const int64_t bytes = pat_describe_mean_bytes(face, args, size);
    return bytes > 0 && bytes <= PAT_MAX_BLOCK && is_tiny(in_use, bytes, size) ? PAT_WHY_SHORT
                                                                               : PAT_WHY_MEANWHILE;
}

static bool is_left(const start *s, const pat_face *face, const pat_args *args)
{
    const enum pat_why why = why_at_once(s->in_use, face, args, s->outcome);
    if (why == PAT_WHY_MEANWHILE)
        return false;
    say(s, pat_algorithm_native(s->in_use->op), why);
    return true;
}

/*
 * May it be looked whether the call is left before it is known whether it is one between groups, which takes longer? Yes where what counts then has significance on all ranks of
 * both groups, or no argument is looked at.
 */
static bool is_plain(const pat_face *face)
{
    return face->kind == PAT_ARGS_NOTHING || why_none() != PAT_WHY_MEANWHILE ||
           ((face->kind == PAT_ARGS_BLOCKS || face->kind == PAT_ARGS_VECTOR) &&
            !pat_collective_of(face->op)->rooted);
}

/* Returns true when the call has been started, or has failed, with what to return in *rc; else the MPI library is to run it. */
static bool describe_and_start(start *s, const pat_face *face, const pat_args *args, int *rc)
{
    bool ours;
    *rc = pat_describe(face, args, &s->call, &ours);
    if (*rc != MPI_SUCCESS) {
        *rc = pat_fail(args->comm, *rc);
        return true;
    }
    const bool done = ours && start_here(s, rc);
    pat_describe_done(&s->call);
    if (!ours)
        say(s, pat_algorithm_native(face->op), PAT_WHY_CANNOT);
    return done;
}

/* The same; what it is about is described here only where that counts. */
static bool try_here(start *s, const pat_face *face, const pat_args *args, int *rc)
{
    s->in_use = atomic_load_explicit(&pat_rt.alg[face->op], memory_order_acquire);
    if (!s->in_use || !atomic_load(&pat_rt.started))
        return false;
    const bool plain = is_plain(face);
    bool left = false, ours = plain || may_be_ours(face, args, s->request);
    if (ours)
        left = is_left(s, face, args);
    if (plain && !left)
        ours = may_be_ours(face, args, s->request);
    if (!ours) {
        say(s, pat_algorithm_native(face->op), PAT_WHY_CANNOT);
        return false;
    }
    if (left)
        return false;
    pat_error_begin();
    return describe_and_start(s, face, args, rc);
}

int pat_starts_run(const pat_face *face, const pat_args *args, pat_any *next, MPI_Request *request,
                   bool as_mpi, pat_outcome *outcome)
{
    int rc;
    /* Open MPI 4.1 crashes there. */
    if (args->comm == MPI_COMM_NULL)
        return pat_fail(MPI_COMM_WORLD, pat_error(MPI_ERR_COMM, "%s on MPI_COMM_NULL", face->starts));
    start s;
    s.request = request;
    s.as_mpi = as_mpi;
    s.keeps = false;
    s.moves = NULL;
    s.outcome = outcome;
    if (try_here(&s, face, args, &rc))
        return rc;
    rc = face->start(next, args, request);
    if (rc != MPI_SUCCESS)
        pat_error_clear();
    else if (s.moves)
        pat_nbc_move(s.moves, request, outcome ? outcome->hiding : NULL);
    return rc;
}

bool pat_starts_keep(const pat_face *face, const pat_args *args, bool (*able)(void), MPI_Request *request,
                     pat_outcome *outcome, int *rc)
{
    start s = {.request = request, .as_mpi = true, .keeps = true, .able = able, .outcome = outcome};
    const bool made = args->comm != MPI_COMM_NULL && try_here(&s, face, args, rc);
    outcome->moves = s.moves != NULL;
    return made;
}
