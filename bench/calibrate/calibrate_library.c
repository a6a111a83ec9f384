/*
 * calibrate_library.c — see calibrate_library.h. Timed as points are (calibrate_one.h), at every fourth length: a choice among many needs
 * where one overtakes another, and rules go by powers of two.
 */
#include "calibrate_library.h"

#include <stdio.h>
#include <string.h>

#include "bench_must.h"
#include "bench_wait.h"
#include "calibrate_force.h"

/* Where the length of segments matters: none, the one of the library's own broadcasts, and a long one. */
static const int segments[] = {0, PAT_SEGMENT_BYTES, 65536};
enum { NUM_SEGMENTS = sizeof(segments) / sizeof(segments[0]) };

bool calibrate_library_open(int rank)
{
    char why[200] = "it can be, but not on all ranks; accepted: the same environment everywhere";
    int mine = force_open(why, sizeof(why)), all;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (!all && rank == 0)
        fprintf(stderr, "pat-calibrate: --library: %s\n", why);
    if (!all && mine)
        force_close();
    return all;
}

void calibrate_library_close(void)
{
    force_close();
}

/* All lengths of one algorithm, with one length of segments. Collective over comm. */
static void time_one(calibrate_session *r, MPI_Comm comm, const bench_variant *v, double closing_s,
                     const int64_t *sizes, int num)
{
    const pat_collective *what = pat_collective_of(v->op);
    const pat_algorithm *native = pat_algorithm_native(v->op);
    force_algorithm forced = {.id = v->id, .fan = v->fan, .segment_bytes = v->segment_bytes};
    MPI_Comm dup;
    bench_must(force_dup(comm, what->name, &forced, &dup), v->name);
    for (int i = 0; i < num; i += 2) {
        const bool closed = calibrate_needs_closing(native);
        const calibrate_job job = {native, sizes[i], closed ? 0 : -1, &r->clock};
        if (v->segment_bytes >= sizes[i])
            continue; /* the same as in one piece */
        const calibrate_result t = calibrate_time(dup, &job, &r->options->patience, r->buffer);
        bench_library_time one = {.variant = *v, .bytes = sizes[i], .us = 1e6 * t.median_s};
        MPI_Comm_size(dup, &one.ranks);
        one.known = calibrate_known(&t, closed ? closing_s / t.median_s : -1);
        bench_library_add(&r->measured->library, &one);
    }
    MPI_Comm_free(&dup);
}

/* Collective over comm. */
static void time_all(calibrate_session *r, MPI_Comm comm, enum pat_op op, const force_algorithm *algs,
                     int num)
{
    const char *const name = pat_collective_of(op)->name;
    const calibrate_job nothing = {NULL, 0, 0, &r->clock};
    int64_t sizes[CALIBRATE_MOST_SIZES];
    const int num_sizes = calibrate_point_sizes(r, pat_algorithm_native(op), sizes);
    const double closing_s = calibrate_time(comm, &nothing, &r->options->patience, r->buffer).median_s;
    for (int a = 0; a < num; a++)
        for (int k = 0; k < (force_is_cut(name, &algs[a]) ? NUM_SEGMENTS : 1); k++) {
            bench_variant v = {.op = op, .id = algs[a].id, .fan = algs[a].fan, .segment_bytes = segments[k]};
            memcpy(v.name, algs[a].name, sizeof(v.name));
            time_one(r, comm, &v, closing_s, sizes, num_sizes);
        }
}

static void print_fastest(const calibrate_session *r, enum pat_op op, int ranks)
{
    const bench_library *l = &r->measured->library;
    const bench_variant own = {.op = op, .name = "ignore"};
    int64_t sizes[CALIBRATE_MOST_SIZES];
    const int num = calibrate_point_sizes(r, pat_algorithm_native(op), sizes);
    printf("# the MPI library's own, %s with %d ranks\n%10s  %-20s %8s %10s %12s\n",
           pat_collective_of(op)->title, ranks, "bytes", "fastest", "segment", "[us]", "its own [us]");
    for (int i = 0; i < num; i += 2) {
        const bench_variant best = bench_library_best(l, op, ranks, sizes[i]);
        printf("%10lld  %-20s %8d %10.1f %12.1f\n", (long long)sizes[i], best.name, best.segment_bytes,
               bench_library_us(l, &best, ranks, sizes[i]), bench_library_us(l, &own, ranks, sizes[i]));
    }
    fflush(stdout);
}

bool calibrate_library(calibrate_session *r, enum pat_op op, int ranks)
{
    force_algorithm algs[FORCE_MOST];
    const int num = force_list(pat_collective_of(op)->name, algs);
    int there = bench_library_has(&r->measured->library, op, ranks);
    MPI_Comm comm;
    MPI_Bcast(&there, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (there || num == 0)
        return false;
    calibrate_begin(r);
    MPI_Comm_split(MPI_COMM_WORLD, r->rank < ranks ? 0 : MPI_UNDEFINED, r->rank, &comm);
    if (comm != MPI_COMM_NULL) {
        time_all(r, comm, op, algs, num);
        MPI_Comm_free(&comm);
    }
    bench_wait_quietly(MPI_COMM_WORLD); /* those that had no part */
    if (r->rank == 0)
        print_fastest(r, op, ranks);
    return true;
}
