/*
 * model_printed.c — see model_printed.h. Numbers in brackets are the thesis' tables. Of Shaheen II no gamma is printed, so that nothing
 * follows there; of MareNostrum4 with 480 ranks the last three lines cannot be read.
 */
#include "model_printed.h"

#include <math.h>
#include <string.h>

#include "closed_form.h"

/* ---- The platforms: gamma from 2 on [6.1, 6.9b], and how much longer a segment takes over the network than inside a node ---- */

static const double gamma_grisou[] = {1, 1.114, 1.219, 1.283, 1.451, 1.540},
                    gamma_gros[] = {1, 1.084, 1.170, 1.254, 1.339, 1.424},
                    gamma_marenostrum[] = {1, 1.145, 1.290, 1.435};

/* Where every rank counts as one on a node of its own. */
#define APART(gamma)                                                                                         \
    {                                                                                                        \
        .ratio = 1, .network = { gamma, sizeof(gamma) / sizeof(gamma[0]) }                                   \
    }
/* The gamma of shared memory is 1. */
#define SHARED(gamma, q, on_a_node)                                                                          \
    {                                                                                                        \
        .ranks_per_node = (on_a_node), .ratio = (q), .network = { gamma, sizeof(gamma) / sizeof(gamma[0]) }  \
    }

/* ---- Parameters of the algorithms ---- */

enum { LINEAR, CHAIN, KCHAIN, BINARY, SPLIT, BINOMIAL };
static const char *const bcasts[PRINTED_ALGS] = {"bcast_linear", "bcast_chain", "bcast_kchain",
                                                 "bcast_binary", "bcast_split", "bcast_binomial"};
enum { NO_SYNC, SYNC, UP_BINOMIAL, GATHERS };
static const char *const gathers[GATHERS] = {"gather_linear", "gather_sync", "gather_binomial"};

/* One process per processor: alpha, beta [6.3, 6.4]. */
static const double bcast_grisou[][2] = {{2.2e-12, 1.8e-8}, {6.1e-13, 4.9e-9}, {5.7e-13, 4.7e-9},
                                         {5.8e-13, 4.7e-9}, {3.7e-13, 3.6e-9}, {5.8e-13, 4.8e-9}},
                    bcast_gros[][2] = {{1.4e-12, 1.1e-8}, {4.7e-12, 3.8e-8}, {5.4e-13, 4.5e-9},
                                       {5.8e-13, 4.7e-9}, {5.5e-13, 4.5e-9}, {1.2e-13, 1.0e-9}},
                    gather_grisou[][2] = {{1.5e-5, 1.5e-9}, {5.9e-5, 9.4e-10}, {1.2e-4, 8.6e-10}},
                    gather_gros[][2] = {{1.3e-4, 3.4e-10}, {9.5e-5, 3.9e-10}, {1.0e-4, 4.2e-10}};

/*
 * One process per core: o over the network, L of shared memory, L over the network, all for a segment [6.10]. A message over the
 * network is taken as o and one transfer of either kind, by which the printed system of equations comes out; what grows with its bytes are
 * the transfers.
 */
#define TRANSFERS(o, shared, network)                                                                        \
    {                                                                                                        \
        (o), ((shared) + (network)) / PRINTED_SEGMENT                                                        \
    }
static const double cores_grisou[][2] = {TRANSFERS(2.1e-4, 2.1e-4, 2.1e-4),
                                         TRANSFERS(1.2e-5, 2.0e-5, 1.2e-5),
                                         TRANSFERS(2.2e-4, 4.1e-5, 2.2e-4),
                                         TRANSFERS(3.3e-4, 3.0e-4, 3.3e-4),
                                         TRANSFERS(7.4e-5, 3.5e-4, 7.4e-5),
                                         TRANSFERS(9.7e-5, 2.1e-4, 9.7e-5)},
                    cores_gros[][2] = {TRANSFERS(8.2e-5, 8.2e-5, 8.2e-5), TRANSFERS(8.1e-6, 1.3e-5, 8.1e-6),
                                       TRANSFERS(8.0e-6, 1.1e-5, 8.0e-6), TRANSFERS(5.6e-5, 9.7e-6, 5.6e-5),
                                       TRANSFERS(3.2e-5, 9.3e-6, 3.2e-5), TRANSFERS(1.9e-5, 8.0e-6, 1.9e-5)},
                    cores_marenostrum[][2] = {
                        TRANSFERS(6.8e-4, 6.7e-4, 6.8e-4), TRANSFERS(5.4e-5, 5.8e-6, 5.4e-5),
                        TRANSFERS(6.2e-5, 1.2e-5, 6.2e-5), TRANSFERS(3.0e-4, 7.5e-5, 3.0e-4),
                        TRANSFERS(1.7e-4, 2.1e-5, 1.7e-4), TRANSFERS(7.9e-5, 7.9e-6, 7.9e-5)};

/* ---- Choices: KiB, the fastest, the model's and its loss, Open MPI 3.1's and its loss ---- */

static const printed_row grisou_90[] = {
    {8, BINOMIAL, BINARY, 3, SPLIT, 160}, {16, BINARY, BINARY, 0, SPLIT, 1},
    {32, BINARY, BINARY, 0, SPLIT, 0},    {64, SPLIT, BINARY, 1, SPLIT, 0},
    {128, BINARY, BINARY, 0, SPLIT, 1},   {256, SPLIT, BINARY, 2, SPLIT, 0},
    {512, SPLIT, BINARY, 2, CHAIN, 111},  {1024, SPLIT, BINARY, 3, CHAIN, 88},
    {2048, SPLIT, BINARY, 2, CHAIN, 55},  {4096, SPLIT, BINARY, 1, CHAIN, 20},
};

static const printed_row gros_100[] = {
    {8, BINARY, BINOMIAL, 3, SPLIT, 549},  {16, BINOMIAL, BINOMIAL, 0, SPLIT, 32},
    {32, BINOMIAL, BINOMIAL, 0, SPLIT, 3}, {64, SPLIT, BINOMIAL, 8, SPLIT, 0},
    {128, SPLIT, BINOMIAL, 8, SPLIT, 0},   {256, BINARY, BINARY, 0, SPLIT, 6},
    {512, BINARY, BINARY, 0, CHAIN, 7297}, {1024, SPLIT, BINARY, 7, CHAIN, 6094},
    {2048, SPLIT, BINARY, 4, CHAIN, 3227}, {4096, SPLIT, BINARY, 9, CHAIN, 2568},
};

static const printed_row grisou_450[] = {
    {16, LINEAR, CHAIN, 24, SPLIT, 1568}, {32, CHAIN, CHAIN, 0, SPLIT, 1211},
    {64, CHAIN, CHAIN, 0, SPLIT, 702},    {128, CHAIN, CHAIN, 0, SPLIT, 1153},
    {256, CHAIN, CHAIN, 0, SPLIT, 1106},  {512, CHAIN, CHAIN, 0, CHAIN, 0},
    {1024, CHAIN, CHAIN, 0, CHAIN, 0},    {2048, CHAIN, CHAIN, 0, CHAIN, 0},
    {4096, CHAIN, CHAIN, 0, CHAIN, 0},
};

static const printed_row grisou_600[] = {
    {16, LINEAR, CHAIN, 20, SPLIT, 1006}, {32, CHAIN, CHAIN, 0, SPLIT, 744},
    {64, CHAIN, CHAIN, 0, SPLIT, 808},    {128, CHAIN, CHAIN, 0, SPLIT, 792},
    {256, CHAIN, CHAIN, 0, SPLIT, 762},   {512, CHAIN, CHAIN, 0, CHAIN, 0},
    {1024, CHAIN, CHAIN, 0, CHAIN, 0},    {2048, CHAIN, CHAIN, 0, CHAIN, 0},
    {4096, CHAIN, CHAIN, 0, CHAIN, 0},
};

static const printed_row gros_400[] = {
    {16, SPLIT, BINARY, 1, SPLIT, 0},     {32, SPLIT, BINARY, 6, SPLIT, 0},
    {64, SPLIT, SPLIT, 0, SPLIT, 0},      {128, SPLIT, SPLIT, 0, SPLIT, 0},
    {256, KCHAIN, KCHAIN, 0, SPLIT, 4},   {512, KCHAIN, KCHAIN, 0, CHAIN, 67},
    {1024, KCHAIN, KCHAIN, 0, CHAIN, 76}, {2048, KCHAIN, KCHAIN, 0, CHAIN, 62},
    {4096, KCHAIN, KCHAIN, 0, CHAIN, 42},
};

static const printed_row gros_1000[] = {
    {16, SPLIT, BINOMIAL, 1, SPLIT, 0},   {32, SPLIT, SPLIT, 0, SPLIT, 0},
    {64, SPLIT, SPLIT, 0, SPLIT, 0},      {128, SPLIT, SPLIT, 0, SPLIT, 0},
    {256, SPLIT, SPLIT, 0, SPLIT, 0},     {512, SPLIT, SPLIT, 0, CHAIN, 97},
    {1024, SPLIT, KCHAIN, 2, CHAIN, 570}, {2048, KCHAIN, KCHAIN, 0, CHAIN, 73},
    {4096, KCHAIN, KCHAIN, 0, CHAIN, 66},
};

static const printed_row marenostrum_96[] = {
    {16, SPLIT, KCHAIN, 3, SPLIT, 0},    {32, KCHAIN, KCHAIN, 0, SPLIT, 4},
    {64, KCHAIN, KCHAIN, 0, SPLIT, 19},  {128, KCHAIN, KCHAIN, 0, SPLIT, 40},
    {256, KCHAIN, KCHAIN, 0, SPLIT, 74}, {512, KCHAIN, KCHAIN, 0, CHAIN, 9},
    {1024, CHAIN, KCHAIN, 1, CHAIN, 0},  {2048, CHAIN, CHAIN, 0, CHAIN, 0},
    {4096, CHAIN, CHAIN, 0, CHAIN, 0},
};

static const printed_row marenostrum_480[] = {
    {16, SPLIT, KCHAIN, 84, SPLIT, 0},    {32, KCHAIN, KCHAIN, 0, SPLIT, 92},
    {64, KCHAIN, KCHAIN, 0, SPLIT, 385},  {128, KCHAIN, KCHAIN, 0, SPLIT, 719},
    {256, KCHAIN, KCHAIN, 0, SPLIT, 209}, {512, KCHAIN, KCHAIN, 0, CHAIN, 31},
};

static const printed_row gather_grisou_90[] = {{64, UP_BINOMIAL, UP_BINOMIAL, 0, SYNC, 190},
                                               {128, UP_BINOMIAL, UP_BINOMIAL, 0, SYNC, 104},
                                               {256, UP_BINOMIAL, UP_BINOMIAL, 0, SYNC, 68},
                                               {512, UP_BINOMIAL, UP_BINOMIAL, 0, SYNC, 36},
                                               {1024, UP_BINOMIAL, UP_BINOMIAL, 0, SYNC, 19}};

static const printed_row gather_gros_100[] = {{64, UP_BINOMIAL, UP_BINOMIAL, 0, SYNC, 524},
                                              {128, UP_BINOMIAL, UP_BINOMIAL, 0, SYNC, 271},
                                              {256, UP_BINOMIAL, UP_BINOMIAL, 0, SYNC, 2073},
                                              {512, UP_BINOMIAL, UP_BINOMIAL, 0, SYNC, 71},
                                              {1024, UP_BINOMIAL, UP_BINOMIAL, 0, SYNC, 36}};

/* ---- All together ---- */

#define BCASTS     .op = PAT_OP_BCAST, .num_algs = PRINTED_ALGS, .algs = bcasts
#define GATHERS_OF .op = PAT_OP_GATHER, .num_algs = GATHERS, .algs = gathers
#define ROWS(of)   .rows = (of), .num_rows = sizeof(of) / sizeof((of)[0])

static const printed_set sets[] = {
    {.machine = "grisou",
     .tables = "6.1, 6.3 and 6.5",
     .ranks = 90,
     .link = APART(gamma_grisou),
     .alpha_beta = bcast_grisou,
     BCASTS,
     ROWS(grisou_90)},
    {.machine = "grisou",
     .tables = "6.3 and 6.6",
     .ranks = 90,
     .link = APART(gamma_grisou),
     .alpha_beta = gather_grisou,
     GATHERS_OF,
     ROWS(gather_grisou_90)},
    {.machine = "gros",
     .tables = "6.1, 6.4 and 6.5",
     .ranks = 100,
     .link = APART(gamma_gros),
     .alpha_beta = bcast_gros,
     BCASTS,
     ROWS(gros_100)},
    {.machine = "gros",
     .tables = "6.4 and 6.6",
     .ranks = 100,
     .link = APART(gamma_gros),
     .alpha_beta = gather_gros,
     GATHERS_OF,
     ROWS(gather_gros_100)},
    {.machine = "grisou-cores",
     .tables = "6.9, 6.10 and 6.11",
     .ranks = 450,
     .link = SHARED(gamma_grisou, 6, 16),
     .alpha_beta = cores_grisou,
     BCASTS,
     ROWS(grisou_450)},
    {.machine = "grisou-cores",
     .tables = "6.9, 6.10 and 6.11",
     .ranks = 600,
     .link = SHARED(gamma_grisou, 6, 16),
     .alpha_beta = cores_grisou,
     BCASTS,
     ROWS(grisou_600)},
    {.machine = "gros-cores",
     .tables = "6.9, 6.10 and 6.11",
     .ranks = 400,
     .link = SHARED(gamma_gros, 12, 18),
     .alpha_beta = cores_gros,
     BCASTS,
     ROWS(gros_400)},
    {.machine = "gros-cores",
     .tables = "6.9, 6.10 and 6.11",
     .ranks = 1000,
     .link = SHARED(gamma_gros, 12, 18),
     .alpha_beta = cores_gros,
     BCASTS,
     ROWS(gros_1000)},
    {.machine = "marenostrum-cores",
     .tables = "6.9, 6.10 and 6.11",
     .ranks = 96,
     .link = SHARED(gamma_marenostrum, 9, 48),
     .alpha_beta = cores_marenostrum,
     BCASTS,
     ROWS(marenostrum_96)},
    {.machine = "marenostrum-cores",
     .tables = "6.9, 6.10 and 6.11",
     .ranks = 480,
     .link = SHARED(gamma_marenostrum, 9, 48),
     .alpha_beta = cores_marenostrum,
     BCASTS,
     ROWS(marenostrum_480)},
};

const printed_set *printed_at(int index)
{
    return index >= 0 && index < (int)(sizeof(sets) / sizeof(sets[0])) ? &sets[index] : NULL;
}

/* ---- Predictions ---- */

static double log_down(int n)
{
    return floor(log2(n));
}

pat_form_cost printed_literal(const char *alg, const pat_job *job, pat_gamma gamma)
{
    const double P = job->num_ranks, bytes = (double)job->block_bytes, segment = (double)job->segment_bytes,
                 n = ceil(bytes / segment), segments = n / 2 + log_down(job->num_ranks) - 1;
    if (strcmp(alg, "bcast_split") == 0) /* [4.9] */
        return (pat_form_cost){.messages = 2 * segments + 1, .bytes = 2 * segments * segment + bytes / 2};
    pat_form_cost cost = pat_closed_form(pat_algorithm_find(alg), job, gamma);
    if (strcmp(alg, "bcast_kchain") == 0) /* [4.11] */
        cost.messages = floor((P - 1) / PAT_TREE_CHAINS) + n * pat_gamma_of(gamma, PAT_TREE_CHAINS + 1) - 1;
    else if (strcmp(alg, "bcast_binomial") == 0) /* [4.7] */
        cost.messages -= 1;
    else
        return cost;
    cost.bytes = cost.messages * segment;
    return cost;
}

double printed_seconds(const printed_set *set, int alg, int64_t bytes, bool literal)
{
    /* The longest message that is sent without asking is 64 KiB with its header. */
    const pat_job job = {.num_ranks = set->ranks,
                         .block_bytes = bytes,
                         .segment_bytes = PRINTED_SEGMENT,
                         .eager_bytes = 65536 - 64};
    const pat_algorithm *const algorithm = pat_algorithm_find(set->algs[alg]);
    pat_form_cost cost = {.messages = NAN, .bytes = NAN};
    if (set->link.ranks_per_node > 1) {
        if (pat_stages_bcast(&cost, algorithm, &job, &set->link) != 0)
            return NAN;
    } else if (literal) {
        cost = printed_literal(set->algs[alg], &job, set->link.network);
    } else {
        cost = pat_closed_form(algorithm, &job, set->link.network);
    }
    return cost.messages * set->alpha_beta[alg][0] + cost.bytes * set->alpha_beta[alg][1];
}

int printed_choice(const printed_set *set, int64_t bytes, bool literal)
{
    int best = 0;
    for (int a = 1; a < set->num_algs; a++)
        if (printed_seconds(set, a, bytes, literal) < printed_seconds(set, best, bytes, literal))
            best = a;
    return best;
}
