/*
 * trace.c — see trace.h. Must never write anything but the file that PAT_TRACE asks for.
 */
#include "trace.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "error.h"

enum { MAX_PATH = 320 };

static void path_of(char path[MAX_PATH], const char *dir, int rank)
{
    snprintf(path, MAX_PATH, "%s/rank-%d.csv", dir, rank);
}

int pat_trace_open(FILE **file, const char *dir, int rank)
{
    char path[MAX_PATH];
    path_of(path, dir, rank);
    *file = fopen(path, "ae");
    if (!*file)
        return pat_error(MPI_ERR_ARG,
                         "PAT_TRACE=\"%s\": cannot write rank-%d.csv there: %s; accepted: a directory "
                         "that is there",
                         dir, rank, strerror(errno));
    return MPI_SUCCESS;
}

/* The communicator's name, without what would break a line of comma-separated values. */
static void name_of(const pat_comm *c, char name[MPI_MAX_OBJECT_NAME])
{
    int length = 0;
    name[0] = '\0';
    PMPI_Comm_get_name(c->user, name, &length);
    for (char *at = name; *at; at++)
        if (*at == ',' || *at == '"' || (unsigned char)*at < ' ')
            *at = '_';
}

typedef struct line {
    int node, peer;
    const char *kind;
    int64_t offset, bytes, start_ns, end_ns;
} line;

static void write_line(FILE *file, const char *comm, const pat_comm *c, const line *l)
{
    fprintf(file, "%s,%lld,%s,%d,%d,%lld,%d,%s,%d,%lld,%lld,%lld,%lld\n", comm, (long long)c->lane->epoch,
            c->alg->name, c->rank, c->size, (long long)c->lane->current->plan->block_bytes, l->node, l->kind,
            l->peer, (long long)l->offset, (long long)l->bytes, (long long)l->start_ns, (long long)l->end_ns);
}

void pat_trace_round(FILE *file, const pat_comm *c)
{
    static const char *const kinds[] = {
        [PAT_NODE_ARRIVE] = "arrive", [PAT_NODE_COPY] = "copy",     [PAT_NODE_SEND] = "send",
        [PAT_NODE_RECV] = "recv",     [PAT_NODE_REDUCE] = "reduce", [PAT_NODE_NONE] = "none"};
    const pat_plan *p = c->lane->current->plan;
    const pat_span *spans = pat_exec_spans(c->lane->current->exec);
    const int64_t now = pat_clock_local_ns(), clock_offset_ns = c->lane->offset_ns;
    char name[MPI_MAX_OBJECT_NAME];
    name_of(c, name);
    for (int i = 0; spans && i < p->num_nodes; i++) {
        const pat_node *n = &p->nodes[i];
        write_line(file, name, c,
                   &(line){.node = i,
                           .kind = kinds[n->kind],
                           .peer = n->peer,
                           .offset = pat_node_address(n).offset,
                           .bytes = n->length,
                           .start_ns = spans[i].start_ns + clock_offset_ns,
                           .end_ns = spans[i].end_ns + clock_offset_ns});
    }
    const pat_carried *carried = pat_exec_carried(c->lane->current->exec);
    for (int r = 0; carried && r < c->size; r++)
        write_line(file, name, c,
                   &(line){.node = -1,
                           .kind = "arrival",
                           .peer = r,
                           .start_ns = carried[r].arrival_ns,
                           .end_ns = carried[r].arrival_ns});
    write_line(file, name, c,
               &(line){.node = -1,
                       .kind = "call",
                       .peer = -1,
                       .start_ns = c->called_ns + clock_offset_ns,
                       .end_ns = now + clock_offset_ns});
}

void pat_trace_begin(FILE *file, bool goes_on)
{
    if (goes_on)
        return;
    (void)!ftruncate(fileno(file), 0); /* a pipe has no length */
    fprintf(file, "comm,epoch,alg,rank,ranks,block_bytes,node,kind,peer,offset,bytes,start_ns,end_ns\n");
}

void pat_trace_drop(FILE *file, const char *dir, int rank)
{
    char path[MAX_PATH];
    struct stat st;
    path_of(path, dir, rank);
    if (fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 0)
        remove(path);
    fclose(file);
}

int pat_trace_close(FILE *file)
{
    const int failed = ferror(file);
    return fclose(file) != 0 || failed
               ? pat_error(MPI_ERR_OTHER, "PAT_TRACE: not everything could be written")
               : MPI_SUCCESS;
}
