/*
 * pat_overhead.c — what the library costs when there is nothing to win, and what a copy costs. Main program: options,
 * start and stop; the measurements are in overhead_<mode>.c.
 *
 *   pat-overhead call     PAT_Allgather with "native" against bare MPI_Allgather, 8 B to 64 KiB
 *   pat-overhead thread   a fixed computation on every core, with and without the library, (a) with nothing
 *                         arriving, (b) while the other ranks' segments arrive
 *   pat-overhead exchange milestones under auto, against none, where the MPI library runs the calls
 *   pat-overhead bell     how soon a rank that sleeps runs when another one of its node has rung its bell
 *   pat-overhead overlap  how much of a non-blocking collective is hidden behind a computation, MPI's and PAT's
 *   pat-overhead copies   the plain call against the persistent one, on a rank whose data is all there when it calls
 *
 * Run with one rank per core: mpirun -n 2 pat-overhead call
 */
#include <argp.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_call.h"
#include "bench_finalize.h"
#include "collective.h"
#include "overhead.h"
#include "pat.h"
#include "tool_options.h"

static const char doc[] =
    "Measure what the library costs: MODE is call (PAT_Allgather \"native\" against "
    "MPI_Allgather), thread (a "
    "computation slowed by the background thread, its processor time and wake-ups), exchange "
    "(what it costs to tell "
    "each other when ranks come, where the MPI library runs the call), bell (how soon a rank that sleeps is "
    "woken by "
    "another one of its node), copies (the plain call against "
    "the persistent one) or overlap (how much of a non-blocking collective is hidden behind a computation, "
    "by MPI "
    "and by PAT). Start it "
    "under mpirun with one rank per core.\n\nOptions:\v"
    "Exit status: 0, 1 when something failed while it ran, 2 for bad options and fewer than two ranks.";

static const struct {
    const char *name;
    void (*measure)(const overhead_options *o, int rank, int size);
    bool started; /* the library is, before and after */
    bool
        placed; /* ranks are where they are; else it is as over a network, since inside a node relay moves nothing before the call */
} modes[] = {{"call", overhead_call, true, false},          {"thread", overhead_thread, false, false},
             {"exchange", overhead_exchange, false, false}, {"bell", overhead_bell, false, false},
             {"copies", overhead_copies, true, false},      {"overlap", overhead_overlap, true, true}};
enum { NUM_MODES = sizeof(modes) / sizeof(modes[0]) };

static int find_mode(const char *name)
{
    for (int i = 0; i < NUM_MODES; i++)
        if (strcmp(modes[i].name, name) == 0)
            return i;
    return -1;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    overhead_options *o = state->input;
    const enum pat_op op = pat_collective_find("allgather");
    switch (key) {
    case 'r':
        o->rounds = (int)tool_whole(state, "--rounds", arg, 3, 1000000);
        return 0;
    case 'p':
        o->phase_ms = tool_number(state, "--phase", arg, 1, 10000);
        return 0;
    case 'b':
        o->segment = (int)tool_bytes(state, "--bytes", arg, 1, 1 << 26);
        return 0;
    case 'B':
        o->burns = true;
        return 0;
    case 'l':
        o->late_ms = tool_number(state, "--late", arg, 0, 10000);
        return 0;
    case 'f':
        o->floats = true;
        return 0;
    case 'P':
        o->as_program = true;
        return 0;
    case 'a':
        if (!pat_algorithm_find(arg) || pat_algorithm_find(arg)->op != op)
            argp_error(state, "--alg '%s': accepted: %s", arg, pat_algorithm_names(op));
        o->alg = arg;
        return 0;
    case 'c':
        if (!bench_form_find(arg))
            argp_error(state, "--call '%s': accepted: %s", arg, bench_form_names);
        o->call = arg;
        return 0;
    case ARGP_KEY_ARG:
        if (o->mode || find_mode(arg) < 0)
            argp_error(state, "mode '%s': accepted: one of call, thread, exchange, bell, copies, overlap",
                       arg);
        o->mode = arg;
        return 0;
    case ARGP_KEY_END:
        if (!o->mode)
            argp_error(state, "no mode given; accepted: call, thread, exchange, bell, copies, overlap");
        if ((o->floats || o->as_program) && strcmp(o->mode, "overlap"))
            argp_error(state, "--floats, --as-program with mode '%s': accepted: with overlap", o->mode);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option keys[] = {
    {"rounds", 'r', "N", 0,
     "Interleaved rounds (default 400 for call, 20 for exchange and overlap, 1000 for bell, 60 for the "
     "others)",
     0},
    {"phase", 'p', "MS", 0,
     "thread, exchange: length of one computation in ms (default 100 and 20); copies: how late rank 0 is in "
     "ms (default 20); overlap: of one computation (default: as long as MPI's call takes the rank that is in "
     "it longest)",
     0},
    {"burn", 'B', NULL, 0, "overlap: ranks keep a core busy while they compute instead of sleeping", 0},
    {"late", 'l', "MS", 0,
     "overlap: the last rank comes so many ms later to each call than the others (default 0); what calls "
     "take is counted from then on",
     0},
    {"call", 'c', "CALL", 0,
     "overlap: this call alone, as allgather or alltoallv (default: all that there are)", 0},
    {"floats", 'f', NULL, 0, "overlap: data is floating-point numbers, not whole ones", 0},
    {"as-program", 'P', NULL, 0,
     "overlap: PAT's calls are MPI_Iallreduce and so on, as programs have them; to be run under pat-run, "
     "past which MPI's calls go then",
     0},
    {"bytes", 'b', "BYTES", 0,
     "thread, exchange, copies, overlap: bytes per rank, with K or M, up to 64M (default 64K)", 0},
    {"alg", 'a', "ALG", 0, "thread, exchange, copies: algorithm (default relay; exchange: auto)", 0},
    {0}};
static const struct argp argp = {keys, parse, "MODE", doc, NULL, NULL, NULL};

int main(int argc, char **argv)
{
    overhead_options o = {.segment = 65536, .alg = NULL};
    int rank, size, level;
    /* Before MPI_Init, so that a wrong option ends every rank alike. */
    tool_parse("pat-overhead", &argp, argc, argv, &o);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        fprintf(stderr,
                "pat-overhead: 1 rank; accepted: 2 or more, one per core: mpirun -n 2 pat-overhead %s\n",
                o.mode);
        bench_finalize(2);
        return 2;
    }
    const int mode = find_mode(o.mode);
    if (!modes[mode].placed)
        setenv("PAT_RANKS_PER_NODE", "1", 0);
    if (o.as_program && MPI_Iallreduce == PMPI_Iallreduce) {
        if (rank == 0)
            fprintf(stderr,
                    "pat-overhead: --as-program: nobody takes a program's calls; accepted: under pat-run\n");
        bench_finalize(2);
        return 2;
    }
    const bool started = modes[mode].started && !o.as_program; /* else by the drop-in */
    int rc = started ? PAT_Init() : MPI_SUCCESS;
    if (rc == MPI_SUCCESS) {
        modes[mode].measure(&o, rank, size);
        rc = started ? PAT_Finalize() : MPI_SUCCESS;
    }
    if (rc != MPI_SUCCESS && rank == 0)
        fprintf(stderr, "pat-overhead: %s\n", PAT_Error_string(rc));
    const int status = rc == MPI_SUCCESS ? 0 : 1;
    bench_finalize(status);
    return status;
}
