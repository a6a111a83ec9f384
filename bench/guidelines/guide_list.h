/*
 * guide_list.h — the algorithms of a campaign as a file that people edit: cliname;mpiname;algname;rooted, a line each. What is deleted is not measured.
 */
#ifndef GUIDE_LIST_H
#define GUIDE_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "guide_results.h"

#define GUIDE_LIST_HEADER "cliname;mpiname;algname;rooted"

typedef struct guide_entry {
    char cli[GUIDE_NAME], mpi[GUIDE_NAME], alg[GUIDE_NAME]; /* "bcast", "MPI_Bcast", "bcast_as_allgatherv" */
    bool rooted;
} guide_entry;

typedef struct guide_list {
    guide_entry *entries;
    int num;
} guide_list;

void guide_list_add(guide_list *list, const char *cli, const char *mpi, const char *alg, bool rooted);
void guide_list_free(guide_list *list);
const guide_entry *guide_list_find(const guide_list *list, const char *mpi,
                                   const char *alg); /* NULL: there is none */

/* The text of a file, for the caller to free. */
char *guide_list_text(const guide_list *list, size_t *length);

/*
 * All of `list` out of a file, each line one of `known`; where the left side is the native call, "default", it must be among those of each collective. 0; EINVAL
 * with a text in `why` that names the line and what is accepted; or what open said. Then there is nothing to free.
 */
int guide_list_read(guide_list *list, const guide_list *known, const char *left, const char *path, char *why,
                    size_t why_size);

#endif
