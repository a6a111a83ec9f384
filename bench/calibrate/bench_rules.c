/*
 * bench_rules.c — see bench_rules.h. Formats after Open MPI's documentation (tuning collectives, rules file).
 */
#include "bench_rules.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective.h"
#include "file.h"

enum { MAX_SIZES = 24, MOST_LOG = 30 };

/* Ours, and what Open MPI calls the same. */
static const struct {
    const char *ours, *name;
    int id, fan;
    bool cut; /* in segments */
} same[] = {{"bcast_native", "ignore", 0, 0, false},        {"bcast_linear", "basic_linear", 1, 0, false},
            {"bcast_chain", "pipeline", 3, 0, true},        {"bcast_kchain", "chain", 2, 4, true},
            {"bcast_binary", "binary_tree", 5, 0, true},    {"bcast_split", "split_binary_tree", 4, 0, true},
            {"bcast_binomial", "binomial", 6, 0, true},     {"gather_native", "ignore", 0, 0, false},
            {"gather_linear", "basic_linear", 1, 0, false}, {"gather_sync", "linear_sync", 3, 0, false},
            {"gather_binomial", "binomial", 2, 0, false}};

static const struct {
    const char *name; /* the same as ours */
    int id;
} ruled[] = {{"bcast", 7}, {"gather", 9}};
enum { NUM_RULED = sizeof(ruled) / sizeof(ruled[0]) };

/* From so many bytes on, Open MPI's way of counting them, this algorithm. */
typedef struct rule {
    int64_t bytes;
    int which;
} rule;

static int which_of(const pat_algorithm *alg)
{
    int i = (int)(sizeof(same) / sizeof(same[0])) - 1;
    while (i > 0 && strcmp(same[i].ours, alg->name) != 0)
        i--;
    return i;
}

static int segment_of(int which)
{
    if (!strcmp(same[which].ours, "gather_sync"))
        return PAT_FIRST_BYTES;
    return same[which].cut ? PAT_SEGMENT_BYTES : 0;
}

/* The choice in the middle of each octave, equal neighbours made one. Open MPI counts the bytes of the whole result. */
static int rules_of(const pat_calibration *c, enum pat_op op, int ranks, rule *rules)
{
    int num = 0;
    for (int log = 0; log <= MOST_LOG; log++) {
        const int64_t bytes = (INT64_C(3) << log) / 2;
        const pat_algorithm *alg = pat_calibration_best(c, op, ranks, bytes);
        const int which = which_of(alg ? alg : pat_algorithm_native(op));
        const int64_t from =
            log == 0 ? 0 : (INT64_C(1) << log) * pat_collective_blocks(pat_collective_of(op), ranks);
        if (num == 0 || rules[num - 1].which != which)
            rules[num++] = (rule){from, which};
    }
    return num;
}

static int sizes_of(const pat_calibration *c, int *sizes)
{
    int num = 0;
    for (int64_t ranks = 2; num < MAX_SIZES && ranks <= INT64_C(4) * c->ranks; ranks *= 2)
        sizes[num++] = (int)ranks;
    return num;
}

static bool write_classic(const pat_calibration *c, FILE *file)
{
    int sizes[MAX_SIZES];
    const int num_sizes = sizes_of(c, sizes);
    fprintf(file, "%d # collectives\n", NUM_RULED);
    for (int o = 0; o < NUM_RULED; o++) {
        fprintf(file, "%d # %s\n%d # communicator sizes\n", ruled[o].id, ruled[o].name, num_sizes);
        for (int s = 0; s < num_sizes; s++) {
            rule rules[MOST_LOG + 1];
            const int num = rules_of(c, pat_collective_find(ruled[o].name), sizes[s], rules);
            fprintf(file, "%d # ranks\n%d # rules: bytes, algorithm, fan, segment\n", sizes[s], num);
            for (int i = 0; i < num; i++)
                fprintf(file, "%lld %d %d %d # %s\n", (long long)rules[i].bytes, same[rules[i].which].id,
                        same[rules[i].which].fan, segment_of(rules[i].which), same[rules[i].which].name);
        }
    }
    return !ferror(file);
}

static json_t *json_rules(const pat_calibration *c, enum pat_op op, int ranks)
{
    rule rules[MOST_LOG + 1];
    const int num = rules_of(c, op, ranks, rules);
    json_t *list = json_array();
    for (int i = 0; i < num; i++) {
        const int segment = segment_of(rules[i].which);
        json_t *one = json_pack("{sI ss}", "msg_size_min", (json_int_t)rules[i].bytes, "alg",
                                same[rules[i].which].name);
        json_object_set_new(one, "msg_size_max",
                            i + 1 < num ? json_integer(rules[i + 1].bytes - 1) : json_string("inf"));
        if (same[rules[i].which].fan > 0)
            json_object_set_new(one, "faninout", json_integer(same[rules[i].which].fan));
        if (segment > 0)
            json_object_set_new(one, "seg_size", json_integer(segment));
        json_array_append_new(list, one);
    }
    return list;
}

static bool write_json(const pat_calibration *c, FILE *file)
{
    int sizes[MAX_SIZES];
    const int num_sizes = sizes_of(c, sizes);
    json_t *collectives = json_object();
    for (int o = 0; o < NUM_RULED; o++) {
        json_t *list = json_array();
        for (int s = 0; s < num_sizes; s++) {
            json_t *of_size = json_pack("{si so}", "comm_size_min", sizes[s], "rules",
                                        json_rules(c, pat_collective_find(ruled[o].name), sizes[s]));
            json_object_set_new(of_size, "comm_size_max",
                                s + 1 < num_sizes ? json_integer(sizes[s + 1] - 1) : json_string("inf"));
            json_array_append_new(list, of_size);
        }
        json_object_set_new(collectives, ruled[o].name, list);
    }
    json_t *all =
        json_pack("{si ss so}", "rule_file_version", 3, "module", "tuned", "collectives", collectives);
    const bool good = all && json_dumpf(all, file, JSON_INDENT(1)) == 0;
    json_decref(all);
    return good;
}

int bench_rules_write(const pat_calibration *c, const char *path, bool json)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    bool good = memory && (json ? write_json : write_classic)(c, memory);
    if (memory && fclose(memory) != 0)
        good = false;
    const int error = good ? pat_file_write(path, text, length) : ENOMEM;
    free(text);
    return error;
}
