/*
 * pat_imbalance.c — pat-imbalance: how collectives do where ranks come apart by a known measure, and how far apart ranks come that compute the
 * same. Main program: options, start and stop; the measurements are in imbalance_measure.c.
 */
#include <argp.h>
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_finalize.h"
#include "bench_must.h"
#include "collective.h"
#include "file.h"
#include "imbalance_run.h"
#include "pat.h"
#include "tool_options.h"

enum { BURN_KEY = 256, PLACE_KEY, CSV_KEY, PROGRESS_KEY, SEED_KEY };

/* Each word of a list in turn; *left begins as the list. NULL after the last. To be freed. */
static char *next_word(const char **left)
{
    if (!*left)
        return NULL;
    const size_t length = strcspn(*left, ",");
    char *word = strndup(*left, length);
    *left = (*left)[length] ? *left + length + 1 : NULL;
    return word;
}

static int read_whole_list(struct argp_state *state, const char *option, const char *list, int64_t least,
                           int64_t most, bool bytes, int64_t *to)
{
    int num = 0;
    for (char *word; (word = next_word(&list)) != NULL; free(word)) {
        if (num == IMBALANCE_MOST)
            argp_error(state, "%s: accepted are at most %d values", option, IMBALANCE_MOST);
        to[num++] = bytes ? tool_bytes(state, option, word, least, most)
                          : tool_whole(state, option, word, least, most);
    }
    return num;
}

static int read_number_list(struct argp_state *state, const char *option, const char *list, double least,
                            double most, double *to)
{
    int num = 0;
    for (char *word; (word = next_word(&list)) != NULL; free(word)) {
        if (num == IMBALANCE_MOST)
            argp_error(state, "%s: accepted are at most %d values", option, IMBALANCE_MOST);
        to[num++] = tool_number(state, option, word, least, most);
    }
    return num;
}

/* Of the call's collective. With lists and for barriers the library has no blocking call of its own: they are the MPI library's. */
static void read_algs(struct argp_state *state, imbalance_options *o, const char *list)
{
    for (char *word; (word = next_word(&list)) != NULL; free(word)) {
        const pat_algorithm *alg = pat_algorithm_find(word);
        if (!alg || alg->op != o->form->op ||
            ((o->form->is_barrier || o->form->lists) && !imbalance_is_native(word)))
            argp_error(state, "--alg '%s': accepted for %s: %s", word, o->form->name,
                       o->form->is_barrier || o->form->lists ? pat_algorithm_native(o->form->op)->name
                                                             : pat_algorithm_names(o->form->op));
        if (o->num_algs == IMBALANCE_MOST)
            argp_error(state, "--alg: accepted are at most %d algorithms", IMBALANCE_MOST);
        else if (alg)
            o->algs[o->num_algs++] = alg->name;
    }
}

typedef struct words {
    imbalance_options o;
    const char *algs; /* read when it is known of which call */
    const char *is_of_controlled, *is_of_balanced,
        *is_of_replay; /* an option of that mode alone; NULL: none was given */
} words;

static void refuse_options_of_others(struct argp_state *state, const words *w)
{
    const char *mode = w->o.mode;
    if (w->is_of_controlled && strcmp(mode, "controlled") != 0)
        argp_error(state, "%s: accepted only with controlled", w->is_of_controlled);
    if (w->is_of_balanced && strcmp(mode, "balanced") != 0)
        argp_error(state, "%s: accepted only with balanced", w->is_of_balanced);
    if (w->is_of_replay && strcmp(mode, "replay") != 0)
        argp_error(state, "%s: accepted only with replay", w->is_of_replay);
    if (w->o.trace && w->o.num_bytes > 1)
        argp_error(state, "--bytes: replay takes one number");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    words *w = state->input;
    imbalance_options *o = &w->o;
    switch (key) {
    case 'c':
        o->form = bench_form_find(arg);
        if (!o->form)
            argp_error(state, "--call '%s': accepted: %s", arg, bench_form_names);
        return 0;
    case 'a':
        w->algs = arg;
        return 0;
    case 'b':
        o->num_bytes = read_whole_list(state, "--bytes", arg, 1, 1 << 26, true, o->bytes);
        for (int i = 0; i < o->num_bytes; i++)
            if (o->bytes[i] % 4)
                argp_error(state, "--bytes '%s': accepted: multiples of 4, from 4 to 64M", arg);
        return 0;
    case 'm':
        w->is_of_controlled = "--max";
        o->num_most = read_whole_list(state, "--max", arg, 1, 1000000, false, o->most);
        for (int i = 1; i < o->num_most; i++)
            if (o->most[i] <= o->most[i - 1])
                argp_error(state, "--max '%s': accepted: ascending numbers", arg);
        return 0;
    case 'x':
        w->is_of_balanced = "--compute";
        o->num_compute = read_number_list(state, "--compute", arg, 0.1, 100000, o->compute_ms);
        return 0;
    case 'i':
        o->iterations = (int)tool_whole(state, "--iters", arg, 2, 1000000);
        return 0;
    case 'p':
        w->is_of_controlled = "--patterns";
        o->patterns = (int)tool_whole(state, "--patterns", arg, 2, 10000);
        return 0;
    case PLACE_KEY:
        w->is_of_replay = "--place";
        o->place = arg;
        return 0;
    case BURN_KEY:
        o->burns = true;
        return 0;
    case SEED_KEY:
        o->seed = tool_whole(state, "--seed", arg, 0, INT64_MAX);
        return 0;
    case CSV_KEY:
        o->csv_path = tool_output(state, "--csv", arg);
        return 0;
    case PROGRESS_KEY:
        if (!bench_progress_find(arg ? arg : "bar", &o->progress))
            argp_error(state, "--progress '%s': accepted: bar, lines, off", arg);
        return 0;
    case ARGP_KEY_ARG:
        if (!o->mode &&
            (strcmp(arg, "controlled") == 0 || strcmp(arg, "balanced") == 0 || strcmp(arg, "replay") == 0))
            o->mode = arg;
        else if (o->mode && strcmp(o->mode, "replay") == 0 && !o->trace)
            o->trace = arg;
        else
            argp_error(state, "mode '%s': accepted: one of controlled, balanced, replay DIR", arg);
        return 0;
    case ARGP_KEY_END:
        if (!o->mode)
            argp_error(state, "no mode given; accepted: controlled, balanced, replay DIR");
        if (strcmp(o->mode, "replay") == 0 && !o->trace)
            argp_error(state, "replay: a directory is missing; accepted: one that PAT_TRACE has filled");
        refuse_options_of_others(state, w);
        if (!o->form && strcmp(o->mode, "replay") != 0)
            o->form = bench_form_find("alltoall");
        if (w->algs && !o->form)
            argp_error(state, "--alg '%s': with replay accepted only beside --call, which says of what",
                       w->algs);
        if (w->algs)
            read_algs(state, o, w->algs);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option keys[] = {
    {"call", 'c', "CALL", 0,
     "The collective, as alltoall (default), allgather, allreduce or barrier; replay: only places that call "
     "it",
     0},
    {"alg", 'a', "LIST", 0,
     "Algorithms, comma-separated; the others are held against the first (default: the MPI library's own, "
     "and of "
     "alltoall alltoall_pairwise,alltoall_linear,alltoall_native); balanced takes the first",
     0},
    {"place", PLACE_KEY, "FILE:LINE", 0,
     "replay: the place whose arrivals are taken, as pat-report names it (default: the one with most "
     "waiting)",
     0},
    {"bytes", 'b', "LIST", 0,
     "Bytes of a rank's block, multiples of 4, with K or M (default 4,64K; balanced 64K; replay as recorded)",
     0},
    {"max", 'm', "LIST", 0,
     "controlled: the largest imbalance, in times of a message of that size (default "
     "1,3,5,9,17,33,65,129,257)",
     0},
    {"patterns", 'p', "N", 0, "controlled: how many patterns are drawn for each of them (default 32)", 0},
    {"compute", 'x', "LIST", 0, "balanced: of a computation, in ms (default 50,100,200,400,800)", 0},
    {"iters", 'i', "N", 0,
     "Calls with each pattern or computation; replay: so many of the recorded ones at most (default 100)", 0},
    {"burn", BURN_KEY, NULL, 0,
     "Late ranks keep a core busy instead of sleeping; with balanced all ranks always do", 0},
    {"seed", SEED_KEY, "S", 0, "Seed of the patterns (default 1)", 0},
    {"csv", CSV_KEY, "FILE", 0, "Write the same figures, and the time past the last arrival, as CSV", 0},
    {"progress", PROGRESS_KEY, "bar|lines|off", OPTION_ARG_OPTIONAL,
     "Progress on the standard error (default: a bar on a terminal, else off)", 0},
    {0}};

static const struct argp argp = {
    keys,
    parse,
    "MODE",
    "Measure collectives where ranks do not come together. controlled: each rank is late by a number of "
    "messages' times, "
    "from 0 to below MAX, that is drawn once for a pattern; algorithms take turns and meet the same "
    "patterns. balanced: all "
    "ranks compute the same and are never synchronised but by the collective itself. replay: they come as "
    "the ranks of a program came that "
    "has left a trace in DIR, call by call. Start it under "
    "mpirun.\n\nOptions:\v"
    "T, the time of a message: half the shortest round trip between two nodes. WIF: how far apart the first "
    "and the last rank "
    "come, in T; AIF: how far a rank is from the mean, in T. Every byte is checked, with balanced those of "
    "the last call.\n\n"
    "Exit status: 0, 1 when something failed while it ran, 2 for bad options and fewer than two ranks.",
    NULL,
    NULL,
    NULL};

/* What has not been said. */
static void fill_in(imbalance_options *o)
{
    const bool controlled = strcmp(o->mode, "controlled") == 0;
    if (o->num_algs == 0 && controlled)
        imbalance_default_algs(o);
    else if (o->num_algs == 0 && !o->trace) /* replay knows of which call when it has read the trace */
        o->algs[o->num_algs++] = pat_algorithm_native(o->form->op)->name;
    if (o->num_bytes == 0 && !o->trace) {
        if (controlled)
            o->bytes[o->num_bytes++] = 4;
        o->bytes[o->num_bytes++] = 65536;
    }
    if (o->num_most == 0)
        for (int64_t m = 1; m <= 257; m = m == 1 ? 3 : 2 * m - 1)
            o->most[o->num_most++] = m;
    if (o->num_compute == 0)
        for (double x = 50; x <= 800; x *= 2)
            o->compute_ms[o->num_compute++] = x;
}

/* Returns the exit status. */
static int measure(imbalance_options *o)
{
    if (o->trace)
        return imbalance_replay(o) ? 0 : TOOL_BAD_INPUT;
    if (strcmp(o->mode, "controlled") == 0)
        imbalance_controlled(o);
    else
        imbalance_balanced(o);
    return 0;
}

int main(int argc, char **argv)
{
    words w = {.o = {.iterations = 100, .patterns = 32, .seed = 1}};
    imbalance_options *o = &w.o;
    int rank, size, level, error = 0;
    /* Before MPI_Init, so that a wrong option ends every rank alike. */
    tool_parse("pat-imbalance", &argp, argc, argv, &w);
    fill_in(o);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        fprintf(stderr, "pat-imbalance: 1 rank; accepted: 2 or more: mpirun -n 2 pat-imbalance %s\n",
                o->mode);
        bench_finalize(TOOL_BAD_INPUT);
        return TOOL_BAD_INPUT;
    }
    int rc = PAT_Init();
    if (rc != MPI_SUCCESS) {
        if (rank == 0)
            fprintf(stderr, "pat-imbalance: %s\n", PAT_Error_string(rc));
        bench_finalize(TOOL_FAILED);
        return TOOL_FAILED;
    }
    char *text = NULL;
    size_t length = 0;
    if (rank == 0 && o->csv_path && !(o->csv = open_memstream(&text, &length)))
        error = errno;
    int status = measure(o);
    if (o->csv && fclose(o->csv) != 0)
        error = errno;
    if (o->csv && !error && !status)
        error = pat_file_write(o->csv_path, text, length);
    free(text);
    if (error)
        fprintf(stderr, "pat-imbalance: %s: %s\n", o->csv_path, strerror(error));
    rc = PAT_Finalize();
    if (rc != MPI_SUCCESS || error)
        status = TOOL_FAILED;
    bench_finalize(status);
    return status;
}
