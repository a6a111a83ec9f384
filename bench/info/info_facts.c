/*
 * info_facts.c — see info_facts.h. Looks at the machine, the MPI library and the environment; changes nothing.
 */
#include "info_facts.h"

#include <dlfcn.h>
#include <hwloc.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bells_meet.h"
#include "reach.h"
#include "collective.h"
#include "comm.h"
#include "config.h"
#include "info_auto.h"
#include "link.h"
#include "nodes.h"
#include "pat.h"
#include "place.h"
#include "sockets.h"

/* Open connections, through which the kernel can tell of messages. */
static int tcp_sockets(void)
{
    pat_sockets *sockets = pat_sockets_create();
    const int found = sockets ? pat_sockets_scan(sockets) : 0;
    pat_sockets_free(sockets);
    return found;
}

static json_t *mpi_library(void)
{
    static const char *const levels[] = {"MPI_THREAD_SINGLE", "MPI_THREAD_FUNNELED", "MPI_THREAD_SERIALIZED",
                                         "MPI_THREAD_MULTIPLE"};
    char version[MPI_MAX_LIBRARY_VERSION_STRING];
    int length, level;
    PMPI_Get_library_version(version, &length);
    version[strcspn(version, "\n")] = '\0';
    PMPI_Query_thread(&level);
    const int eager = pat_link_eager_bytes(), inside = pat_link_eager_inside_bytes();
    return json_pack("{s:s, s:s, s:o, s:o, s:i, s:i}", "library", version, "thread_level",
                     level >= 0 && level < 4 ? levels[level] : "unknown", "eager_bytes",
                     eager == INT_MAX ? json_null() : json_integer(eager), "eager_inside_bytes",
                     inside == INT_MAX ? json_null() : json_integer(inside), "tcp_sockets", tcp_sockets(),
                     "most_ranks_by_tags", pat_comm_slot_tags() / pat_comm_tags_needed(1));
}

/* How the ranks of rank 0's node wake each other, and whether they can read each other's memory. Collective over comm. */
static json_t *bells(MPI_Comm comm)
{
    MPI_Comm node;
    pat_bells *met = NULL;
    pat_reach *reach = NULL;
    int ranks = 1, rc = PMPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    if (rc == MPI_SUCCESS) {
        PMPI_Comm_size(node, &ranks);
        rc = pat_bells_meet(node, &met);
        if (rc == MPI_SUCCESS)
            rc = pat_reach_find(node, true, 0, &reach);
        PMPI_Comm_free(&node);
    }
    const bool rung = rc == MPI_SUCCESS && met;
    const bool reached = rc == MPI_SUCCESS && reach;
    pat_bells_free(met);
    pat_reach_free(reach);
    return json_pack("{s:i, s:b, s:b}", "ranks", ranks, "rung", rung, "reached", reached);
}

/*
 * On how many nodes of the cluster the ranks are, as the MPI library says, or as plans take it where PAT_RANKS_PER_NODE says otherwise. Collective over
 * comm. NULL where it is not known.
 */
static json_t *nodes(MPI_Comm comm, int ranks, const pat_config *config)
{
    MPI_Comm node = MPI_COMM_NULL;
    int *node_of = NULL, *scratch = malloc((size_t)ranks * sizeof(*scratch));
    json_t *told = NULL;
    const int rc = pat_nodes_find(comm, &node, &node_of);
    if (rc == MPI_SUCCESS && scratch) {
        for (int r = 0; r < ranks; r++)
            node_of[r] = pat_nodes_planned(node_of[r], r, config->ranks_per_node);
        const pat_nodes_sizes sizes = pat_nodes_count(node_of, ranks, scratch);
        const pat_placing placing = pat_nodes_placing(node_of, ranks, scratch);
        told = json_pack("{s:i, s:i, s:i, s:s, s:b}", "count", sizes.nodes, "fewest_ranks", sizes.fewest,
                         "most_ranks", sizes.most, "numbered", pat_numbering_text(placing.numbering),
                         "by_setting", config->ranks_per_node > 0);
    }
    if (node != MPI_COMM_NULL)
        PMPI_Comm_free(&node);
    free(node_of);
    free(scratch);
    return told;
}

static json_t *processors(void)
{
    hwloc_topology_t topology;
    if (hwloc_topology_init(&topology) != 0)
        return json_null();
    json_t *told = NULL;
    if (hwloc_topology_load(topology) == 0)
        told = json_pack("{s:i, s:i, s:i}", "packages", hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PACKAGE),
                         "cores", hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE), "processing_units",
                         hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_PU));
    hwloc_topology_destroy(topology);
    return told ? told : json_null();
}

static json_t *background_thread(MPI_Comm comm, const pat_config *config, bool *good)
{
    static const char *const kinds[] = {
        [PAT_PLACE_PU] = "bound", [PAT_PLACE_FLOAT] = "scheduler", [PAT_PLACE_OFF] = "off"};
    pat_place place = {.kind = PAT_PLACE_FLOAT, .pu_os_index = -1};
    const int rc = pat_place_find(comm, config->thread_pin, &place);
    if (rc != MPI_SUCCESS) {
        *good = false;
        return json_pack("{s:s}", "error", PAT_Error_string(rc));
    }
    return json_pack("{s:s, s:o}", "place", kinds[place.kind], "processing_unit",
                     place.kind == PAT_PLACE_PU ? json_integer(place.pu_os_index) : json_null());
}

/* Whose MPI_<call> does a program get? */
static json_t *taker(const char *call)
{
    Dl_info info;
    void *first = dlsym(RTLD_DEFAULT, call);
    const char *file = first && dladdr(first, &info) && info.dli_fname ? info.dli_fname : "nobody";
    const char *name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    const char *preload = getenv("LD_PRELOAD");
    const bool ours = strncmp(name, "libpat-mpi", 10) == 0, loaded = preload && strstr(preload, "libpat-mpi");
    return json_pack("{s:s, s:s, s:s}", "call", call, "library", file, "dropin",
                     ours     ? "first"
                     : loaded ? "behind"
                              : "none");
}

static json_t *takers(void)
{
    static const char *const calls[] = {"MPI_Init", "MPI_Allgather", "MPI_Allreduce", "mpi_allgather_"};
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        json_array_append_new(list, taker(calls[i]));
    return list;
}

/* The operation whose algorithms a setting names, or -1. */
static int operation_of(const pat_setting *s)
{
    return s->collective ? (int)pat_collective_find(s->collective) : -1;
}

static bool is_taken(const pat_setting *s, const char *text)
{
    pat_config scratch = {.mem_bytes = 0};
    const int op = operation_of(s);
    const pat_algorithm *alg = op >= 0 ? pat_algorithm_find(text) : NULL;
    return pat_config_take(&scratch, s, text) && (op < 0 || (alg && (int)alg->op == op));
}

static json_t *settings(bool *good)
{
    json_t *list = json_array();
    const pat_setting *s;
    for (int i = 0; (s = pat_config_setting(i)) != NULL; i++) {
        const char *text = pat_config_env(s->name);
        const bool taken = !text || is_taken(s, text);
        const int op = operation_of(s);
        json_t *value = json_string(text ? text : s->unset); /* NULL where it is not UTF-8 */
        *good = *good && taken;
        json_array_append_new(list, json_pack("{s:s, s:o, s:s, s:b, s:s, s:s, s:s}", "name", s->name, "value",
                                              value ? value : json_string("?"), "origin",
                                              text ? "environment" : "default", "malformed", !taken,
                                              "default", s->unset, "accepted",
                                              op < 0 ? s->accepted : pat_algorithm_names((enum pat_op)op),
                                              "description", s->description));
    }
    return list;
}

static json_t *strays(void)
{
    json_t *list = json_array();
    char name[64];
    const char *nearest;
    for (int i = 0; pat_config_stray(environ, i, name, sizeof(name), &nearest); i++)
        json_array_append_new(list, json_pack("{s:s, s:s?}", "name", name, "nearest", nearest));
    return list;
}

static json_t *algorithms(void)
{
    json_t *of_collectives = json_object();
    for (int i = 0; i < pat_algorithm_count(); i++) {
        const pat_algorithm *alg = pat_algorithm_at(i);
        const char *collective = pat_collective_of(alg->op)->title;
        if (!json_object_get(of_collectives, collective))
            json_object_set_new(of_collectives, collective, json_array());
        json_array_append_new(json_object_get(of_collectives, collective), json_string(alg->name));
    }
    return of_collectives;
}

json_t *info_facts(MPI_Comm comm, bool *good)
{
    pat_config config;
    char why[256];
    int ranks;
    MPI_Comm_size(comm, &ranks);
    *good = true;
    json_t *set = settings(good);
    /* Ranks may be set differently, and what follows is collective: all go by their own settings, or none does. */
    int mine = pat_config_read(&config, pat_config_env, why, sizeof(why)) == 0, all;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, comm);
    json_t *thread = all ? background_thread(comm, &config, good)
                         : json_pack("{s:s}", "error", "not known, because a setting is malformed");
    json_t *calibration = NULL, *rung = bells(comm), *on = all ? nodes(comm, ranks, &config) : NULL;
    json_t *by_auto = all ? info_auto(comm, &config,
                                      json_is_true(json_object_get(rung, "rung")) &&
                                          json_is_true(json_object_get(rung, "reached")),
                                      &calibration)
                          : json_pack("{s:s}", "not_known", "a setting is malformed");
    return json_pack("{s:s, s:i, s:o?, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o?, s:o, s:o}", "version",
                     PAT_PROJECT_VERSION, "ranks", ranks, "nodes", on, "mpi", mpi_library(), "bells", rung,
                     "processors", processors(), "background_thread", thread, "calls", takers(), "settings",
                     set, "unknown_settings", strays(), "calibration", calibration, "auto", by_auto,
                     "algorithms", algorithms());
}
