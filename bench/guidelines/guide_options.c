/*
 * guide_options.c — see guide_options.h. Must never leave anything behind: directories are made later.
 */
#include "guide_options.h"

#include <argp.h>
#include <string.h>

#include "guide_input.h"
#include "tool_options.h"

enum {
    MORE_KEY = 256,
    ALGORITHMS_KEY,
    WRITE_KEY,
    OWN_KEY,
    LEFT_KEY,
    ORDER_KEY,
    SEED_KEY,
    LAUNCH_KEY,
    FRESH_KEY,
    ARRIVAL_KEY,
    PLACE_KEY,
    RANKS_KEY,
    BEYOND_KEY,
    PROFILE_KEY,
    DATA_KEY,
    INTS_KEY,
    REPLAY_KEY,
    JUDGE_KEY,
    REPORT_KEY,
    PROGRESS_KEY
};

enum { DEFAULT_COMPARER = 5, DEFAULT_TEST = 0 };

static const struct argp_option keys[] = {
    {"input", 'f', "FILE", 0,
     "Measure what FILE says: a line for each collective, MPI_Bcast --msizes-list=1,1024 ...", 0},
    {"comparer", 'c', "NUMBER", 0, "The table:", 0}, /* with_list says which there are */
    {"test", 't', "NUMBER", 0, "One-tailed, at 5 %:", 0},
    {"output", 'o', "DIR", 0,
     "Put tables, totals, JSON and raw data into DIR, which is made where it is missing", 0},
    {"merge", 'm', NULL, 0, "One table of all collectives too, MPI_Results", 0},
    {"csv", 's', NULL, 0, "The tables as CSV too", 0},
    {"verbose", 'v', NULL, 0, "Print the tables too; without --output they always are", 0},
    {"more", MORE_KEY, NULL, 0,
     "Where the table has verdicts, columns of ours too: effect size (Cliff's delta), p, p corrected for all "
     "tests "
     "(Holm), launches, whether the "
     "verdict is certain",
     0},
    {"algorithms", ALGORITHMS_KEY, "FILE", 0,
     "Measure only the algorithms in this list (default: all that there are)", 0},
    {"write-algorithms", WRITE_KEY, "FILE", 0, "Write the list of algorithms, to be edited, and end", 0},
    {"own", OWN_KEY, NULL, 0, "PAT's own algorithms as right sides too, as pat_ALG", 0},
    {"left", LEFT_KEY, "SIDE", 0,
     "Whose guidelines are checked: default, the MPI library's call (default); mpi, what a program gets that "
     "calls MPI_..., with a "
     "preloaded library in between; pat, PAT's call with its own choice; pat_ALG, PAT's call by that "
     "algorithm",
     0},
    {"order", ORDER_KEY, "random|series", 0,
     "All algorithms of a size take turns in random order (default), or one series after the other", 0},
    {"seed", SEED_KEY, "S", 0, "Seed of the order and of arrivals (default 1)", 0},
    {"launch", LAUNCH_KEY, "N", 0,
     "This is launch N of the campaign in the output directory: its samples are added to those of the "
     "launches before, and the "
     "verdict is on all. From three launches on a verdict can be certain",
     0},
    {"fresh", FRESH_KEY, NULL, 0,
     "Remove the raw data that an earlier campaign has left in the output directory. Without this and "
     "without "
     "--launch such a directory is refused",
     0},
    {"arrival", ARRIVAL_KEY, "PATTERN:FACTOR|trace:DIR", 0,
     "Let ranks come late to each sample: by a pattern of pat-bench, at most FACTOR times what the left side "
     "takes when they come together; or as those of a program came that has left a trace in DIR (PAT_TRACE) "
     "with "
     "calls of as many ranks, call after call and round again. Scored by the mean time in the call, and "
     "below "
     "past-last/ by the time past the last arrival",
     0},
    {"place", PLACE_KEY, "FILE:LINE", 0,
     "--arrival trace:DIR: the place whose arrivals are taken, as pat-report names it (default: the one with "
     "most waiting)",
     0},
    {"ranks", RANKS_KEY, "LIST", 0,
     "A sweep: the campaign on the first R ranks for each R of LIST, as 2,4,6-16, 8-64:8 or all, while the "
     "others sleep; each in a directory of its own, ranks-R below --output",
     0},
    {"beyond", BEYOND_KEY, NULL, 0,
     "Two guidelines more, on the left side's own samples: that more bytes do not take less time, and that n "
     "bytes take "
     "no longer than k calls of n/k. Below beyond/",
     0},
    {"profile", PROFILE_KEY, "DIR", 0,
     "Write what was violated into DIR, as profiles that the drop-in applies", 0},
    {"scratch", DATA_KEY, "BYTES", 0, "Memory for the mock-ups' data, each rank (default 100000000)", 0},
    {"int-scratch", INTS_KEY, "BYTES", 0, "Memory for their counts and places (default 200000)", 0},
    {"replay", REPLAY_KEY, "FILE", 0, "Judge the medians in FILE, a CSV, and measure nothing; needs no ranks",
     0},
    {"judge", JUDGE_KEY, "DIR", 0,
     "Judge the raw data of a campaign in DIR anew, by another test or comparer, and measure nothing; needs "
     "no ranks",
     0},
    {"report", REPORT_KEY, NULL, 0,
     "Tables and pictures of the campaigns in these directories, side by side; needs no ranks", 0},
    {"progress", PROGRESS_KEY, "bar|lines|off", OPTION_ARG_OPTIONAL,
     "Progress on the standard error (default: a bar on a terminal, else off)", 0},
    {0}};

/* "PATTERN:FACTOR" or "trace:DIR" */
static void read_arrival(struct argp_state *state, guide_options *o, const char *arg)
{
    static const char recorded[] = "trace:";
    char name[64];
    const size_t length = strcspn(arg, ":");
    int pattern = -1;
    o->trace = strncmp(arg, recorded, strlen(recorded)) == 0 ? arg + strlen(recorded) : NULL;
    if (o->trace && *o->trace)
        return;
    if (length < sizeof(name)) {
        memcpy(name, arg, length);
        name[length] = '\0';
        pattern = bench_pattern_find(name);
    }
    if (pattern < 0 || arg[length] == '\0' || !tool_read_number(arg + length + 1, 0, 1e6, &o->factor))
        argp_error(state,
                   "--arrival '%s': accepted: PATTERN:FACTOR, with a factor from 0 to 1000000 and one of the "
                   "patterns %s; or trace:DIR, with a directory that PAT_TRACE has filled",
                   arg, bench_pattern_names());
    else
        o->pattern = (enum bench_pattern)pattern;
}

static void check_whole(struct argp_state *state, const guide_options *o)
{
    const int modes = (o->input != NULL) + (o->replay != NULL) + (o->judge != NULL) +
                      (o->write_algorithms != NULL) + o->report;
    if (modes != 1)
        argp_error(state,
                   "%s; accepted: one of -f FILE, --judge DIR, --replay FILE, --report DIR..., "
                   "--write-algorithms FILE",
                   modes == 0 ? "there is nothing to do" : "these do not go together");
    if (!o->report && o->num_dirs > 0)
        argp_error(state, "'%s': no arguments are accepted but with --report", o->dirs[0]);
    if (o->report && o->num_dirs == 0)
        argp_error(state, "--report: accepted: directories that campaigns have written, with --output");
    if (o->shape.csv && !o->outdir)
        argp_error(state, "--csv: accepted only with --output");
    if (o->launch > 0 && !o->outdir)
        argp_error(
            state,
            "--launch: accepted only with --output, where the launches before it have left their data");
    if (o->fresh && (!o->outdir || o->launch > 1))
        argp_error(state, "--fresh: accepted only with --output, and without --launch or with --launch 1");
    if (o->place && !o->trace)
        argp_error(state, "--place: accepted only with --arrival trace:DIR");
    if (!o->input && o->of_measuring && !(o->write_algorithms && strcmp(o->of_measuring, "own") == 0))
        argp_error(state, "--%s: accepted only with --input", o->of_measuring);
    if ((o->report || o->write_algorithms) && o->of_judging)
        argp_error(state, "--%s: accepted only with --input, --judge and --replay", o->of_judging);
    if (o->profile_dir && o->input && strcmp(o->left, "default") != 0)
        argp_error(
            state,
            "--profile: accepted only with --left default, not '%s': a profile replaces the MPI library's "
            "own call, and must be about that",
            o->left);
    if (o->replay && (o->beyond || o->profile_dir))
        argp_error(state, "--%s: accepted only with --input and --judge", o->beyond ? "beyond" : "profile");
}

/* What is of no use but to a campaign, or to a table, is not passed over in silence. */
static void note_use(guide_options *o, int key)
{
    const bool measures =
        (key >= ALGORITHMS_KEY && key <= RANKS_KEY && key != WRITE_KEY) || key == DATA_KEY || key == INTS_KEY;
    const bool judges = key == 'c' || key == 't' || key == 'm' || key == 's' || key == MORE_KEY ||
                        key == BEYOND_KEY || key == PROFILE_KEY;
    for (const struct argp_option *option = keys; option->name; option++)
        if (option->key == key && measures)
            o->of_measuring = option->name;
        else if (option->key == key && judges)
            o->of_judging = option->name;
}

static const char *comparer_title(int number)
{
    const guide_comparer *c = guide_comparer_number(number);
    return c ? c->title : NULL;
}

static const char *test_title(int number)
{
    const guide_test *t = guide_test_number(number);
    return t ? t->title : NULL;
}

static int last(const char *title(int number))
{
    int number = 0;
    while (title(number + 1))
        number++;
    return number;
}

/* What there is to choose from stands in the help by itself. Of memory that argp frees. */
static char *with_list(int key, const char *text, void *input)
{
    (void)input;
    if (key != 'c' && key != 't')
        return (char *)(uintptr_t)text;
    const char *(*const title)(int) = key == 'c' ? comparer_title : test_title;
    char *whole = NULL;
    size_t length;
    FILE *to = open_memstream(&whole, &length);
    if (!to)
        return (char *)(uintptr_t)text;
    fputs(text, to);
    for (int i = 0; title(i); i++)
        fprintf(to, "%s %d %s%s", i > 0 ? "," : "", i, title(i),
                i == (key == 'c' ? DEFAULT_COMPARER : DEFAULT_TEST) ? " (default)" : "");
    fclose(to);
    return whole;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    guide_options *o = state->input;
    note_use(o, key);
    switch (key) {
    case 'f':
        o->input = arg;
        return 0;
    case 'c':
        o->shape.comparer =
            guide_comparer_number((int)tool_whole(state, "--comparer", arg, 0, last(comparer_title)));
        return 0;
    case 't':
        o->test = guide_test_number((int)tool_whole(state, "--test", arg, 0, last(test_title)));
        return 0;
    case 'o':
        o->outdir = arg;
        if (!*arg)
            argp_error(state, "--output '': accepted: a directory");
        return 0;
    case 'm':
        o->shape.merge = true;
        return 0;
    case 's':
        o->shape.csv = true;
        return 0;
    case 'v':
        o->verbose = true;
        return 0;
    case MORE_KEY:
        o->shape.more = true;
        return 0;
    case ALGORITHMS_KEY:
        o->algorithms = arg;
        return 0;
    case WRITE_KEY:
        o->write_algorithms = tool_output(state, "--write-algorithms", arg);
        return 0;
    case OWN_KEY:
        o->own = true;
        return 0;
    case LEFT_KEY:
        o->left = arg;
        if (strlen(arg) >= GUIDE_NAME || (strcmp(arg, "default") != 0 && strcmp(arg, "mpi") != 0 &&
                                          strcmp(arg, "pat") != 0 && strncmp(arg, "pat_", 4) != 0))
            argp_error(state,
                       "--left '%s': accepted: default, mpi, pat, and pat_ALG with one of PAT's algorithms",
                       arg);
        return 0;
    case ORDER_KEY:
        o->in_series = strcmp(arg, "series") == 0;
        if (!o->in_series && strcmp(arg, "random") != 0)
            argp_error(state, "--order '%s': accepted: random, series", arg);
        return 0;
    case SEED_KEY:
        o->seed = (uint64_t)tool_whole(state, "--seed", arg, 0, INT64_MAX);
        return 0;
    case LAUNCH_KEY:
        o->launch = (int)tool_whole(state, "--launch", arg, 1, GUIDE_LAUNCHES);
        return 0;
    case FRESH_KEY:
        o->fresh = true;
        return 0;
    case ARRIVAL_KEY:
        read_arrival(state, o, arg);
        return 0;
    case PLACE_KEY:
        o->place = arg;
        return 0;
    case RANKS_KEY:
        if (!guide_ranks_read(&o->ranks, arg))
            argp_error(state, "--ranks '%s': accepted: %s", arg, GUIDE_RANKS_ACCEPTED);
        return 0;
    case BEYOND_KEY:
        o->beyond = true;
        return 0;
    case PROFILE_KEY:
        o->profile_dir = arg;
        if (!*arg)
            argp_error(state, "--profile '': accepted: a directory");
        return 0;
    case DATA_KEY:
        o->data_bytes = tool_bytes(state, "--scratch", arg, 1, INT64_C(1) << 40);
        return 0;
    case INTS_KEY:
        o->int_bytes = tool_bytes(state, "--int-scratch", arg, 1, INT64_C(1) << 40);
        return 0;
    case REPLAY_KEY:
        o->replay = arg;
        return 0;
    case JUDGE_KEY:
        o->judge = arg;
        return 0;
    case REPORT_KEY:
        o->report = true;
        return 0;
    case PROGRESS_KEY:
        if (!bench_progress_find(arg ? arg : "bar", &o->progress))
            argp_error(state, "--progress '%s': accepted: bar, lines, off", arg);
        return 0;
    case ARGP_KEY_ARG:
        if (o->num_dirs == GUIDE_REPORTS)
            argp_error(state, "--report: accepted are at most %d directories", GUIDE_REPORTS);
        else
            o->dirs[o->num_dirs++] = arg;
        return 0;
    case ARGP_KEY_END:
        check_whole(state, o);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp argp = {
    keys,
    parse,
    "[DIR...]",
    "Check performance guidelines: a collective of the MPI library should not take longer than what the same "
    "library's other collectives "
    "can be put together to do. Measures both sides, says where that is violated, and how surely. Start it "
    "under mpirun.\n\nOptions:\v"
    "A line of the input file names a collective and has --msizes-list=LIST, --nrep=N, "
    "--rt-bench-time-ms=MS, --proc-sync=barrier|roundtime, "
    "--rt-barrier-count=K, --runtime-type=local|global, --root=R; lines that begin with # say nothing. A "
    "star marks a gain below what a "
    "barrier takes; \"brave\" counts all violations, \"cautious\" those without a star.\n\n"
    "Exit status: 0, also where guidelines are violated; 1 when something failed while it ran; 2 for bad "
    "options and bad files.",
    NULL,
    with_list,
    NULL};

void guide_options_read(guide_options *o, int argc, char **argv)
{
    *o = (guide_options){.shape = {.comparer = guide_comparer_number(DEFAULT_COMPARER)},
                         .test = guide_test_number(DEFAULT_TEST),
                         .left = "default",
                         .seed = 1,
                         .pattern = BENCH_NONE,
                         .data_bytes = 100000000,
                         .int_bytes = 200000};
    tool_parse("pat-guidelines", &argp, argc, argv, o);
    o->verbose = o->verbose || !o->outdir;
}
