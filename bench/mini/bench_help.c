/*
 * bench_help.c — see bench_help.h.
 */
#include "bench_help.h"

const struct argp_option bench_help_options[] = {
    {NULL, 0, NULL, 0, "What to measure:", 1},
    {"op", BENCH_KEY_OP, "OP", 0,
     "The collective: allgather (default), of floats of 4 bytes, or allreduce, the sum of vectors of doubles "
     "of 8 bytes",
     1},
    {"alg", BENCH_KEY_ALG, "LIST|all", 0,
     "Algorithms, comma-separated (default all); those of allreduce also without what their names begin "
     "with: ring is "
     "allreduce_ring",
     1},
    {"bytes", BENCH_KEY_BYTES, "LIST", 0,
     "Bytes per rank, of an all-reduce the vector's, with K, M or G for 1024, 1024^2 or 1024^3", 1},
    {"count", BENCH_KEY_COUNT, "LIST", 0,
     "The paper's way to say it, instead of --bytes: floats gathered in all, with K, M or G, rounded down to "
     "a multiple of the ranks; with allreduce the doubles of the vector (default 128K)",
     1},
    {"max-delay", BENCH_KEY_DELAY, "LIST", 0,
     "Largest delay of a rank, in ms, fractions allowed (default 0,10,100)", 1},
    {"iters", BENCH_KEY_ITERS, "I", 0, "Iterations of every cell and algorithm (default 20)", 1},
    {"base", BENCH_KEY_BASE, "MS", 0,
     "Computation time of a rank without delay (default 100; the paper's is 200)", 1},
    {"pattern", BENCH_KEY_PATTERN, "P", 0,
     "Who is late: uniform (default, the paper's), none, one-late (the last rank), ascending, descending, "
     "gaussian, rotating-late, alternating-late (the last rank, in every second iteration), switching-late "
     "(in "
     "iterations drawn at random)",
     1},
    {"seed", BENCH_KEY_SEED, "S", 0, "Seed of delays and data (default 1)", 1},
    {"persistent", BENCH_KEY_PERSISTENT, NULL, 0,
     "PAT_Allgather_init, PAT_Open, PAT_Start, PAT_Wait instead of PAT_Allgather; not with allreduce", 1},
    {"burn", BENCH_KEY_BURN, NULL, 0, "Ranks keep a core busy while they compute instead of sleeping", 1},
    {"no-milestones", BENCH_KEY_NO_MILESTONES, NULL, 0,
     "Give no milestones, as a program that knows nothing of PAT; what is predicted is still with arrivals "
     "known",
     1},
    {"edges", BENCH_KEY_EDGES, "LIST", 0,
     "Where in a computation ranks say PAT_Edge, in percent of it, comma-separated (default 50)", 1},
    {"pause", BENCH_KEY_PAUSE, NULL, 0,
     "A rank's delay comes as one pause at a moment drawn at random, instead of slower computation", 1},
    {NULL, 0, NULL, 0, "How:", 2},
    {"warmup", BENCH_KEY_WARMUP, "N", 0, "Iterations before each size that do not count (default 2)", 2},
    {"flat-iters", BENCH_KEY_FLAT, "N", 0,
     "Iterations without delay for each size and algorithm, for the absorption time, which is unknown with 0 "
     "(default 4)",
     2},
    {"retries", BENCH_KEY_RETRIES, "N", 0, "How often an iteration that began late is repeated (default 10)",
     2},
    {"tolerance", BENCH_KEY_TOLERANCE, "MS", 0,
     "An iteration is invalid when a rank begins later than this (default: 10 % of tau, at least 1 ms)", 2},
    {"link", BENCH_KEY_LINK, "US,MBIT", 0,
     "One-way latency in microseconds and payload rate in Mbit/s of a link, instead of measuring them", 2},
    {NULL, 0, NULL, 0, "What to write:", 3},
    {"csv", BENCH_KEY_CSV, "FILE", 0, "One row per cell and algorithm", 3},
    {"json", BENCH_KEY_JSON, "FILE", 0, "The same, with settings and every iteration", 3},
    {"plot", BENCH_KEY_PLOT, "DIR", 0,
     "Figures of all-gathers, as SVG and PNG, and their data (needs gnuplot)", 3},
    {"progress", BENCH_KEY_PROGRESS, "bar|lines|off", OPTION_ARG_OPTIONAL,
     "Progress on the standard error (default: a bar on a terminal, else off; PAT_PROGRESS says the same)",
     3},
    {NULL, 0, NULL, 0, "Looking at results again, without ranks:", 4},
    {"from", BENCH_KEY_FROM, "FILE[,FILE...]", 0,
     "Print the tables of these CSV or JSON files, and plot them with --plot", 4},
    {"versus", BENCH_KEY_VERSUS, "ALG", 0,
     "Also print how ALG does against the best of the others and the bound, by imbalance factor; and, if it "
     "chooses among them, what it "
     "loses by that, and whom it let run",
     4},
    {"paper", BENCH_KEY_PAPER, NULL, 0,
     "Also print the figures of Proficz 2021 beside ours, by imbalance factor", 4},
    {NULL, 0, NULL, 0, "Other:", -1},
    {"help", 'h', NULL, 0, "This text", -1},
    {"version", 'V', NULL, 0, "The version", -1},
    {0},
};

const char bench_help_text[] =
    "Mini-benchmark: how long do algorithms for all-gathers and all-reduces take when ranks arrive late? "
    "Start it under "
    "mpirun.\n\nOptions:\v"
    "Every iteration each rank computes for MS plus its delay, says PAT_Edge(50) in the middle, and calls "
    "the "
    "collective. Algorithms take turns within an iteration and meet the same delays. Every byte is "
    "checked; sums are exact.\n\n"
    "elapsed: call to return, mean over ranks; past last: last return after the last call; run: first call "
    "to last "
    "return; absorption: run without delays - run + imbalance; imbalance factor: (last call - first call) / "
    "tau; "
    "tau: latency + segment / rate, where the segment of an all-reduce is its vector; bound: what no "
    "algorithm can beat with these calls and this link.\n\n"
    "latency: half the smallest 1-byte round trip between neighbours; rate: payload of the fastest of three "
    "sustained streams round all nodes "
    "at once, median over the nodes. The bound counts what comes from other nodes, once per node, and leaves "
    "out "
    "the "
    "PAT_LAB_BURST bytes that an emulated link lets through at once. --from compares by confidence intervals "
    "where only a "
    "CSV is there, and in pairs where a JSON is.\n\n"
    "Exit status: 0, 1 when a run failed (also: a wrong byte), 2 for bad options.";
