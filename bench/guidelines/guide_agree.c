/*
 * guide_agree.c — see guide_agree.h. Must never let a rank wait for one that has stopped.
 */
#include "guide_agree.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "bench_delay.h"
#include "bench_must.h"
#include "guide_need.h"
#include "tool_options.h"

static uint64_t mix_in(uint64_t digest, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        digest = bench_mix(digest ^ (unsigned char)text[i]);
    return digest;
}

/* Of what the files say, not of how. */
static uint64_t digest_of(const guide_input *input, const guide_list *list)
{
    char *text = NULL;
    size_t length;
    FILE *to = guide_need(open_memstream(&text, &length));
    for (int i = 0; i < input->num; i++) {
        const guide_line *l = &input->lines[i];
        fprintf(to, "%s %d %.17g %d %d %d %d", l->mpi, l->samples, l->time_ms, l->round_time,
                l->barrier_after, l->global, l->root);
        for (int k = 0; k < l->num_bytes; k++)
            fprintf(to, " %lld", (long long)l->bytes[k]);
        fputc('\n', to);
    }
    fclose(to);
    uint64_t digest = mix_in(1, guide_need(text), length);
    free(text);
    text = guide_list_text(list, &length);
    digest = mix_in(digest, text, length);
    free(text);
    return digest;
}

int guide_agree(int status, const guide_input *input, const guide_list *list, char *why, size_t why_size,
                bool *speaks)
{
    int rank, size, first;
    MUST(PMPI_Comm_rank(MPI_COMM_WORLD, &rank));
    MUST(PMPI_Comm_size(MPI_COMM_WORLD, &size));
    const int failed = status ? rank : size;
    MUST(PMPI_Allreduce(&failed, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    *speaks = rank == first;
    if (first < size) {
        if (*speaks && rank > 0) { /* the others have found their files */
            char *wrong = guide_need(strdup(why));
            snprintf(why, why_size, "rank %d: %s", rank, wrong);
            free(wrong);
        }
        return TOOL_BAD_INPUT;
    }
    const uint64_t own = digest_of(input, list);
    uint64_t least, most;
    MUST(PMPI_Allreduce(&own, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD));
    MUST(PMPI_Allreduce(&own, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD));
    *speaks = least != most && rank == 0;
    if (least == most)
        return 0;
    snprintf(why, why_size,
             "the input file or the list of algorithms is not the same on all ranks; accepted: files that "
             "all nodes "
             "share, or equal copies");
    return TOOL_BAD_INPUT;
}
