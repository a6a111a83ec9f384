/*
 * trace.c — see trace.h. Must never write anything but the file that PAT_TRACE asks for.
 */
#include "trace.h"

#include <errno.h>
#include <string.h>

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
    *file = fopen(path, "we");
    if (!*file)
        return pat_error(MPI_ERR_ARG,
                         "PAT_TRACE=\"%s\": cannot write rank-%d.csv there: %s; accepted: a directory "
                         "that is there",
                         dir, rank, strerror(errno));
    fprintf(*file, "comm,epoch,alg,rank,ranks,block_bytes,node,kind,peer,offset,bytes,start_ns,end_ns\n");
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

void pat_trace_round(FILE *file, const pat_comm *c, int64_t clock_offset_ns)
{
    static const char *const kinds[] = {[PAT_NODE_ARRIVE] = "arrive",
                                        [PAT_NODE_COPY] = "copy",
                                        [PAT_NODE_SEND] = "send",
                                        [PAT_NODE_RECV] = "recv"};
    const pat_plan *p = &c->current->plan;
    const pat_span *spans = pat_exec_spans(c->current->exec);
    char name[MPI_MAX_OBJECT_NAME];
    name_of(c, name);
    for (int i = 0; spans && i < p->num_nodes; i++) {
        const pat_node *n = &p->nodes[i];
        fprintf(file, "%s,%lld,%s,%d,%d,%lld,%d,%s,%d,%lld,%lld,%lld,%lld\n", name, (long long)c->epoch,
                c->alg->name, c->rank, c->size, (long long)p->block_bytes, i, kinds[n->kind], n->peer,
                (long long)n->offset, (long long)n->length, (long long)(spans[i].start_ns + clock_offset_ns),
                (long long)(spans[i].end_ns + clock_offset_ns));
    }
}

void pat_trace_drop(FILE *file, const char *dir, int rank)
{
    char path[MAX_PATH];
    path_of(path, dir, rank);
    fclose(file);
    remove(path);
}

int pat_trace_close(FILE *file)
{
    const int failed = ferror(file);
    return fclose(file) != 0 || failed
               ? pat_error(MPI_ERR_OTHER, "PAT_TRACE: not everything could be written")
               : MPI_SUCCESS;
}
