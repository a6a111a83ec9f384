/*
 * reach.c — see reach.h.
 */
#include "reach.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/random.h>
#include <sys/uio.h>
#include <unistd.h>

#include "error.h"

struct pat_reach {
    int count, least;
    pid_t pids[];
};

/* Where a rank's secret lies, which shows whoever reads it that it has read that rank's memory. */
typedef struct proof {
    int32_t pid, least;        /* pid 0: this rank does not copy */
    uint64_t at, secret, flag; /* flag: where the rank before it writes */
} proof;

/* Runs of bytes, of which some have been moved. */
typedef struct runs {
    struct iovec run[2];
    int first; /* the one that is not moved wholly */
} runs;

static void pass(runs *r, size_t moved)
{
    while (r->first < 2 && moved >= r->run[r->first].iov_len)
        moved -= r->run[r->first++].iov_len;
    if (moved > 0) {
        r->run[r->first].iov_base = (char *)r->run[r->first].iov_base + moved;
        r->run[r->first].iov_len -= moved;
    }
}

bool pat_reach_pays(const pat_reach *r, int64_t bytes)
{
    return bytes > r->least;
}

static struct iovec run_of(uint64_t at, int64_t bytes)
{
    return (struct iovec){(void *)(uintptr_t)at, (size_t)bytes};
}

int pat_reach_copy(const pat_reach *r, int mate, const pat_there *from, char *const to[2], const int bytes[2])
{
    runs there = {{run_of(from->at[0], from->bytes[0]), run_of(from->at[1], from->bytes[1])}, 0},
         here = {{run_of((uintptr_t)to[0], bytes[0]), run_of((uintptr_t)to[1], bytes[1])}, 0};
    size_t left = (size_t)bytes[0] + (size_t)bytes[1];
    while (left > 0) { /* the kernel may copy less than it is asked for */
        const ssize_t moved =
            process_vm_readv(r->pids[mate], &here.run[here.first], (unsigned long)(2 - here.first),
                             &there.run[there.first], (unsigned long)(2 - there.first), 0);
        if (moved <= 0)
            return moved < 0 ? errno : EFAULT;
        pass(&here, (size_t)moved);
        pass(&there, (size_t)moved);
        left -= (size_t)moved;
    }
    return 0;
}

int pat_reach_set(const pat_reach *r, int mate, uint64_t at, int value)
{
    const struct iovec here = {&value, sizeof(value)}, there = {(void *)(uintptr_t)at, sizeof(value)};
    const ssize_t moved = process_vm_writev(r->pids[mate], &here, 1, &there, 1, 0);
    return moved == (ssize_t)sizeof(value) ? 0 : moved < 0 ? errno : EFAULT;
}

/* Returns whether all want to. */
static bool take_all(pat_reach *r, const proof *all, int count)
{
    r->count = count;
    r->least = 0;
    bool want = true;
    for (int m = 0; m < count; m++) {
        r->pids[m] = all[m].pid;
        r->least = all[m].least > r->least ? all[m].least : r->least;
        want = want && all[m].pid > 0;
    }
    return want;
}

/* Does this rank read every other one's secret where that says that it is? */
static bool reads_all(const pat_reach *r, const proof *all, int mine)
{
    bool reads = true;
    for (int m = 0; m < r->count && reads; m++) {
        uint64_t seen = 0;
        const pat_there there = {{all[m].at, 0}, {sizeof(seen), 0}};
        reads =
            m == mine || (pat_reach_copy(r, m, &there, (char *[2]){(char *)&seen, NULL}, there.bytes) == 0 &&
                          seen == all[m].secret);
    }
    return reads;
}

int pat_reach_find(MPI_Comm node, bool wanted, int least, pat_reach **reach)
{
    enum { MOST_RANKS = 252 }; /* as of bells, without which nobody copies */
    int count, mine, all_good = 0;
    uint64_t secret = 0;
    proof all[MOST_RANKS];
    *reach = NULL;
    PMPI_Comm_size(node, &count);
    PMPI_Comm_rank(node, &mine);
    if (count < 2 || count > MOST_RANKS)
        return MPI_SUCCESS;
    pat_reach *r = malloc(sizeof(*r) + (size_t)count * sizeof(r->pids[0]));
    const bool able = wanted && r && getrandom(&secret, sizeof(secret), 0) == (ssize_t)sizeof(secret);
    atomic_int flag = 0;
    const proof me = {.pid = able ? getpid() : 0,
                      .least = least > PAT_REACH_LEAST ? least : PAT_REACH_LEAST,
                      .at = (uintptr_t)&secret,
                      .secret = secret,
                      .flag = (uintptr_t)&flag};
    int rc = PMPI_Allgather(&me, sizeof(me), MPI_BYTE, all, sizeof(me), MPI_BYTE, node);
    const int right = (mine + 1) % count;
    const int good = rc == MPI_SUCCESS && r && take_all(r, all, count) && reads_all(r, all, mine) &&
                     pat_reach_set(r, right, all[right].flag, 1) == 0;
    if (rc == MPI_SUCCESS) /* and until then everybody's secret and flag stay where they are */
        rc = PMPI_Allreduce(&good, &all_good, 1, MPI_INT, MPI_MIN, node);
    if (rc == MPI_SUCCESS && all_good)
        *reach = r;
    else
        free(r);
    return rc == MPI_SUCCESS ? rc
                             : pat_error(rc, "an MPI function has failed while the ranks of a node tried to "
                                             "read each other's memory");
}

void pat_reach_free(pat_reach *r)
{
    free(r);
}
