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

/* The collectives that are measured, and Open MPI's numbers of them. */
static const struct {
    const char *name;
    int id;
} ruled[] = {{"allgather", 0}, {"bcast", 7}, {"gather", 9}};
enum { NUM_RULED = sizeof(ruled) / sizeof(ruled[0]) };

/* From so many bytes on, Open MPI's way of counting them, this algorithm. */
typedef struct rule {
    int64_t bytes;
    bench_variant variant;
} rule;

/* The choice in the middle of each octave, equal neighbours made one. Open MPI counts the bytes of the whole result. */
static int rules_of(const bench_library *l, enum pat_op op, int ranks, rule *rules)
{
    int num = 0;
    for (int log = 0; log <= MOST_LOG; log++) {
        const bench_variant best = bench_library_best(l, op, ranks, (INT64_C(3) << log) / 2);
        const int64_t from =
            log == 0 ? 0 : (INT64_C(1) << log) * pat_collective_blocks(pat_collective_of(op), ranks);
        if (num == 0 || !bench_variant_same(&rules[num - 1].variant, &best))
            rules[num++] = (rule){from, best};
    }
    return num;
}

static int sizes_of(const bench_library *l, int *sizes)
{
    int num = 0;
    for (int64_t ranks = 2; num < MAX_SIZES && ranks <= INT64_C(4) * bench_library_ranks(l); ranks *= 2)
        sizes[num++] = (int)ranks;
    return num;
}

static bool write_classic(const bench_library *l, FILE *file)
{
    int sizes[MAX_SIZES];
    const int num_sizes = sizes_of(l, sizes);
    fprintf(file, "%d # collectives\n", NUM_RULED);
    for (int o = 0; o < NUM_RULED; o++) {
        fprintf(file, "%d # %s\n%d # communicator sizes\n", ruled[o].id, ruled[o].name, num_sizes);
        for (int s = 0; s < num_sizes; s++) {
            rule rules[MOST_LOG + 1];
            const int num = rules_of(l, pat_collective_find(ruled[o].name), sizes[s], rules);
            fprintf(file, "%d # ranks\n%d # rules: bytes, algorithm, fan, segment\n", sizes[s], num);
            for (int i = 0; i < num; i++)
                fprintf(file, "%lld %d %d %d # %s\n", (long long)rules[i].bytes, rules[i].variant.id,
                        rules[i].variant.fan, rules[i].variant.segment_bytes, rules[i].variant.name);
        }
    }
    return !ferror(file);
}

static json_t *json_rules(const bench_library *l, enum pat_op op, int ranks)
{
    rule rules[MOST_LOG + 1];
    const int num = rules_of(l, op, ranks, rules);
    json_t *list = json_array();
    for (int i = 0; i < num; i++) {
        const bench_variant *v = &rules[i].variant;
        json_t *one = json_pack("{sI ss}", "msg_size_min", (json_int_t)rules[i].bytes, "alg", v->name);
        json_object_set_new(one, "msg_size_max",
                            i + 1 < num ? json_integer(rules[i + 1].bytes - 1) : json_string("inf"));
        if (v->fan > 0)
            json_object_set_new(one, "faninout", json_integer(v->fan));
        if (v->segment_bytes > 0)
            json_object_set_new(one, "seg_size", json_integer(v->segment_bytes));
        json_array_append_new(list, one);
    }
    return list;
}

static bool write_json(const bench_library *l, FILE *file)
{
    int sizes[MAX_SIZES];
    const int num_sizes = sizes_of(l, sizes);
    json_t *collectives = json_object();
    for (int o = 0; o < NUM_RULED; o++) {
        json_t *list = json_array();
        for (int s = 0; s < num_sizes; s++) {
            json_t *of_size = json_pack("{si so}", "comm_size_min", sizes[s], "rules",
                                        json_rules(l, pat_collective_find(ruled[o].name), sizes[s]));
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

int bench_rules_write(const bench_library *l, const char *path, bool json)
{
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    bool good = memory && (json ? write_json : write_classic)(l, memory);
    if (memory && fclose(memory) != 0)
        good = false;
    const int error = good ? pat_file_write(path, text, length) : ENOMEM;
    free(text);
    return error;
}
