/*
 * pat_calibrate.c — finds out what messages cost every algorithm on this machine, and writes it to a file that the library
 * chooses by. Main program: what is measured in which order, and the file, which it goes on with.
 */
#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_clock.h"
#include "bench_finalize.h"
#include "bench_must.h"
#include "bench_rules.h"
#include "calibrate_check.h"
#include "calibrate_force.h"
#include "calibrate_library.h"
#include "calibrate_place.h"
#include "machine.h"
#include "pat.h"
#include "runtime.h"
#include "tool_options.h"

enum { MOST_GAMMAS = 7, LEAST_WITH_FEWER = 4 };

static void must_write(const calibrate_session *r, int error)
{
    if (!error)
        return;
    fprintf(stderr, "pat-calibrate: %s: %s\n", r->place.out, strerror(error));
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void save(const calibrate_session *r)
{
    if (r->rank == 0)
        must_write(r, calibrate_place_save(&r->place, &r->found, r->measured));
}

static bool has_points(const pat_calibration *c, int alg, int ranks)
{
    for (int i = 0; i < c->num_points; i++)
        if (c->points[i].alg == alg && c->points[i].ranks == ranks)
            return true;
    return false;
}

/*
 * Rank 0: what an earlier start has found, if it was of the same. A file that is something else is somebody's: false, and it
 * stays as it is.
 */
static bool go_on(calibrate_session *r)
{
    pat_calibration before = {.ranks = 0};
    const char *from;
    char why[512];
    if (r->options->again)
        return true;
    const int error = calibrate_place_before(&r->place, &before, &from, why, sizeof(why));
    if (error == ENOENT)
        return true;
    const pat_placing here = pat_calibration_placing(&r->found);
    bool same = !error && bench_measured_read(r->measured, from, why, sizeof(why)) == 0 &&
                pat_calibration_is_of(&before, &r->found.machine, why, sizeof(why)) &&
                pat_calibration_is_placed(&before, &here, why, sizeof(why)) &&
                pat_calibration_is_of_link(&before, r->found.link_mbit, why, sizeof(why));
    if (same && before.ranks != r->size) {
        same = false;
        snprintf(why, sizeof(why), "it was measured with %d ranks, these are %d", before.ranks, r->size);
    }
    if (same) {
        before.numbering = r->found.numbering; /* older files do not have it */
        r->found = before;
        printf("# going on with %s\n", from);
    } else {
        fprintf(stderr, "pat-calibrate: %s cannot be gone on with: %s; accepted: --again, or another --out\n",
                from, why);
    }
    return same;
}

/* Gammas as they were measured: each is kept within the number of receivers, and no less than the one before it. */
static void say_measured(const calibrate_session *r, const double *once, const double *again)
{
    if (r->rank != 0)
        return;
    printf("# gamma as measured, twice:");
    for (int i = 0; i < r->found.num_gammas; i++)
        printf(" %.3f/%.3f", once[i], again[i]);
    printf("\n");
}

/* False: everything was there already. */
static bool measure(calibrate_session *r)
{
    bool any = false;
    if (r->found.num_gammas == 0) {
        double twice[2][MOST_GAMMAS];
        r->found.num_gammas = r->size - 1 < MOST_GAMMAS ? r->size - 1 : MOST_GAMMAS;
        for (int i = 0; i < 2; i++)
            calibrate_gammas(MPI_COMM_WORLD, PAT_SEGMENT_BYTES, &r->options->patience, twice[i],
                             r->found.num_gammas);
        bench_measured_gammas(r->measured, twice[0], twice[1], r->found.gammas, r->found.num_gammas);
        r->found.ratio = calibrate_ratio(MPI_COMM_WORLD, PAT_SEGMENT_BYTES, &r->options->patience);
        say_measured(r, twice[0], twice[1]);
    }
    if (r->rank == 0) {
        printf("# gamma");
        for (int i = 0; i < r->found.num_gammas; i++)
            printf(" %.3f", r->found.gammas[i]);
        if (r->measured->num_apart > 0)
            printf("; measured twice, at most %.1f %% apart", 100 * bench_measured_gammas_apart(r->measured));
        if (r->found.ratio > 0)
            printf("\n# a segment takes %.2f times as long over the network as inside a node",
                   r->found.ratio);
        printf("\n%-16s %10s %10s %5s %10s %11s %s %15s\n", "algorithm", "alpha [us]", "beta [ns]", "rank",
               "condition", "residual", "not precise", "closing gather");
        bench_progress_start(&r->progress, r->options->progress, calibrate_expected_ms(r),
                             (int64_t)(MPI_Wtime() * 1e9));
    }
    for (int a = 0; a < pat_algorithm_count(); a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        if (!calibrate_is_fitted(r, alg))
            continue;
        bool all_there = r->found.fits[a].known;
        if (!all_there)
            calibrate_fit(r, alg);
        for (int ranks = r->size; ranks > 0; ranks = calibrate_half(r, ranks, LEAST_WITH_FEWER))
            if (!has_points(&r->found, a, ranks)) {
                calibrate_points(r, alg, ranks);
                pat_calibration_sort(&r->found);
                all_there = false;
            }
        if (!all_there)
            save(r);
        any = any || !all_there;
    }
    for (int a = 0; a < pat_algorithm_count(); a++)
        for (int ranks = r->size; ranks > 0; ranks = calibrate_half(r, ranks, 2))
            if (calibrate_is_timed(r, pat_algorithm_at(a)) && !has_points(&r->found, a, ranks)) {
                calibrate_points(r, pat_algorithm_at(a), ranks);
                pat_calibration_sort(&r->found);
                save(r);
                any = true;
            }
    if (r->rank == 0)
        bench_progress_end(&r->progress, (int64_t)(MPI_Wtime() * 1e9));
    return any;
}

/* The MPI library's own algorithms. False: they were there already. */
static bool measure_library(calibrate_session *r)
{
    bool any = false;
    for (int op = 0; op < PAT_NUM_OPS; op++)
        for (int ranks = r->size; ranks > 1 && pat_collective_of((enum pat_op)op)->yardstick; ranks /= 2)
            if (calibrate_options_want(r->options, (enum pat_op)op) &&
                calibrate_library(r, (enum pat_op)op, ranks)) {
                save(r);
                any = true;
            }
    return any;
}

/* Whether the confidence intervals are what they are taken for: they want independent, normally distributed repetitions. */
static void print_quality(const bench_measured *m)
{
    const bench_quality q = bench_measured_quality_of_all(m);
    printf("# %d experiments: %d not precise; in %d a repetition goes by the one before it, and %d are not "
           "normally distributed, where by chance up to 5 in 100 seem so\n",
           q.num, q.unsure, q.dependent, q.not_normal);
}

/* On rank 0, when everything has been measured. */
static void end(const calibrate_session *r, bool measured)
{
    const char *const path = r->place.kept ? r->place.kept : r->place.out;
    char why[200];
    must_write(r, calibrate_place_end(&r->place));
    if (measured)
        print_quality(r->measured);
    if (measured)
        printf("# written to %s\n", path);
    else
        printf("# nothing was measured: %s has everything already, and stays as it is, also what --quick has "
               "measured; --again measures anew\n",
               path);
    if (r->place.kept && !pat_calibration_is_whole(&r->found, why, sizeof(why)))
        printf("# the library will not take it: %s\n", why);
}

/* A calibration's choices held against runs that it has not seen. */
static int check(const calibrate_options *o, int rank)
{
    bench_must(PAT_Init(), "PAT_Init");
    pat_calibration *c = calibrate_place_read(o, rank);
    const bool found = c != NULL;
    if (found)
        calibrate_check(c, o);
    free(c);
    bench_must(PAT_Finalize(), "PAT_Finalize");
    return found ? 0 : TOOL_BAD_INPUT;
}

/* Nodes have the numbers of their lowest ranks: so many are lower than this one's. */
static int own_node(int rank)
{
    int count = 0;
    for (int r = 0; r < pat_rt.node_of[rank]; r++)
        count += pat_rt.node_of[r] == r;
    return count;
}

static int calibrate(const calibrate_options *o, int rank, int size)
{
    calibrate_session r = {.options = o, .rank = rank, .size = size};
    int same_machine;
    pat_placing placing;
    bool alike;
    if (!calibrate_place_is_good(o, rank))
        return TOOL_BAD_INPUT;
    bench_must(PAT_Init(), "PAT_Init");
    bench_must(pat_machine_find(MPI_COMM_WORLD, &r.found.machine, &placing, &alike), "the machine");
    r.found.numbering = placing.numbering;
    if (!alike) {
        if (rank == 0)
            fprintf(stderr,
                    "pat-calibrate: the nodes are not alike (processor, MPI library, ranks per node): one "
                    "calibration cannot be of all of them\n");
        PAT_Finalize();
        return TOOL_BAD_INPUT;
    }
    r.found.ranks = size;
    r.node = own_node(rank);
    r.measured = bench_must_alloc(1, sizeof(*r.measured));
    bench_must(pat_link_find(&r.link, &pat_rt.config, MPI_COMM_WORLD, NULL), "the link");
    bench_must(bench_clock_sync(&r.clock, MPI_COMM_WORLD, 20, &same_machine), "the clock");
    r.found.link_us = (double)r.link.alpha_ns / 1e3;
    r.found.link_mbit = pat_link_mbit(&r.link);
    int good = rank > 0 || calibrate_place_find(o, &r.found, &r.place);
    if (!good)
        fprintf(stderr, "pat-calibrate: the path of the file would be too long; accepted: --out FILE\n");
    good = good && (rank > 0 || go_on(&r));
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (!good) {
        PAT_Finalize();
        return TOOL_BAD_INPUT;
    }
    MPI_Bcast(&r.found, (int)sizeof(r.found), MPI_BYTE, 0, MPI_COMM_WORLD);
    r.buffer = calloc(1, calibrate_most_bytes(&r));
    bench_must(r.buffer ? MPI_SUCCESS : MPI_ERR_NO_MEM, "memory");
    if (rank == 0)
        printf(
            "# PAT calibration, %d ranks, %d on a node, numbered %s, link %.1f us, %.1f Mbit/s\n# %s\n# %s\n",
            size, r.found.machine.ranks_per_node, pat_numbering_text(r.found.numbering), r.found.link_us,
            r.found.link_mbit, r.found.machine.cpu, r.found.machine.mpi);
    bool measured = measure(&r);
    if (o->library && measure_library(&r))
        measured = true;
    if (rank == 0)
        end(&r, measured);
    free(r.buffer);
    free(r.measured);
    bench_must(PAT_Finalize(), "PAT_Finalize");
    return 0;
}

/* Needs no ranks. */
static int write_rules(const calibrate_options *o)
{
    const struct {
        const char *path;
        bool json;
    } files[] = {{o->rules, false}, {o->rules_json, true}};
    pat_calibration c;
    bench_measured *m = calloc(1, sizeof(*m));
    char why[512] = "no memory";
    int status = 0;
    if (!m || pat_calibration_read(&c, o->out, why, sizeof(why)) != 0 ||
        bench_measured_read(m, o->out, why, sizeof(why)) != 0) {
        fprintf(stderr, "pat-calibrate: %s\n", why);
        status = TOOL_BAD_INPUT;
    } else if (m->library.num == 0) {
        fprintf(
            stderr,
            "pat-calibrate: %s: the MPI library's own algorithms were not measured; accepted: a file that "
            "pat-calibrate --library has gone on with\n",
            o->out);
        status = TOOL_BAD_INPUT;
    }
    for (int i = 0; i < 2 && status == 0; i++) {
        const int error = files[i].path ? bench_rules_write(&m->library, files[i].path, files[i].json) : 0;
        if (error) {
            fprintf(stderr, "pat-calibrate: %s: %s\n", files[i].path, strerror(error));
            status = TOOL_FAILED;
        }
    }
    free(m);
    return status;
}

int main(int argc, char **argv)
{
    calibrate_options o = {.out = NULL};
    int rank, size, level, status;
    tool_parse("pat-calibrate", &calibrate_argp, argc, argv,
               &o); /* before MPI_Init: a wrong option ends every rank alike */
    if (o.rules || o.rules_json)
        return write_rules(&o);
    if (o.library)
        force_prepare();
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (size < 2) {
        fprintf(stderr,
                "pat-calibrate: 1 rank; accepted: 2 or more, for example mpirun -n 4 pat-calibrate\n");
        status = TOOL_BAD_INPUT;
    } else if (o.library && !calibrate_library_open(rank)) {
        status = TOOL_BAD_INPUT;
    } else {
        status = o.check ? check(&o, rank) : calibrate(&o, rank, size);
        if (o.library)
            calibrate_library_close();
    }
    bench_finalize(status);
    return status;
}
