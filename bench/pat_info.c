/*
 * pat_info.c — pat-info: what the library is, what it finds here, and how it is set: every setting with its value and where
 * that comes from. By itself or under a launcher, where rank 0 speaks.
 */
#include <argp.h>
#include <dlfcn.h>
#include <hwloc.h>
#include <limits.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "algorithms.h"
#include "config.h"
#include "link.h"
#include "pat.h"
#include "place.h"
#include "tool_options.h"

static const struct argp_option keys[] = {{0}};
static const struct argp argp = {
    keys,
    NULL,
    NULL,
    "Version, MPI library, thread level, processors and the background thread's place, whether the "
    "drop-in is in effect, and every setting with its value and origin.\v"
    "Under mpirun it tells what holds there: mpirun -n 4 pat-info. With the drop-in: pat-run "
    "mpirun -n 4 pat-info.",
    NULL,
    NULL,
    NULL};

static const char *const levels[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED",
                                     "MPI_THREAD_MULTIPLE"};

/* Whose MPI_<call> does a program get? */
static void print_dropin(const char *call)
{
    Dl_info info;
    void *first = dlsym(RTLD_DEFAULT, call);
    const char *file = first && dladdr(first, &info) && info.dli_fname ? info.dli_fname : "nobody";
    const char *name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    const char *preload = getenv("LD_PRELOAD");
    const bool ours = strncmp(name, "libpat-mpi", 10) == 0, loaded = preload && strstr(preload, "libpat-mpi");
    printf("  %-15s %s%s\n", call, file,
           ours     ? " (the drop-in)"
           : loaded ? " (the drop-in is behind it, and sees only what is passed on by MPI_, not by PMPI_)"
                    : "");
}

static void print_machine(void)
{
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, level;
    PMPI_Get_library_version(version, &length);
    version[strcspn(version, "\n")] = '\0';
    PMPI_Query_thread(&level);
    printf("MPI library       %s\n", version);
    printf("thread level      %s%s\n", level >= 0 && level < 4 ? levels[level] : "unknown",
           level == MPI_THREAD_MULTIPLE ? "" : ": no data moves early");
    const int eager = pat_link_eager_bytes();
    if (eager == INT_MAX)
        printf("eager limit       not known\n");
    else
        printf("eager limit       %d bytes of data over TCP\n", eager);
}

static void print_processors(const pat_place *place)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0 || hwloc_topology_load(topology) != 0) {
        printf("processors        not known\n");
        return;
    }
    const char *kinds[] = {[PAT_PLACE_PU] = "bound to processing unit",
                           [PAT_PLACE_FLOAT] = "left to the scheduler: no processing unit is free",
                           [PAT_PLACE_OFF] = "left to the scheduler, as PAT_THREAD_PIN=off says"};
    printf("processors        %d packages, %d cores, %d processing units\n",
           hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE),
           hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE),
           hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU));
    printf("background thread %s", kinds[place->kind]);
    if (place->kind == PAT_PLACE_PU)
        printf(" %d", place->pu_os_index);
    printf(" (of rank 0)\n");
    hwloc_topology_destroy(topology);
}

static void print_settings(void)
{
    const char *name, *unset, *accepted;
    printf("\nsettings\n");
    for (int i = 0; pat_config_setting(i, &name, &unset, &accepted); i++) {
        const char *text = pat_config_env(name);
        printf("  %-17s %-24s %s\n", name, text ? text : unset, text ? "environment" : "default");
    }
}

static void print_algorithms(void)
{
    printf("\nalgorithms\n");
    static const char *const calls[] = {
        [PAT_OP_ALLGATHER] = "all-gather", [PAT_OP_BCAST] = "broadcast", [PAT_OP_GATHER] = "gather"};
    for (int op = 0; op < PAT_NUM_OPS; op++)
        printf("  %-17s %s\n", calls[op], pat_algorithm_names((enum pat_op)op));
}

int main(int argc, char **argv)
{
    int rank, ranks, provided, status = 0;
    pat_config config;
    char why[256];
    tool_parse("pat-info", &argp, argc, argv, NULL);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    const bool good = pat_config_read(&config, pat_config_env, why, sizeof(why)) == 0;
    pat_place place = {.kind = PAT_PLACE_FLOAT, .pu_os_index = -1};
    const int rc = pat_place_find(MPI_COMM_WORLD, good ? config.thread_pin : "auto", &place);
    if (rank == 0) {
        printf("PAT %d.%d.%d, %d rank%s\n", PAT_VERSION_MAJOR, PAT_VERSION_MINOR, PAT_VERSION_PATCH, ranks,
               ranks == 1 ? "" : "s");
        print_machine();
        if (rc == MPI_SUCCESS)
            print_processors(&place);
        else
            printf("background thread %s\n", PAT_Error_string(rc));
        printf("\nwho takes a program's calls\n");
        print_dropin("MPI_Init");
        print_dropin("MPI_Allgather");
        print_dropin("MPI_Allreduce");
        print_dropin("mpi_allgather_");
        print_settings();
        print_algorithms();
        if (!good)
            fprintf(stderr, "pat-info: %s\n", why);
    }
    status = good && rc == MPI_SUCCESS ? 0 : TOOL_BAD_INPUT;
    MPI_Finalize();
    return status;
}
