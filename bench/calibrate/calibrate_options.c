/*
 * calibrate_options.c — see calibrate_options.h.
 */
#include "calibrate_options.h"

#include "collective.h"
#include "tool_options.h"

static enum pat_op read_op(struct argp_state *state, const char *text)
{
    const enum pat_op op = pat_collective_find(text);
    if (op == PAT_NUM_OPS || !pat_collective_of(op)->yardstick)
        argp_error(state, "--op '%s': accepted: allgather, bcast, gather", text);
    return op;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    calibrate_options *o = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        o->op = PAT_NUM_OPS;
        return 0;
    case 'f':
        o->op = read_op(state, arg);
        return 0;
    case 'o':
        if (!*arg)
            argp_error(state, "--out '': accepted: the name of a file");
        o->out = arg;
        return 0;
    case 'q':
        o->quick = true;
        return 0;
    case 'a':
        o->again = true;
        return 0;
    case 'c':
        o->check = true;
        return 0;
    case 'b':
        o->library = true;
        return 0;
    case 'r':
        o->rules = tool_output(state, "--rules", arg);
        return 0;
    case 'j':
        o->rules_json = tool_output(state, "--rules-json", arg);
        return 0;
    case 'p':
        o->patience.precision = tool_number(state, "--precision", arg, 0.001, 1);
        return 0;
    case 'l':
        o->longest_s = tool_number(state, "--longest", arg, 0.001, 1000);
        return 0;
    case 'g':
        if (!bench_progress_find(arg, &o->progress))
            argp_error(state, "--progress '%s': accepted: auto, bar, lines, off", arg);
        return 0;
    case ARGP_KEY_END:
        if ((o->rules || o->rules_json) && !o->out)
            argp_error(state,
                       "%s without --out: accepted: --out FILE, the calibration that rules are made of",
                       o->rules ? "--rules" : "--rules-json");
        if (o->op != PAT_NUM_OPS && !o->check && (!o->out || o->again))
            argp_error(
                state,
                "--op %s: accepted: with --out and without --again, so that no whole calibration is lost",
                pat_collective_of(o->op)->name);
        o->patience.least = o->quick ? 3 : 5;
        o->patience.most = 40;
        o->patience.most_s =
            o->quick ? 0.15 : 0; /* short messages, of which one takes as long as noise, are still repeated */
        if (o->patience.precision <= 0)
            o->patience.precision = o->quick ? 0.1 : 0.025;
        if (o->longest_s <= 0)
            o->longest_s = o->quick ? 0.05 : 0.5;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option keys[] = {
    {"out", 'o', "FILE", 0,
     "Where the calibration goes (default: a file for this machine and network in $XDG_CACHE_HOME/pat or "
     "$HOME/.cache/pat, where the library finds it by itself)",
     0},
    {"quick", 'q', 0, 0, "Less time for each measurement, and shorter messages: less than 2 minutes", 0},
    {"again", 'a', 0, 0, "Measure anew what the file already has, also what --quick has measured", 0},
    {"check", 'c', 0, 0,
     "Run every algorithm and compare: the best, the one that the file chooses, the MPI library's own, and "
     "what was "
     "predicted",
     0},
    {"op", 'f', "OP", 0,
     "Only this collective: allgather, bcast or gather (default all). A start without it adds the others", 0},
    {"library", 'b', 0, 0,
     "Measure Open MPI's own algorithms too, each forced, one by one: what --rules is made of", 0},
    {"rules", 'r', "FILE", 0,
     "Only write FILE, out of what --library has measured into the calibration of --out: rules for Open "
     "MPI's "
     "own collectives",
     0},
    {"rules-json", 'j', "FILE", 0, "The same as JSON, for Open MPI 6", 0},
    {"precision", 'p', "R", 0,
     "Repeat until the 95 % confidence interval is this part of the mean on either side (default 0.025), at "
     "most 40 times",
     0},
    {"longest", 'l', "S", 0,
     "Leave out messages for which one run would take longer, in seconds (default 0.5)", 0},
    {"progress", 'g', "HOW", 0, "auto (default), bar, lines, off", 0},
    {0}};

const struct argp calibrate_argp = {
    keys,
    parse,
    NULL,
    "Measure what messages cost every all-gather, broadcast and gather on this machine, so that the library "
    "can choose by it.\n\nOptions:\v"
    "Start it under mpirun with the layout that programs will have: as many ranks on a node, numbered alike, "
    "at least two in "
    "all. What it "
    "finds also serves other numbers of nodes, if it was measured on three or more where these have several "
    "ranks. After each algorithm the file is written; started again it "
    "goes on where it was.\n\n"
    "Exit status: 0, 1 when something failed while it ran, 2 for bad options, fewer than two ranks, nodes "
    "that "
    "are not alike, and a file that cannot be written, gone on with or checked.",
    NULL,
    NULL,
    NULL};
