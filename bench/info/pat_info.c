/*
 * pat_info.c — pat-info: what the library is, what it finds here, and how it is set: every setting with its value and where
 * that comes from. By itself or under a launcher, where rank 0 speaks.
 */
#include <argp.h>
#include <jansson.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "algorithms.h"
#include "bench_finalize.h"
#include "calibration.h"
#include "collective.h"
#include "info_facts.h"
#include "tool_options.h"

static error_t parse(int key, char *arg, struct argp_state *state)
{
    (void)arg;
    if (key != 'j')
        return ARGP_ERR_UNKNOWN;
    *(bool *)state->input = true;
    return 0;
}

static const struct argp_option keys[] = {{"json", 'j', NULL, 0, "Print all of it as JSON", 0}, {0}};
static const struct argp argp = {
    .options = keys,
    .parser = parse,
    .doc =
        "Version, MPI library, thread level, processors and the background thread's place, whether the "
        "drop-in is in effect, every setting with its value, origin and meaning, PAT_* variables that nobody "
        "knows, which calibration is taken, and what auto and allreduce_auto would do here, by the length of "
        "blocks and vectors.\n\nOptions:\v"
        "Under mpirun it tells what holds there, for rank 0: mpirun -n 4 pat-info. With the drop-in: pat-run "
        "mpirun -n 4 pat-info.\n\n"
        "Exit status: 0; 1 when memory is short; 2 for bad options, and where a setting is malformed or the "
        "thread cannot be placed as PAT_THREAD_PIN says."};

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static long long number_of(const json_t *object, const char *key)
{
    return (long long)json_integer_value(json_object_get(object, key));
}

static void print_wake_up(long long sockets, const json_t *bells)
{
    const long long ranks = number_of(bells, "ranks");
    const bool rung = json_is_true(json_object_get(bells, "rung"));
    printf("wake-up           by %lld TCP connections of rank 0", sockets);
    if (rung)
        printf(", and by bells of the %lld ranks of its node", ranks);
    printf("; for what comes another way the thread looks every 0.1 to 10 ms\n");
    if (ranks > 1 && !rung)
        printf("                  no bells: the kernel lets the %lld ranks of this node hand over nothing "
               "(are there more "
               "than 252, or than a quarter of `ulimit -n`, or in network namespaces of their own?)\n",
               ranks);
}

static void print_copies(const json_t *bells)
{
    const bool rung = json_is_true(json_object_get(bells, "rung")),
               reached = json_is_true(json_object_get(bells, "reached"));
    if (number_of(bells, "ranks") < 2)
        return;
    printf("long messages     inside a node %s\n",
           reached && rung ? "are copied once, from rank to rank, unless PAT_SINGLE_COPY=0"
           : reached       ? "go through the MPI library, since there are no bells"
                     : "go through the MPI library: the system does not let ranks read each other's memory "
                       "(/proc/sys/kernel/yama/ptrace_scope above 0, or a container without that right?)");
}

static void print_nodes(const json_t *nodes)
{
    const long long count = number_of(nodes, "count"), fewest = number_of(nodes, "fewest_ranks"),
                    most = number_of(nodes, "most_ranks");
    printf("nodes             ");
    if (!nodes)
        printf("not known\n");
    else if (fewest == most)
        printf("%lld, with %lld rank%s each", count, most, most > 1 ? "s" : "");
    else
        printf("%lld, with %lld to %lld ranks", count, fewest, most);
    if (nodes)
        printf("%s%s%s\n", most > 1 && count > 1 ? ", numbered " : "",
               most > 1 && count > 1 ? text_of(nodes, "numbered") : "",
               json_is_true(json_object_get(nodes, "by_setting"))
                   ? ", as PAT_RANKS_PER_NODE says, whatever the MPI library says"
                   : "");
}

static void print_machine(const json_t *facts)
{
    const json_t *mpi = json_object_get(facts, "mpi"), *cpus = json_object_get(facts, "processors"),
                 *thread = json_object_get(facts, "background_thread");
    const char *level = text_of(mpi, "thread_level"), *place = text_of(thread, "place");
    print_nodes(json_object_get(facts, "nodes"));
    printf("MPI library       %s\n", text_of(mpi, "library"));
    printf("thread level      %s%s\n", level,
           strcmp(level, "MPI_THREAD_MULTIPLE") == 0 ? "" : ": no data moves early");
    if (json_is_null(json_object_get(mpi, "eager_bytes")))
        printf("eager limit       not known\n");
    else
        printf("eager limit       %lld bytes of data over TCP\n", number_of(mpi, "eager_bytes"));
    if (!json_is_null(json_object_get(mpi, "eager_inside_bytes")))
        printf("                  %lld bytes inside a node%s\n", number_of(mpi, "eager_inside_bytes"),
               number_of(mpi, "eager_inside_bytes") < PAT_SEGMENT_BYTES
                   ? ", where segments of a broadcast wait for their receivers"
                   : "");
    printf("message tags      enough for plans of up to %lld ranks\n", number_of(mpi, "most_ranks_by_tags"));
    print_wake_up(number_of(mpi, "tcp_sockets"), json_object_get(facts, "bells"));
    print_copies(json_object_get(facts, "bells"));
    if (json_is_null(cpus))
        printf("processors        not known\n");
    else
        printf("processors        %lld packages, %lld cores, %lld processing units\n",
               number_of(cpus, "packages"), number_of(cpus, "cores"), number_of(cpus, "processing_units"));
    printf("background thread ");
    if (!place)
        printf("%s\n", text_of(thread, "error"));
    else if (strcmp(place, "bound") == 0)
        printf("bound to processing unit %lld (of rank 0)\n", number_of(thread, "processing_unit"));
    else
        printf("left to the scheduler%s (of rank 0)\n",
               strcmp(place, "off") == 0 ? ", as PAT_THREAD_PIN=off says" : ": no processing unit is free");
}

static void print_calls(const json_t *facts)
{
    size_t i;
    const json_t *c;
    printf("\nwho takes a program's calls\n");
    json_array_foreach(json_object_get(facts, "calls"), i, c)
    {
        const char *dropin = text_of(c, "dropin");
        printf("  %-15s %s%s\n", text_of(c, "call"), text_of(c, "library"),
               strcmp(dropin, "first") == 0 ? " (the drop-in)"
               : strcmp(dropin, "behind") == 0
                   ? " (the drop-in is behind it, and sees only what is passed on by MPI_, not by PMPI_)"
                   : "");
    }
}

/* A text in lines of at most 100 characters, each indented. */
static void print_wrapped(const char *text)
{
    enum { INDENT = 6, WIDTH = 100 };
    int column = 0;
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (column > 0 && column + 1 + length > WIDTH) {
            putchar('\n');
            column = 0;
        }
        column += column > 0 ? printf(" %.*s", length, text) : printf("%*s%.*s", INDENT, "", length, text);
        text += length + (text[length] == ' ');
    }
    putchar('\n');
}

static void print_settings(const json_t *facts)
{
    size_t i;
    const json_t *s;
    char text[800];
    printf("\nsettings\n");
    json_array_foreach(json_object_get(facts, "settings"), i, s)
    {
        printf("  %-17s %-24s %s%s\n", text_of(s, "name"), text_of(s, "value"), text_of(s, "origin"),
               json_is_true(json_object_get(s, "malformed")) ? ", malformed" : "");
        snprintf(text, sizeof(text), "%s Accepted: %s. Default: %s.", text_of(s, "description"),
                 text_of(s, "accepted"), text_of(s, "default"));
        print_wrapped(text);
    }
}

static void print_runner(const char *runs, const pat_algorithm *contender)
{
    if (strcmp(runs, "native") == 0)
        printf("the MPI library runs them\n");
    else if (strcmp(runs, "by arrivals") == 0)
        printf("the MPI library runs them, and %s while ranks come far apart\n", contender->name);
    else if (strcmp(runs, "by measurement") == 0)
        printf("the MPI library runs them, and %s where it is measured to be faster\n", contender->name);
    else
        printf("%s runs them, as long as it is not measured to be slower\n", runs);
}

static void print_ranges(const json_t *ranges, const pat_collective *collective, enum pat_op op)
{
    const json_t *range;
    size_t i;
    printf("  %ss (%s), by bytes per rank\n", collective->title, collective->default_alg);
    json_array_foreach(ranges, i, range)
    {
        char bytes[64];
        if (json_is_null(json_object_get(range, "to_bytes")))
            snprintf(bytes, sizeof(bytes), "from %lld", number_of(range, "from_bytes"));
        else
            snprintf(bytes, sizeof(bytes), "%lld to %lld", number_of(range, "from_bytes"),
                     number_of(range, "to_bytes"));
        printf("    %-24s ", bytes);
        print_runner(text_of(range, "runs"), pat_algorithm_contender(op));
    }
}

static void print_auto(const json_t *facts)
{
    const json_t *told = json_object_get(facts, "auto");
    printf("\nwhat auto and allreduce_auto would do here\n");
    if (text_of(told, "not_known")) {
        printf("  not known: %s\n", text_of(told, "not_known"));
        return;
    }
    printf("  %lld ranks, a link of %.1f us and %.1f Mbit/s (%s)%s\n", number_of(told, "ranks"),
           json_real_value(json_object_get(told, "latency_us")),
           json_real_value(json_object_get(told, "mbit_per_s")),
           json_is_true(json_object_get(told, "measured")) ? "measured" : "as PAT_LINK says",
           json_is_true(json_object_get(told, "by_calibration")) ? ", by the calibration" : "");
    if (json_is_true(json_object_get(told, "alone")))
        printf("  (this rank is alone: as if there were so many, each on a node of its own, with messages by "
               "TCP)\n");
    for (int op = 0; op < PAT_NUM_OPS; op++) {
        const pat_collective *collective = pat_collective_of((enum pat_op)op);
        const json_t *ranges = json_object_get(json_object_get(told, "ranges"), collective->title);
        if (!ranges)
            continue;
        print_ranges(ranges, collective, (enum pat_op)op);
        if (collective->reduces && !json_is_true(json_object_get(told, "reorder")))
            printf("    of floating-point numbers: the MPI library, unless PAT_REORDER=1 allows another "
                   "order\n");
    }
}

static void print_calibration(const json_t *facts)
{
    const json_t *told = json_object_get(facts, "calibration"), *f;
    const char *const given = json_array_size(json_object_get(told, "files")) ? NULL : text_of(told, "file");
    size_t i;
    printf("\ncalibration\n");
    if (text_of(told, "directory"))
        printf("  looked for in %s\n", text_of(told, "directory"));
    if (given)
        printf("  %s: taken\n", given);
    json_array_foreach(json_object_get(told, "files"), i, f)
    {
        const char *why = text_of(f, "why");
        printf("  %s: %s%s\n", text_of(f, "file"), why ? "not taken: " : "taken", why ? why : "");
    }
    if (text_of(told, "note"))
        printf("  %s\n", text_of(told, "note"));
}

static void print_algorithms(const json_t *facts)
{
    const char *call;
    json_t *names;
    printf("\nalgorithms\n");
    json_object_foreach(json_object_get(facts, "algorithms"), call, names)
    {
        size_t i;
        const json_t *name;
        printf("  %-17s", call);
        json_array_foreach(names, i, name) printf("%s %s", i ? "," : "", json_string_value(name));
        putchar('\n');
    }
}

static void print(const json_t *facts)
{
    printf("PAT %s, %lld rank%s\n", text_of(facts, "version"), number_of(facts, "ranks"),
           number_of(facts, "ranks") == 1 ? "" : "s");
    print_machine(facts);
    print_calls(facts);
    print_settings(facts);
    if (json_object_get(facts, "calibration"))
        print_calibration(facts);
    print_auto(facts);
    print_algorithms(facts);
}

/* What is wrong goes to the standard error, beside the JSON too. */
static void complain(const json_t *facts)
{
    size_t i;
    const json_t *s;
    json_array_foreach(json_object_get(facts, "settings"), i, s)
    {
        if (json_is_true(json_object_get(s, "malformed")))
            fprintf(stderr, "pat-info: %s=\"%s\": accepted: %s\n", text_of(s, "name"), text_of(s, "value"),
                    text_of(s, "accepted"));
    }
    json_array_foreach(json_object_get(facts, "unknown_settings"), i, s)
    {
        const char *nearest = text_of(s, "nearest");
        fprintf(stderr, "pat-info: %s is set, but it is no setting%s%s%s\n", text_of(s, "name"),
                nearest ? "; is " : "", nearest ? nearest : "", nearest ? " meant?" : "");
    }
}

int main(int argc, char **argv)
{
    int rank, provided;
    bool good, as_json = false;
    tool_parse("pat-info", &argp, argc, argv, &as_json);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    json_t *facts = info_facts(MPI_COMM_WORLD, &good);
    if (rank == 0 && facts) {
        if (as_json) {
            json_dumpf(facts, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
            putchar('\n');
        } else {
            print(facts);
        }
        complain(facts);
    }
    const int status = !facts ? TOOL_FAILED : good ? 0 : TOOL_BAD_INPUT;
    json_decref(facts);
    bench_finalize(status);
    return status;
}
