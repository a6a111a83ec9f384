/*
 * calibrate_place.c — see calibrate_place.h.
 */
#include "calibrate_place.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_must.h"
#include "file.h"
#include "link.h"
#include "machine.h"
#include "nodes.h"
#include "pat.h"
#include "runtime.h"

/* On rank 0. */
static bool is_good(const calibrate_options *o)
{
    char store[PAT_STORE_PATH], file[PAT_STORE_PATH + 16], why[PAT_STORE_PATH + 256] = "";
    if (o->out) {
        const int error = pat_file_check(o->out);
        if (error)
            fprintf(stderr, "pat-calibrate: --out '%s': cannot be written: %s\n", o->out, strerror(error));
        return !error;
    }
    if (!pat_store_find(pat_config_env, store, sizeof(store))) {
        fprintf(stderr, "pat-calibrate: neither XDG_CACHE_HOME nor HOME is an absolute path to keep a "
                        "calibration under; accepted: --out FILE\n");
        return false;
    }
    int error = pat_store_make(store, why, sizeof(why));
    if (!error) {
        snprintf(file, sizeof(file), "%s/new", store);
        error = pat_file_check(file);
        snprintf(why, sizeof(why), "%s", strerror(error));
    }
    if (error)
        fprintf(stderr, "pat-calibrate: no calibration can be kept in %s: %s; accepted: --out FILE\n", store,
                why);
    return !error;
}

bool calibrate_place_is_good(const calibrate_options *o, int rank)
{
    int good = rank > 0 || is_good(o);
    MPI_Bcast(&good, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return good;
}

bool calibrate_place_find(const calibrate_options *o, const pat_calibration *found, calibrate_place *place)
{
    static const char part[] = PAT_STORE_PART;
    char store[PAT_STORE_PATH], *const kept = place->room[0], *const out = place->room[1];
    pat_stored *whole, *parts;
    *place = (calibrate_place){.out = o->out};
    if (o->out)
        return true;
    if (!pat_store_find(pat_config_env, store, sizeof(store)))
        return false;
    const int num_whole = pat_store_read(store, &found->machine, NULL, &whole);
    const int num_parts = pat_store_read_parts(store, &found->machine, &parts);
    const pat_stored *old = pat_store_same(whole, num_whole, found),
                     *begun = pat_store_same(parts, num_parts, found);
    bool fits = true;
    if (begun)
        snprintf(kept, PAT_STORE_PATH, "%.*s", (int)(strlen(begun->path) - strlen(part)), begun->path);
    else if (old)
        snprintf(kept, PAT_STORE_PATH, "%s", old->path);
    else
        fits = pat_store_name(store, found, kept, PAT_STORE_PATH);
    free(whole);
    free(parts);
    place->kept = kept;
    place->out = out;
    return fits && strlen(kept) + sizeof(part) <= PAT_STORE_PATH && strcat(strcpy(out, kept), part);
}

int calibrate_place_before(const calibrate_place *place, pat_calibration *c, const char **from, char *why,
                           size_t why_size)
{
    *from = place->out;
    if (!place->kept)
        return pat_calibration_read(c, place->out, why, why_size);
    const int error = pat_store_read_file(c, place->out, NULL, why, why_size);
    if (error != ENOENT)
        return error;
    *from = place->kept;
    return pat_store_read_file(c, place->kept, NULL, why, why_size);
}

int calibrate_place_save(const calibrate_place *place, const pat_calibration *c, const bench_measured *m)
{
    return bench_measured_write(c, m, place->out, place->kept != NULL);
}

int calibrate_place_end(const calibrate_place *place)
{
    return place->kept && rename(place->out, place->kept) != 0 && errno != ENOENT ? errno : 0;
}

/* As pat_store_listener wants it. */
static void say_why_not(void *to, const char *path, const char *why)
{
    (void)to;
    fprintf(stderr, "pat-calibrate: %s: not taken: %s\n", path, why);
}

static pat_calibration *read_stored(int rank)
{
    const pat_store_listener listener = {say_why_not, NULL};
    pat_stored *all, *taken;
    pat_link link;
    pat_calibration *c = NULL;
    pat_store_wish wish;
    int num, mates;
    bench_must(pat_nodes_find_placing(MPI_COMM_WORLD, &mates, &wish.placing), "the nodes");
    bench_must(pat_link_find(&link, &pat_rt.config, MPI_COMM_WORLD, NULL), "the link");
    bench_must(pat_machine_stored(MPI_COMM_WORLD, rank == 0 ? &listener : NULL, &all, &num), "the store");
    wish.link_mbit = pat_link_mbit(&link);
    bench_must(pat_machine_take(MPI_COMM_WORLD, all, num, &wish, rank == 0 ? &listener : NULL, &taken),
               "the store");
    if (taken) {
        c = malloc(sizeof(*c));
        bench_must(c ? MPI_SUCCESS : MPI_ERR_NO_MEM, "memory");
        *c = taken->calibration;
        if (rank == 0)
            printf("# checking %s\n", taken->path);
    } else if (rank == 0) {
        fprintf(stderr,
                "pat-calibrate: no calibration of this machine and network is kept; accepted: --out FILE, "
                "or a start without --check before\n");
    }
    free(all);
    return c;
}

pat_calibration *calibrate_place_read(const calibrate_options *o, int rank)
{
    pat_calibration *c;
    pat_config config = pat_rt.config;
    if (!o->out)
        return read_stored(rank);
    snprintf(config.calibration, sizeof(config.calibration), "%s", o->out);
    int rc = pat_machine_calibration(MPI_COMM_WORLD, &config, &c);
    if (rc != MPI_SUCCESS && rank == 0)
        fprintf(stderr, "pat-calibrate: %s\n", PAT_Error_string(rc));
    return c;
}
