/*
 * replay.c — see replay.h.
 */
#include "replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "calibration.h"
#include "collective.h"
#include "model.h"

/* As Open MPI and Ethernet have them: they shape relay's pieces. */
enum { EAGER_BYTES = 65536 - 256, PACKET_BYTES = 1448 };

/* Beyond these no network is, and the model's numbers could overflow. */
static const int64_t MOST_BYTES = INT64_C(1) << 30, MOST_BETA_PS = 100000000, MOST_ALPHA_NS = 1000000000;

void pat_replay_link(pat_replay *call, double latency_ns, double message_ns)
{
    const double beta_ps =
        call->bytes > 0 ? 1000 * fmax(0, message_ns - latency_ns) / (double)call->bytes : 0;
    call->alpha_ns = latency_ns < (double)MOST_ALPHA_NS ? (int64_t)latency_ns : MOST_ALPHA_NS + 1;
    call->beta_ps = beta_ps < (double)MOST_BETA_PS ? (int64_t)beta_ps : MOST_BETA_PS + 1;
}

double pat_replay_spared(double took_ns, double best_ns)
{
    static const double CLEARLY =
        0.1; /* models err, and who follows them for nothing believes the next one no more */
    return took_ns > 0 && best_ns <= (1 - CLEARLY) * took_ns ? 1 - best_ns / took_ns : 0;
}

enum pat_op pat_replay_op(const char *call)
{
    int op = 0;
    if (strcmp(call, "MPI_Reduce_scatter_block") == 0)
        return PAT_OP_REDUCE_SCATTER;
    while (op < PAT_NUM_OPS &&
           (op == PAT_OP_REDUCE_SCATTER || strcmp(pat_collective_of((enum pat_op)op)->mpi, call) != 0))
        op++;
    return (enum pat_op)op;
}

bool pat_replay_can(const pat_algorithm *alg)
{
    return alg->build && !alg->chooses && (!alg->uses_arrivals || alg->uses_last_calls);
}

/* Plans count ranks from the root. */
static int64_t *from_root(const pat_replay *call)
{
    const int root = pat_collective_of(call->op)->rooted ? call->root : 0;
    int64_t *arrival_ns = malloc((size_t)call->num_ranks * sizeof(*arrival_ns));
    for (int r = 0; r < call->num_ranks && arrival_ns; r++)
        arrival_ns[r] = call->arrival_ns[(r + root) % call->num_ranks];
    return arrival_ns;
}

static double walk(const pat_replay *call, const pat_plan *plans, const int64_t *arrival_ns)
{
    const pat_cost cost = {.alpha_ns = call->alpha_ns, .beta_ps = call->beta_ps, .eager_bytes = INT64_MAX};
    int64_t *exit_ns = malloc((size_t)call->num_ranks * sizeof(*exit_ns));
    double ns = NAN;
    if (exit_ns && pat_model_walk(plans, call->num_ranks, arrival_ns, &cost, exit_ns, NULL) == 0) {
        ns = 0;
        for (int r = 0; r < call->num_ranks; r++)
            ns += (double)(exit_ns[r] - arrival_ns[r]) / call->num_ranks;
    }
    free(exit_ns);
    return ns;
}

double pat_replay_ns(const pat_replay *call, const pat_algorithm *alg)
{
    const pat_collective *row = pat_collective_of(call->op);
    int num = 0, error = 0;
    if (row->rooted && (call->root < 0 || call->root >= call->num_ranks))
        return NAN;
    if (alg->op != call->op || !alg->build || call->num_ranks < 2 || call->num_ranks > PAT_REPLAY_RANKS ||
        call->bytes < 1 || call->bytes > MOST_BYTES || call->beta_ps < 0 || call->beta_ps > MOST_BETA_PS ||
        call->alpha_ns < 0 || call->alpha_ns > MOST_ALPHA_NS)
        return NAN;
    int64_t *arrival_ns = from_root(call);
    pat_plan *plans = calloc((size_t)call->num_ranks, sizeof(*plans));
    const pat_job job = {.num_ranks = call->num_ranks,
                         .block_bytes = call->bytes,
                         .element_bytes = 1,
                         .arrival_ns = alg->uses_arrivals ? arrival_ns : NULL,
                         .tau_ns = call->alpha_ns + call->bytes * call->beta_ps / 1000 + 1,
                         .alpha_ns = call->alpha_ns,
                         .beta_ps = call->beta_ps,
                         .piece_ns = call->alpha_ns / 4,
                         .segment_bytes = pat_collective_blocks(row, call->num_ranks) > 1
                                              ? PAT_FIRST_BYTES
                                              : pat_segment_bytes(call->bytes),
                         .eager_bytes = EAGER_BYTES,
                         .packet_bytes = PACKET_BYTES};
    for (; num < call->num_ranks && plans && arrival_ns && !error; num += !error)
        error = pat_algorithm_plan(alg, &job, num, &plans[num]);
    const double ns = num == call->num_ranks ? walk(call, plans, arrival_ns) : NAN;
    for (int r = 0; r < num; r++)
        pat_plan_free(&plans[r]);
    free(plans);
    free(arrival_ns);
    return ns;
}
