/*
 * events.c — see events.h. What is known of a communicator hangs on it as an attribute.
 */
#include "events.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "about.h"
#include "runtime.h"

enum { BLOCK_BYTES = PAT_EVENTS_IN_BLOCK * (int)sizeof(pat_log_record) };

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x =
        (a ^ (b + UINT64_C(0x9e3779b97f4a7c15) + (a << 6) + (a >> 2))) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 31;
}

static pat_event_group *group_with(pat_events *e, uint64_t id, int size, const int *world)
{
    for (pat_event_group *g = e->groups; g; g = g->next)
        if (g->id == id && g->size == size && memcmp(g->world, world, (size_t)size * sizeof(*world)) == 0)
            return g;
    return NULL;
}

/* Takes over `world`. NULL without memory. */
static pat_event_group *group_of(pat_events *e, int size, int *world)
{
    uint64_t id = (uint64_t)size;
    for (int r = 0; r < size; r++)
        id = mix(id, (uint64_t)world[r]);
    pat_event_group *g = group_with(e, id, size, world);
    if (!g && (g = malloc(sizeof(*g))) != NULL) {
        *g = (pat_event_group){.id = id, .size = size, .world = world, .next = e->groups};
        e->groups = g;
        return g;
    }
    free(world);
    return g;
}

/* NULL: without memory, or where members are not all among all ranks. */
static int *members_of(const pat_events *e, MPI_Comm comm, int size)
{
    MPI_Group theirs, all;
    int *ranks = malloc(2 * (size_t)size * sizeof(*ranks)), *world = ranks ? ranks + size : NULL;
    bool known = ranks != NULL;
    for (int r = 0; r < size && known; r++)
        ranks[r] = r;
    if (known && PMPI_Comm_group(comm, &theirs) == MPI_SUCCESS) {
        known = PMPI_Comm_group(e->all, &all) == MPI_SUCCESS;
        if (known) {
            known = PMPI_Group_translate_ranks(theirs, size, ranks, all, world) == MPI_SUCCESS;
            PMPI_Group_free(&all);
        }
        PMPI_Group_free(&theirs);
    }
    for (int r = 0; r < size && known; r++)
        known = world[r] != MPI_UNDEFINED;
    if (known)
        memmove(ranks, world, (size_t)size * sizeof(*ranks));
    else
        free(ranks);
    return known ? ranks : NULL;
}

/* ---- Room ------------------------------------------------------------------------------------------------ */

/* A part of the file, as memory. Its room on the disk is taken before, since a program that writes where there is none is ended. */
static int map(int file, off_t at, off_t bytes, void **mapped)
{
    int error;
    do /* a signal that the program gets */
        error = posix_fallocate(file, at, bytes);
    while (error == EINTR);
    *mapped = error ? MAP_FAILED : mmap(NULL, (size_t)bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, at);
    return error || *mapped != MAP_FAILED ? error : errno;
}

static pat_log_record *map_block(pat_events *e, int64_t block)
{
    void *mapped;
    const int error = map(e->file, PAT_LOG_HEADER_BYTES + (off_t)block * BLOCK_BYTES, BLOCK_BYTES, &mapped);
    if (!error)
        return mapped;
    e->header->no_room = error;
    return NULL;
}

static bool add_block(pat_events *e, int64_t block)
{
    if ((block & (block - 1)) == 0) { /* 0 or a power of two: the list of blocks is full */
        pat_log_record **more = realloc(e->blocks, (size_t)(block ? 2 * block : 1) * sizeof(*more));
        if (!more)
            return false;
        e->blocks = more;
    }
    e->blocks[block] = e->file >= 0 ? map_block(e, block) : malloc(BLOCK_BYTES);
    return e->blocks[block] != NULL;
}

/* The next record to be filled in; NULL where there is no room for it. Its kind is to be written last. */
static pat_log_record *next_record(pat_events *e)
{
    if (e->num < e->most && e->num % PAT_EVENTS_IN_BLOCK == 0 && !add_block(e, e->num / PAT_EVENTS_IN_BLOCK))
        e->most = e->num;
    if (e->num >= e->most)
        return NULL;
    pat_log_record *r = &e->blocks[e->num / PAT_EVENTS_IN_BLOCK][e->num % PAT_EVENTS_IN_BLOCK];
    e->num++;
    return r;
}

/* Whoever reads the file of a rank that was killed sees a record whole or not at all. */
static void set_kind(pat_log_record *r, int32_t kind)
{
    __atomic_store_n(&r->text.kind, kind, __ATOMIC_RELEASE);
}

static bool add_text(pat_events *e, const char *text, int length)
{
    for (int at = 0; at < length; at += PAT_LOG_TEXT_BYTES) {
        pat_log_record *r = next_record(e);
        if (!r)
            return false;
        const int some = length - at < PAT_LOG_TEXT_BYTES ? length - at : PAT_LOG_TEXT_BYTES;
        memset(r->text.text, 0, sizeof(r->text.text));
        memcpy(r->text.text, text + at, (size_t)some);
        set_kind(r, PAT_LOG_TEXT);
    }
    return true;
}

static void define(pat_events *e, int32_t kind, int number, int64_t offset, const char *text, int length)
{
    pthread_mutex_lock(&e->lock);
    pat_log_record *r = next_record(e);
    if (r) {
        r->define = (pat_log_define){.offset = offset, .number = number, .length = length};
        set_kind(r, kind);
        add_text(e, text, length);
    }
    pthread_mutex_unlock(&e->lock);
}

void pat_events_name(pat_events *e, int site, const char *name, const char *call, int64_t offset)
{
    char text[256];
    if (e->file < 0)
        return;
    const int length = snprintf(text, sizeof(text), "%s%c%s", name, '\0', call) + 1;
    define(e, PAT_LOG_SITE, site, offset, text, length < (int)sizeof(text) ? length : (int)sizeof(text));
}

void pat_events_line(pat_events *e, int site, const char *line)
{
    if (e->file >= 0)
        define(e, PAT_LOG_LINE, site, 0, line, (int)strlen(line) + 1);
}

/* ---- Communicators ---------------------------------------------------------------------------------------- */

static pat_event_comm *add_comm(pat_events *e, pat_event_group *group, int rank, uint64_t id)
{
    enum { AS_MANY_RECORDS = 4 }; /* its memory, and that of what hangs on it */
    pat_event_comm *c = e->num + AS_MANY_RECORDS <= e->most ? malloc(sizeof(*c)) : NULL;
    if (c && e->num_comms == e->room_comms) {
        const int room = e->room_comms ? 2 * e->room_comms : 16;
        pat_event_comm **more = realloc(e->comms, (size_t)room * sizeof(*more));
        if (!more) {
            free(c);
            return NULL;
        }
        e->comms = more;
        e->room_comms = room;
    }
    if (!c)
        return NULL;
    *c = (pat_event_comm){.id = id, .group = group, .rank = rank, .number = e->num_comms};
    e->comms[e->num_comms++] = c;
    e->most -= AS_MANY_RECORDS;
    pat_log_record *r = e->file >= 0 && group && group->size > 1 ? next_record(e) : NULL;
    if (r) {
        r->comm = (pat_log_comm){
            .id = id, .group = group->id, .number = c->number, .size = group->size, .rank = rank};
        set_kind(r, PAT_LOG_COMM);
    }
    return c;
}

/* A duplicate is being made, in the same turn on all members. */
static int copy_attribute(MPI_Comm from, int keyval, void *events, void *value, void *copy, int *copied)
{
    pat_events *e = events;
    pat_event_comm *parent = value;
    (void)from;
    (void)keyval;
    *copied = 0;
    if (!pat_rt.dropin || !parent->group) /* the report is over, and what both point to is gone */
        return MPI_SUCCESS;
    pthread_mutex_lock(&e->lock);
    pat_event_comm *c =
        add_comm(e, parent->group, parent->rank, mix(parent->id, (uint64_t)++parent->num_dups));
    pthread_mutex_unlock(&e->lock);
    *(void **)copy = c;
    *copied = c != NULL;
    return MPI_SUCCESS;
}

/*
 * The first call on it. One between groups, or with others than all ranks, is known by nothing: its group is NULL. Not with the lock where MPI is called: MPI may have
 * one of its own for attributes, with which it calls copy_attribute.
 */
static pat_event_comm *new_comm(pat_events *e, MPI_Comm comm)
{
    int inter = 0, size, rank;
    pat_event_group *group = NULL;
    if (PMPI_Comm_test_inter(comm, &inter) != MPI_SUCCESS || PMPI_Comm_size(comm, &size) != MPI_SUCCESS ||
        PMPI_Comm_rank(comm, &rank) != MPI_SUCCESS)
        return NULL;
    int *world = inter ? NULL : members_of(e, comm, size);
    pthread_mutex_lock(&e->lock);
    if (world)
        group = group_of(e, size, world);
    pat_event_comm *c =
        add_comm(e, group, rank, group ? mix(group->id, (uint64_t)group->num_comms++ << 32) : 0);
    pthread_mutex_unlock(&e->lock);
    if (c && PMPI_Comm_set_attr(comm, e->keyval, c) != MPI_SUCCESS)
        c->group = NULL;
    return c;
}

int pat_events_begin(pat_events *e, MPI_Comm all, int64_t most_bytes)
{
    *e = (pat_events){.lock = PTHREAD_MUTEX_INITIALIZER,
                      .keyval = MPI_KEYVAL_INVALID,
                      .all = all,
                      .most = most_bytes / (int64_t)sizeof(pat_log_record),
                      .file = -1};
    return PMPI_Comm_create_keyval(copy_attribute, MPI_COMM_NULL_DELETE_FN, &e->keyval, e);
}

void pat_events_know_world(pat_events *e)
{
    if (e->keyval != MPI_KEYVAL_INVALID)
        new_comm(e, MPI_COMM_WORLD);
}

static void fill_header(pat_log_header *h, int rank, int ranks, int64_t begin_ns)
{
    size_t bytes;
    char *command = pat_about_command(&bytes);
    *h = (pat_log_header){.byte_order = PAT_LOG_BYTE_ORDER,
                          .version = PAT_LOG_VERSION,
                          .record_bytes = sizeof(pat_log_record),
                          .rank = rank,
                          .ranks = ranks,
                          .begin_ns = begin_ns};
    memcpy(h->magic, PAT_LOG_MAGIC, sizeof(h->magic));
    pat_about_host(h->host, sizeof(h->host));
    pat_about_mpi(h->mpi, sizeof(h->mpi));
    snprintf(h->pat, sizeof(h->pat), "%s", PAT_GATE_VERSION);
    if (command)
        memcpy(h->command, command, bytes < sizeof(h->command) - 2 ? bytes : sizeof(h->command) - 2);
    free(command);
}

int pat_events_to_file(pat_events *e, const char *dir, int rank, int ranks, int64_t begin_ns, int64_t run)
{
    char path[400];
    snprintf(path, sizeof(path), "%s/calls-%d.pat", dir, rank);
    unlink(path); /* another process may have it as its memory, and keeps it */
    const int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    void *mapped;
    const int error = file < 0 ? errno : map(file, 0, PAT_LOG_HEADER_BYTES, &mapped);
    if (error) {
        if (file >= 0) {
            close(file);
            unlink(path);
        }
        return error;
    }
    e->file = file;
    e->header = mapped;
    fill_header(e->header, rank, ranks, begin_ns);
    e->header->run = run;
    return 0;
}

/* Then so many calls are only counted, and nobody looks at their communicator. */
static bool is_full(pat_events *e, int calls)
{
    pthread_mutex_lock(&e->lock);
    const bool full = e->num >= e->most;
    e->num_lost += full ? calls : 0;
    pthread_mutex_unlock(&e->lock);
    return full;
}

/* With the lock: of a file a record that is filled in but for its kind, which is still that of the end, until all else is there. */
static void put(pat_events *e, const pat_log_record *filled, int32_t kind)
{
    pat_log_record *r = e->file >= 0 ? next_record(e) : NULL;
    if (!r)
        return;
    *r = *filled;
    set_kind(r, kind);
}

static void put_alone(pat_events *e, const pat_log_record *filled, int32_t kind)
{
    pthread_mutex_lock(&e->lock);
    put(e, filled, kind);
    pthread_mutex_unlock(&e->lock);
}

/* What is known of a communicator; NULL: nothing, for want of memory. *known: false where nothing can be, of any. */
static pat_event_comm *comm_of(pat_events *e, MPI_Comm comm, bool *known)
{
    int found = 0;
    pat_event_comm *c = NULL;
    *known = e->keyval != MPI_KEYVAL_INVALID && comm != MPI_COMM_NULL &&
             PMPI_Comm_get_attr(comm, e->keyval, &c, &found) == MPI_SUCCESS;
    return *known && !found ? new_comm(e, comm) : c;
}

/* There are others to hold its calls against. */
static bool has_others(const pat_event_comm *c)
{
    return c->group && c->group->size > 1;
}

/* With the lock. */
static pat_event_turn add_call(pat_events *e, pat_event_comm *c, const pat_log_call *call,
                               const pat_log_plan *plan)
{
    pat_log_record *r = next_record(e);
    if (!r) {
        e->num_lost++;
        return PAT_EVENTS_NO_TURN;
    }
    r->call = (pat_log_call){.start_ns = call->start_ns,
                             .time_ns = call->time_ns,
                             .bytes = call->bytes,
                             .site = call->site,
                             .comm = c->number,
                             .root = call->root};
    set_kind(r, call->kind);
    if (plan)
        put(e, &(pat_log_record){.plan = *plan}, PAT_LOG_PLAN);
    return (pat_event_turn){c->number, c->num_calls++};
}

pat_event_turn pat_events_add(pat_events *e, MPI_Comm comm, const pat_log_call *call,
                              const pat_log_plan *plan)
{
    pat_event_turn turn = PAT_EVENTS_NO_TURN;
    bool known;
    if (is_full(e, 1))
        return turn;
    pat_event_comm *c = comm_of(e, comm, &known);
    if (!known || (c && !has_others(c)))
        return turn;
    pthread_mutex_lock(&e->lock);
    if (c) {
        turn = add_call(e, c, call, plan);
    } else {
        e->most = e->num;
        e->num_lost++;
    }
    pthread_mutex_unlock(&e->lock);
    return turn;
}

int pat_events_new_request(pat_events *e, MPI_Comm comm)
{
    /* So that it is no duplicate's. */
    static const uint64_t REQUEST = UINT64_C(1) << 33;
    bool known;
    if (is_full(e, 0))
        return PAT_EVENTS_NO_ROOM;
    pat_event_comm *from = comm_of(e, comm, &known), *c = NULL;
    if (!known || (from && !has_others(from)))
        return PAT_EVENTS_NOT_KEPT;
    pthread_mutex_lock(&e->lock);
    if (from)
        c = add_comm(e, from->group, from->rank, mix(from->id, REQUEST | (uint64_t)++from->num_requests));
    if (c)
        c->is_request = true;
    else
        e->most = e->num;
    pthread_mutex_unlock(&e->lock);
    return c ? c->number : PAT_EVENTS_NO_ROOM;
}

pat_event_turn pat_events_add_start(pat_events *e, int request, const pat_log_call *call)
{
    pat_event_turn turn = PAT_EVENTS_NO_TURN;
    if (request == PAT_EVENTS_NOT_KEPT)
        return turn;
    pthread_mutex_lock(&e->lock);
    if (request >= 0)
        turn = add_call(e, e->comms[request], call, NULL);
    else
        e->num_lost++;
    pthread_mutex_unlock(&e->lock);
    return turn;
}

void pat_events_add_wait(pat_events *e, const pat_log_wait *wait, const pat_awaited awaited[], int num)
{
    pthread_mutex_lock(&e->lock);
    for (int i = 0; i < num; i++) {
        pat_log_record *r = next_record(e);
        if (!r) {
            e->num_lost++;
            break;
        }
        r->wait = *wait;
        r->wait.turn = awaited[i].turn.turn;
        r->wait.comm = awaited[i].turn.comm;
        r->wait.follows = i > 0;
        r->wait.kind = PAT_LOG_END; /* until all else is there */
        set_kind(r, PAT_LOG_WAIT);
        e->num_waits++;
    }
    pthread_mutex_unlock(&e->lock);
}

void pat_events_add_milestone(pat_events *e, int64_t start_ns, double percent)
{
    put_alone(e,
              &(pat_log_record){
                  .milestone = {.start_ns = start_ns, .thousandths = (int64_t)(1000 * percent + 0.5)}},
              PAT_LOG_MILESTONE);
}

void pat_events_add_one_way(pat_events *e, int64_t bytes, int64_t ns)
{
    put_alone(e, &(pat_log_record){.one_way = {.bytes = bytes, .ns = ns}}, PAT_LOG_ONE_WAY);
}

void pat_events_add_sum(pat_events *e, const pat_log_sum *sum)
{
    put_alone(e, &(pat_log_record){.sum = *sum}, PAT_LOG_SUM);
}

/* What a file is to have at its end. */
static int end_file(pat_events *e, int64_t end_ns, int64_t clock_error_ns)
{
    pat_log_header *h = e->header;
    const int error = h->no_room;
    const int64_t blocks = (e->num + PAT_EVENTS_IN_BLOCK - 1) / PAT_EVENTS_IN_BLOCK;
    for (int64_t i = 0; i < blocks; i++)
        munmap(e->blocks[i], BLOCK_BYTES);
    (void)!ftruncate(e->file, PAT_LOG_HEADER_BYTES + (off_t)e->num * (off_t)sizeof(pat_log_record));
    h->clock_error_ns = clock_error_ns;
    h->num_lost = e->num_lost;
    h->num_records = e->num;
    h->end_ns = end_ns;
    munmap(h, PAT_LOG_HEADER_BYTES);
    close(e->file);
    return error;
}

int pat_events_end(pat_events *e, int64_t end_ns, int64_t clock_error_ns)
{
    int error = 0;
    if (e->file >= 0)
        error = end_file(e, end_ns, clock_error_ns);
    else
        for (int64_t i = 0; i < e->num; i += PAT_EVENTS_IN_BLOCK)
            free(e->blocks[i / PAT_EVENTS_IN_BLOCK]);
    free(e->blocks);
    for (int i = 0; i < e->num_comms; i++)
        free(e->comms[i]);
    free(e->comms);
    for (pat_event_group *g = e->groups, *next; g; g = next) {
        next = g->next;
        free(g->world);
        free(g);
    }
    if (e->keyval != MPI_KEYVAL_INVALID)
        PMPI_Comm_free_keyval(&e->keyval);
    return error;
}
