/*
 * trace_otf2.c — see trace_otf2.h. A process for each rank whose file is there; a location for each thread that has called at the same time as another, since calls at one location may not overlap. A
 * region for each place, named by the MPI function.
 */
#include "trace_otf2.h"

#if !PAT_HAS_OTF2

const char *trace_otf2_write(const pat_log *log, const char *dir)
{
    (void)log;
    (void)dir;
    return "this pat-report was built without OTF2 (Debian: libopen-trace-format2-dev)";
}

#else

#include <otf2/otf2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_LANES = 64 };

/* While an archive is written. The first error stays. */
typedef struct writer {
    const pat_log *log;
    OTF2_Archive *archive;
    OTF2_GlobalDefWriter *defs;
    OTF2_ErrorCode error;
    uint32_t num_strings;
    int64_t **order;          /* of each rank: its events by when they began */
    unsigned char **lane;     /* of each event, in that order */
    int *num_lanes;           /* of each rank, at least 1 */
    uint64_t *first_location; /* of each rank */
    int *number;              /* of each rank among those whose files are there; negative: it is not */
    uint64_t *locations;      /* the first one of each of these */
    int num_there;
    uint64_t end; /* the last time in the trace */
} writer;

static void note(writer *w, OTF2_ErrorCode error)
{
    if (w->error == OTF2_SUCCESS)
        w->error = error;
}

static OTF2_FlushType before_flush(void *data, OTF2_FileType type, OTF2_LocationRef location, void *caller,
                                   bool is_final)
{
    (void)data;
    (void)type;
    (void)location;
    (void)caller;
    (void)is_final;
    return OTF2_FLUSH;
}

static uint32_t text(writer *w, const char *string)
{
    note(w, OTF2_GlobalDefWriter_WriteString(w->defs, w->num_strings, string));
    return w->num_strings++;
}

/* ---- Which calls overlap ------------------------------------------------------------------------------ */

static int by_start(const void *a, const void *b, void *of)
{
    const pat_log_event *events = of, *x = &events[*(const int64_t *)a], *y = &events[*(const int64_t *)b];
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->time_ns < y->time_ns) - (x->time_ns > y->time_ns);
}

static bool find_lanes(writer *w, int r)
{
    const pat_log_rank *rank = &w->log->ranks[r];
    int64_t ends[MOST_LANES] = {0};
    w->num_lanes[r] = 1;
    w->order[r] = malloc((size_t)(rank->num_events + 1) * sizeof(*w->order[r]));
    w->lane[r] = malloc((size_t)rank->num_events + 1);
    if (!w->order[r] || !w->lane[r])
        return false;
    for (int64_t i = 0; i < rank->num_events; i++)
        w->order[r][i] = i;
    qsort_r(w->order[r], (size_t)rank->num_events, sizeof(*w->order[r]), by_start, rank->events);
    for (int64_t i = 0; i < rank->num_events; i++) {
        const pat_log_event *e = &rank->events[w->order[r][i]];
        int lane = 0;
        while (lane < MOST_LANES - 1 && e->start_ns < ends[lane])
            lane++;
        w->lane[r][i] = (unsigned char)lane;
        ends[lane] = e->start_ns + e->time_ns > ends[lane] ? e->start_ns + e->time_ns : ends[lane];
        w->num_lanes[r] = lane + 1 > w->num_lanes[r] ? lane + 1 : w->num_lanes[r];
        w->end = (uint64_t)ends[lane] > w->end ? (uint64_t)ends[lane] : w->end;
    }
    return true;
}

/* ---- Calls -------------------------------------------------------------------------------------------- */

static const struct {
    const char *call;
    OTF2_CollectiveOp op;
    OTF2_RegionRole role;
} kinds[] = {
    {"MPI_Barrier", OTF2_COLLECTIVE_OP_BARRIER, OTF2_REGION_ROLE_BARRIER},
    {"MPI_Bcast", OTF2_COLLECTIVE_OP_BCAST, OTF2_REGION_ROLE_COLL_ONE2ALL},
    {"MPI_Gather", OTF2_COLLECTIVE_OP_GATHER, OTF2_REGION_ROLE_COLL_ALL2ONE},
    {"MPI_Gatherv", OTF2_COLLECTIVE_OP_GATHERV, OTF2_REGION_ROLE_COLL_ALL2ONE},
    {"MPI_Scatter", OTF2_COLLECTIVE_OP_SCATTER, OTF2_REGION_ROLE_COLL_ONE2ALL},
    {"MPI_Scatterv", OTF2_COLLECTIVE_OP_SCATTERV, OTF2_REGION_ROLE_COLL_ONE2ALL},
    {"MPI_Allgather", OTF2_COLLECTIVE_OP_ALLGATHER, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"MPI_Allgatherv", OTF2_COLLECTIVE_OP_ALLGATHERV, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"MPI_Alltoall", OTF2_COLLECTIVE_OP_ALLTOALL, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"MPI_Alltoallv", OTF2_COLLECTIVE_OP_ALLTOALLV, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"MPI_Alltoallw", OTF2_COLLECTIVE_OP_ALLTOALLW, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"MPI_Allreduce", OTF2_COLLECTIVE_OP_ALLREDUCE, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"MPI_Reduce", OTF2_COLLECTIVE_OP_REDUCE, OTF2_REGION_ROLE_COLL_ALL2ONE},
    {"MPI_Reduce_scatter", OTF2_COLLECTIVE_OP_REDUCE_SCATTER, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"MPI_Reduce_scatter_block", OTF2_COLLECTIVE_OP_REDUCE_SCATTER_BLOCK, OTF2_REGION_ROLE_COLL_ALL2ALL},
    {"MPI_Scan", OTF2_COLLECTIVE_OP_SCAN, OTF2_REGION_ROLE_COLL_OTHER},
    {"MPI_Exscan", OTF2_COLLECTIVE_OP_EXSCAN, OTF2_REGION_ROLE_COLL_OTHER}};
enum { NUM_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

/* The number of a call in `kinds`; NUM_KINDS: a call that does not block, or one among neighbours. */
static int kind_of(const char *call)
{
    int k = 0;
    const size_t length = strlen(call), cut = length > 2 && strcmp(call + length - 2, "_c") == 0 ? 2 : 0;
    while (k < NUM_KINDS &&
           (strlen(kinds[k].call) != length - cut || strncmp(kinds[k].call, call, length - cut) != 0))
        k++;
    return k;
}

/* In the group of the communicator's members whose files are there. */
static uint32_t root_of(const writer *w, const pat_log_event *e)
{
    const pat_log_members *c = &w->log->comms[e->comm];
    uint32_t root = 0;
    if (e->root < 0 || e->root >= c->size || c->rank[e->root] < 0)
        return OTF2_COLLECTIVE_ROOT_NONE;
    for (int m = 0; m < e->root; m++)
        root += c->rank[m] >= 0;
    return root;
}

static void write_calls(writer *w, int r, int lane)
{
    const pat_log_rank *rank = &w->log->ranks[r];
    OTF2_EvtWriter *to = OTF2_Archive_GetEvtWriter(w->archive, w->first_location[r] + (uint64_t)lane);
    if (!to) {
        note(w, OTF2_ERROR_MEM_ALLOC_FAILED);
        return;
    }
    uint64_t last = 0;
    for (int64_t i = 0; i < rank->num_events && w->error == OTF2_SUCCESS; i++) {
        if (w->lane[r][i] != lane)
            continue;
        const pat_log_event *e = &rank->events[w->order[r][i]];
        const int kind = kind_of(w->log->sites[e->site].call);
        const uint64_t began = (uint64_t)e->start_ns,
                       start = began > last ? began : last, /* in the last lane calls may overlap */
            over = began + (uint64_t)e->time_ns, end = over > start ? over : start;
        last = end;
        note(w, OTF2_EvtWriter_Enter(to, NULL, start, (uint32_t)e->site));
        if (kind < NUM_KINDS) {
            note(w, OTF2_EvtWriter_MpiCollectiveBegin(to, NULL, start));
            note(w, OTF2_EvtWriter_MpiCollectiveEnd(to, NULL, end, kinds[kind].op, (uint32_t)e->comm,
                                                    root_of(w, e), (uint64_t)e->bytes, (uint64_t)e->bytes));
        }
        note(w, OTF2_EvtWriter_Leave(to, NULL, end, (uint32_t)e->site));
    }
    note(w, OTF2_Archive_CloseEvtWriter(w->archive, to));
}

static uint64_t num_events(const writer *w, int r, int lane)
{
    uint64_t num = 0;
    for (int64_t i = 0; i < w->log->ranks[r].num_events; i++)
        if (w->lane[r][i] == lane)
            num +=
                kind_of(w->log->sites[w->log->ranks[r].events[w->order[r][i]].site].call) < NUM_KINDS ? 4 : 2;
    return num;
}

/* ---- Definitions ----------------------------------------------------------------------------------------- */

static void define_regions(writer *w, uint32_t none)
{
    for (int s = 0; s < w->log->num_sites; s++) {
        const pat_log_site *site = &w->log->sites[s];
        const int kind = kind_of(site->call);
        /* Of a stack the innermost line. */
        const char *end = strstr(site->line, " < "), *colon = strrchr(site->line, ':');
        while (end && colon && colon > end)
            colon = memrchr(site->line, ':', (size_t)(colon - site->line));
        char file[200];
        snprintf(file, sizeof(file), "%.*s", colon ? (int)(colon - site->line) : 0, site->line);
        const uint32_t name = text(w, site->call), place = text(w, site->name),
                       source = file[0] ? text(w, file) : none;
        const int line = colon ? atoi(colon + 1) : 0;
        note(w, OTF2_GlobalDefWriter_WriteRegion(
                    w->defs, (uint32_t)s, name, name, place,
                    kind < NUM_KINDS ? kinds[kind].role : OTF2_REGION_ROLE_COLL_OTHER, OTF2_PARADIGM_MPI,
                    OTF2_REGION_FLAG_NONE, source, line > 0 ? (uint32_t)line : 0,
                    line > 0 ? (uint32_t)line : 0));
    }
}

/* Hosts, ranks on them, threads of these. */
static void define_locations(writer *w, uint32_t none)
{
    const int num = w->log->num_ranks;
    const uint32_t machine = text(w, "machine"), node = text(w, "node");
    note(w, OTF2_GlobalDefWriter_WriteSystemTreeNode(w->defs, 0, machine, machine,
                                                     OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    uint32_t num_nodes = 1;
    uint32_t *node_of = calloc((size_t)num, sizeof(*node_of));
    if (!node_of) {
        note(w, OTF2_ERROR_MEM_ALLOC_FAILED);
        return;
    }
    for (int r = 0, last = -1; r < num; r++) {
        char name[40];
        if (w->number[r] < 0)
            continue;
        const int before =
            last >= 0 && strcmp(w->log->ranks[r].host, w->log->ranks[last].host) == 0 ? last : -1;
        last = r;
        if (before >= 0) { /* ranks in a row; others of the same host are another node of that name */
            node_of[r] = node_of[before];
        } else {
            node_of[r] = num_nodes++;
            const uint32_t host = text(w, w->log->ranks[r].host[0] ? w->log->ranks[r].host : "?");
            note(w, OTF2_GlobalDefWriter_WriteSystemTreeNode(w->defs, node_of[r], host, node, 0));
        }
        snprintf(name, sizeof(name), "rank %d", r);
        const uint32_t rank = text(w, name);
        note(w, OTF2_GlobalDefWriter_WriteLocationGroup(w->defs, (uint32_t)r, rank,
                                                        OTF2_LOCATION_GROUP_TYPE_PROCESS, node_of[r],
                                                        OTF2_UNDEFINED_LOCATION_GROUP));
        for (int lane = 0; lane < w->num_lanes[r]; lane++) {
            snprintf(name, sizeof(name), "rank %d, thread %d", r, lane);
            const uint32_t thread = lane == 0 ? rank : text(w, name);
            note(w, OTF2_GlobalDefWriter_WriteLocation(w->defs, w->first_location[r] + (uint64_t)lane, thread,
                                                       OTF2_LOCATION_TYPE_CPU_THREAD, num_events(w, r, lane),
                                                       (uint32_t)r));
        }
    }
    note(w,
         OTF2_GlobalDefWriter_WriteGroup(w->defs, 0, none, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                         OTF2_GROUP_FLAG_NONE, (uint32_t)w->num_there, w->locations));
    free(node_of);
}

/* Members are numbers in the list of ranks' locations. One whose file is missing is not there. */
static void define_comms(writer *w)
{
    uint64_t *members = malloc((size_t)w->log->num_ranks * sizeof(*members));
    for (int c = 0; c < w->log->num_comms && members; c++) {
        char name[60];
        uint32_t num = 0;
        for (int m = 0; m < w->log->comms[c].size; m++)
            if (w->log->comms[c].rank[m] >= 0)
                members[num++] = (uint64_t)w->number[w->log->comms[c].rank[m]];
        snprintf(name, sizeof(name), "communicator %d of %d ranks", c, w->log->comms[c].size);
        const uint32_t string = text(w, name);
        note(w, OTF2_GlobalDefWriter_WriteGroup(w->defs, (uint32_t)c + 1, string, OTF2_GROUP_TYPE_COMM_GROUP,
                                                OTF2_PARADIGM_MPI, OTF2_GROUP_FLAG_NONE, num, members));
        note(w, OTF2_GlobalDefWriter_WriteComm(w->defs, (uint32_t)c, string, (uint32_t)c + 1,
                                               OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    }
    if (!members)
        note(w, OTF2_ERROR_MEM_ALLOC_FAILED);
    free(members);
}

/* ---- The archive ------------------------------------------------------------------------------------------ */

static void write_events(writer *w)
{
    note(w, OTF2_Archive_OpenEvtFiles(w->archive));
    for (int r = 0; r < w->log->num_ranks; r++)
        for (int lane = 0; lane < w->num_lanes[r] && w->error == OTF2_SUCCESS; lane++)
            write_calls(w, r, lane);
    note(w, OTF2_Archive_CloseEvtFiles(w->archive));
}

/* None but what is the same for all; but readers want the files. */
static void write_local_definitions(writer *w)
{
    note(w, OTF2_Archive_OpenDefFiles(w->archive));
    for (int r = 0; r < w->log->num_ranks; r++)
        for (int lane = 0; lane < w->num_lanes[r] && w->error == OTF2_SUCCESS; lane++) {
            OTF2_DefWriter *own =
                OTF2_Archive_GetDefWriter(w->archive, w->first_location[r] + (uint64_t)lane);
            note(w, own ? OTF2_Archive_CloseDefWriter(w->archive, own) : OTF2_ERROR_MEM_ALLOC_FAILED);
        }
    note(w, OTF2_Archive_CloseDefFiles(w->archive));
}

static void write_definitions(writer *w)
{
    const uint64_t NS = 1000000000;
    w->defs = OTF2_Archive_GetGlobalDefWriter(w->archive);
    if (!w->defs) {
        note(w, OTF2_ERROR_MEM_ALLOC_FAILED);
        return;
    }
    note(w, OTF2_GlobalDefWriter_WriteClockProperties(w->defs, NS, 0, w->end + 1, OTF2_UNDEFINED_TIMESTAMP));
    const uint32_t none = text(w, "");
    define_regions(w, none);
    define_locations(w, none);
    define_comms(w);
    note(w, OTF2_Archive_CloseGlobalDefWriter(w->archive, w->defs));
}

static void write_all(writer *w, const char *dir)
{
    static const OTF2_FlushCallbacks flush = {.otf2_pre_flush = before_flush, .otf2_post_flush = NULL};
    w->archive =
        OTF2_Archive_Open(dir, "calls", OTF2_FILEMODE_WRITE, OTF2_CHUNK_SIZE_EVENTS_DEFAULT,
                          OTF2_CHUNK_SIZE_DEFINITIONS_DEFAULT, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);
    if (!w->archive) {
        note(w, OTF2_ERROR_FILE_CAN_NOT_OPEN);
        return;
    }
    note(w, OTF2_Archive_SetFlushCallbacks(w->archive, &flush, NULL));
    note(w, OTF2_Archive_SetSerialCollectiveCallbacks(w->archive));
    note(w, OTF2_Archive_SetCreator(w->archive, "pat-report"));
    if (w->error == OTF2_SUCCESS)
        write_events(w);
    if (w->error == OTF2_SUCCESS)
        write_local_definitions(w);
    if (w->error == OTF2_SUCCESS)
        write_definitions(w);
    note(w, OTF2_Archive_Close(w->archive));
}

static bool prepare(writer *w)
{
    const size_t num = (size_t)w->log->num_ranks;
    uint64_t locations = 0;
    w->order = calloc(num, sizeof(*w->order));
    w->lane = calloc(num, sizeof(*w->lane));
    w->num_lanes = calloc(num, sizeof(*w->num_lanes));
    w->first_location = calloc(num, sizeof(*w->first_location));
    w->number = calloc(num, sizeof(*w->number));
    w->locations = calloc(num, sizeof(*w->locations));
    bool good = w->order && w->lane && w->num_lanes && w->first_location && w->number && w->locations;
    for (int r = 0; r < w->log->num_ranks && good; r++) {
        w->number[r] = -1;
        if (!w->log->ranks[r].is_there)
            continue;
        good = find_lanes(w, r);
        w->first_location[r] = locations;
        w->number[r] = w->num_there;
        w->locations[w->num_there++] = locations;
        locations += (uint64_t)w->num_lanes[r];
    }
    return good;
}

const char *trace_otf2_write(const pat_log *log, const char *dir)
{
    writer w = {.log = log, .error = OTF2_SUCCESS};
    struct stat st;
    if (stat(dir, &st) == 0)
        return "is there already; accepted: a directory that is not there";
    if (prepare(&w))
        write_all(&w, dir);
    else
        w.error = OTF2_ERROR_MEM_ALLOC_FAILED;
    for (int r = 0; r < log->num_ranks; r++) {
        free(w.order ? w.order[r] : NULL);
        free(w.lane ? w.lane[r] : NULL);
    }
    free(w.order);
    free(w.lane);
    free(w.num_lanes);
    free(w.first_location);
    free(w.number);
    free(w.locations);
    return w.error == OTF2_SUCCESS ? NULL : OTF2_Error_GetDescription(w.error);
}

#endif
