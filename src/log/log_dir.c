/*
 * log_dir.c — see log_dir.h.
 */
#include "log_dir.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log_format.h"

/* The rank in a name "calls-<rank>.pat"; negative: it is another name. */
static int rank_in(const char *name)
{
    int rank = -1, length = 0;
    if (sscanf(name, "calls-%7d.pat%n", &rank, &length) != 1 || length == 0 || name[length] != '\0' ||
        name[6] == '-' || name[6] == '+' || name[6] == ' ')
        return -1;
    return rank;
}

static int by_rank(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int *pat_log_find_files(const char *dir, int *num)
{
    DIR *d = opendir(dir);
    int *ranks = NULL;
    *num = 0;
    for (const struct dirent *entry; d && (entry = readdir(d)) != NULL;) {
        const int rank = rank_in(entry->d_name);
        if (rank < 0)
            continue;
        int *more = realloc(ranks, ((size_t)*num + 1) * sizeof(*more));
        if (!more)
            break;
        ranks = more;
        ranks[(*num)++] = rank;
    }
    if (d)
        closedir(d);
    if (*num > 0)
        qsort(ranks, (size_t)*num, sizeof(*ranks), by_rank);
    return ranks;
}

static bool is_ours(const pat_log_header *h, int rank)
{
    return memcmp(h->magic, PAT_LOG_MAGIC, sizeof(h->magic)) == 0 && h->byte_order == PAT_LOG_BYTE_ORDER &&
           h->version == PAT_LOG_VERSION && h->record_bytes == (int)sizeof(pat_log_record) &&
           h->rank == rank && h->ranks > rank && h->ranks <= PAT_LOG_MOST_RANKS;
}

static int by_value(const void *a, const void *b)
{
    const int64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int64_t pat_log_find_run(const char *dir, const int ranks[], int num)
{
    int64_t run = 0;
    int most = 0, num_runs = 0;
    int64_t *runs = malloc((size_t)num * sizeof(*runs));
    for (int i = 0; i < num && runs; i++) {
        char path[PATH_MAX];
        pat_log_header h;
        snprintf(path, sizeof(path), "%s/calls-%d.pat", dir, ranks[i]);
        const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd >= 0 && read(fd, &h, sizeof(h)) == (ssize_t)sizeof(h) && is_ours(&h, ranks[i]))
            runs[num_runs++] = h.run;
        if (fd >= 0)
            close(fd);
    }
    if (num_runs > 0)
        qsort(runs, (size_t)num_runs, sizeof(*runs), by_value);
    for (int i = 0, next; i < num_runs; i = next) {
        for (next = i + 1; next < num_runs && runs[next] == runs[i]; next++)
            ;
        if (next - i >= most) {
            most = next - i;
            run = runs[i];
        }
    }
    free(runs);
    return run;
}
