/*
 * machine.c — see machine.h.
 */
#include "machine.h"

#include <hwloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "error.h"
#include "link.h"
#include "nodes.h"
#include "runtime.h"

/* hwloc attaches the model to the package, or to the machine where it does not know of packages. */
static void find_cpu(pat_machine *machine)
{
    hwloc_topology_t topology;
    const char *model = NULL;
    if (hwloc_topology_init(&topology) != 0)
        return;
    if (hwloc_topology_load(topology) == 0) {
        hwloc_obj_t package = hwloc_get_obj_by_type(topology, HWLOC_OBJ_PACKAGE, 0);
        if (package)
            model = hwloc_obj_get_info_by_name(package, "CPUModel");
        if (!model)
            model = hwloc_obj_get_info_by_name(hwloc_get_root_obj(topology), "CPUModel");
        machine->pus = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU);
    }
    snprintf(machine->cpu, sizeof(machine->cpu), "%s", model ? model : "unknown");
    hwloc_topology_destroy(topology);
}

static void find_mpi(pat_machine *machine)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length;
    PMPI_Get_library_version(text, &length);
    text[strcspn(text, "\n")] = '\0';
    snprintf(machine->mpi, sizeof(machine->mpi), "%.*s", (int)sizeof(machine->mpi) - 1, text);
}

static const char not_same[] = "the ranks come to different figures by the same formulas";

static int same_everywhere(MPI_Comm comm, uint32_t value, bool *same)
{
    int64_t mine[2] = {value, -(int64_t)value}, most[2] = {0, 0};
    int rc = PMPI_Allreduce(mine, most, 2, MPI_INT64_T, MPI_MAX, comm);
    *same = most[0] == -most[1];
    return rc;
}

int pat_machine_find(MPI_Comm comm, pat_machine *machine, pat_placing *placing, bool *alike)
{
    *machine = (pat_machine){.pus = 1};
    int rc = pat_nodes_find_placing(comm, &machine->ranks_per_node, placing);
    if (rc != MPI_SUCCESS)
        return rc;
    find_cpu(machine);
    find_mpi(machine);
    return same_everywhere(comm, pat_machine_digest(machine), alike);
}

/* On one rank: the file, if it is one of this machine. Else `why` says what is wrong. */
static bool read_file(pat_calibration *c, const char *path, const pat_machine *machine,
                      const pat_placing *placing, bool alike, char *why, size_t why_size)
{
    if (!alike) {
        snprintf(why, why_size, "%s: the nodes of this job are not alike, so no calibration is of them",
                 path);
        return false;
    }
    if (pat_calibration_read(c, path, why, why_size) != 0)
        return false;
    char differs[400] = "";
    const bool good = pat_calibration_is_of(c, machine, differs, sizeof(differs)) &&
                      pat_calibration_is_placed(c, placing, differs, sizeof(differs));
    snprintf(why, why_size, "%s: %s", path, differs);
    return good;
}

/* All ranks find the same, since they measure together. */
static int check_link(MPI_Comm comm, const pat_calibration *c, const pat_config *config)
{
    pat_link link;
    char differs[200];
    int size;
    PMPI_Comm_size(comm, &size);
    if (size == 1)
        return MPI_SUCCESS;
    int rc = pat_link_find(&link, config, comm, NULL);
    if (rc != MPI_SUCCESS)
        return rc;
    if (pat_calibration_is_of_link(c, pat_link_mbit(&link), differs, sizeof(differs)))
        return MPI_SUCCESS;
    return pat_error(MPI_ERR_ARG, "PAT_CALIBRATION: %s: %s", config->calibration, differs);
}

int pat_machine_calibration(MPI_Comm comm, const pat_config *config, pat_calibration **out)
{
    const char *const path = config->calibration;
    pat_calibration *c = calloc(1, sizeof(*c));
    pat_machine machine;
    pat_placing placing;
    char why[1024] = "no memory";
    bool alike = false;
    int rank, good = c != NULL, all = 0;
    PMPI_Comm_rank(comm, &rank);
    int rc = PMPI_Allreduce(&good, &all, 1, MPI_INT, MPI_MIN, comm);
    if (rc == MPI_SUCCESS && all)
        rc = pat_machine_find(comm, &machine, &placing, &alike);
    if (rc == MPI_SUCCESS && all && rank == 0)
        all = read_file(c, path, &machine, &placing, alike, why, sizeof(why));
    if (rc == MPI_SUCCESS)
        rc = PMPI_Bcast(&all, 1, MPI_INT, 0, comm);
    if (rc == MPI_SUCCESS && all)
        rc = PMPI_Bcast(c, (int)sizeof(*c), MPI_BYTE, 0, comm);
    if (rc == MPI_SUCCESS && all)
        rc = same_everywhere(comm, pat_calibration_digest(c), &alike);
    if (rc == MPI_SUCCESS && all && !alike)
        rc = pat_error(MPI_ERR_ARG, "PAT_CALIBRATION: %s: %s", path, not_same);
    if (rc == MPI_SUCCESS && !all)
        rc = pat_error(MPI_ERR_ARG, "PAT_CALIBRATION: %s",
                       rank == 0 ? why : "rank 0 cannot use the file; its error says why");
    if (rc == MPI_SUCCESS)
        rc = check_link(comm, c, config);
    *out = rc == MPI_SUCCESS ? c : NULL;
    if (rc != MPI_SUCCESS)
        free(c);
    return rc;
}

/* On rank 0: what the store holds for all ranks. */
static int read_store(const pat_machine *machine, bool alike, const pat_store_listener *listener,
                      pat_stored **all)
{
    char path[PAT_STORE_PATH];
    if (!pat_store_find(pat_config_env, path, sizeof(path)))
        return 0;
    if (alike)
        return pat_store_read(path, machine, listener, all);
    if (listener)
        listener->tell(listener->to, path,
                       "the nodes of this job are not alike, so no calibration is of them");
    return 0;
}

/* All ranks get what rank 0 has read, or, where one of them has no memory, none. */
static int spread(MPI_Comm comm, int rank, pat_stored **all, int *num)
{
    int rc = PMPI_Bcast(num, 1, MPI_INT, 0, comm);
    if (rc != MPI_SUCCESS || *num == 0)
        return rc;
    if (rank > 0)
        *all = calloc((size_t)*num, sizeof(**all));
    int mine = *all != NULL, everywhere = 0;
    rc = PMPI_Allreduce(&mine, &everywhere, 1, MPI_INT, MPI_MIN, comm);
    if (rc == MPI_SUCCESS && everywhere)
        rc = PMPI_Bcast(*all, *num * (int)sizeof(**all), MPI_BYTE, 0, comm);
    if (!everywhere)
        *num = 0;
    return rc;
}

int pat_machine_stored(MPI_Comm comm, const pat_store_listener *listener, pat_stored **all, int *num)
{
    pat_machine machine;
    pat_placing world;
    bool alike;
    int rank;
    *all = NULL;
    *num = 0;
    PMPI_Comm_rank(comm, &rank);
    int rc = pat_machine_find(comm, &machine, &world, &alike);
    if (rc == MPI_SUCCESS && rank == 0)
        *num = read_store(&machine, alike, listener, all);
    if (rc == MPI_SUCCESS)
        rc = spread(comm, rank, all, num);
    if (rc != MPI_SUCCESS)
        *num = 0;
    if (*num == 0) {
        free(*all);
        *all = NULL;
    }
    return rc;
}

/* What this rank's formulas make of it. Computed once for all communicators that take it; while it is, the lock is free. */
static uint32_t digest_of(pat_stored *stored)
{
    pthread_mutex_lock(&pat_rt.lock);
    const bool known = stored->digested;
    uint32_t digest = stored->digest;
    pthread_mutex_unlock(&pat_rt.lock);
    if (known)
        return digest;
    digest = pat_calibration_digest(&stored->calibration);
    pthread_mutex_lock(&pat_rt.lock);
    stored->digest = digest;
    stored->digested = true;
    pthread_mutex_unlock(&pat_rt.lock);
    return digest;
}

int pat_machine_take(MPI_Comm comm, pat_stored *all, int num, const pat_store_wish *wish,
                     const pat_store_listener *listener, pat_stored **taken)
{
    char why[200];
    bool same = true;
    pat_stored *nearest = pat_store_nearest(all, num, wish);
    int rc = nearest ? same_everywhere(comm, digest_of(nearest), &same) : MPI_SUCCESS;
    *taken = rc == MPI_SUCCESS && same ? nearest : NULL;
    for (int i = 0; listener && rc == MPI_SUCCESS && i < num; i++) {
        if (&all[i] == *taken)
            continue;
        pat_store_why_not(&all[i], nearest, wish, why, sizeof(why));
        listener->tell(listener->to, all[i].path, &all[i] == nearest ? not_same : why);
    }
    return rc;
}
