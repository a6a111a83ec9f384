/*
 * mpi_tags.c — an MPI library that has no more tags than MPI promises, 32767 as the highest: plans run all the same, with
 * no message beyond that, also where rounds are prepared for calls that do not come, where blocks are empty and one rank is
 * far ahead of another, and between broadcasts and gathers.
 *
 * This program stands between the library and MPI: the library's own calls go by PMPI_, and these names are found here
 * first. Works where MPI_ and PMPI_ are two names of the same function, as in Open MPI and MPICH.
 *
 * ranks: 2 3 5 8
 */
#include <stdatomic.h>

#include "mpi_common.h"

enum { HIGHEST = 32767, MOST = 8, CALLS = 300 };

static atomic_int highest_seen; /* by the background thread, too */

int PMPI_Comm_get_attr(MPI_Comm comm, int keyval, void *value, int *flag)
{
    static int promised = HIGHEST;
    int rc = MPI_Comm_get_attr(comm, keyval, value, flag);
    if (rc == MPI_SUCCESS && keyval == MPI_TAG_UB)
        *(int **)value = &promised;
    return rc;
}

static void see(int tag)
{
    int seen = atomic_load(&highest_seen);
    while (tag > seen && !atomic_compare_exchange_weak(&highest_seen, &seen, tag))
        continue;
}

int PMPI_Isend(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    see(tag);
    return MPI_Isend(buf, count, type, to, tag, comm, request);
}

int PMPI_Issend(const void *buf, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm,
                MPI_Request *request)
{
    see(tag);
    return MPI_Issend(buf, count, type, to, tag, comm, request);
}

/* Calls that this algorithm has run. */
static int64_t ran(const char *alg)
{
    const PAT_Counters c = counters();
    for (int i = 0; i < c.num_algs; i++)
        if (strcmp(c.alg_name[i], alg) == 0)
            return c.alg_calls[i];
    return -1;
}

/* What rank r's block holds in the i-th call. */
static unsigned char byte_of(int r, int i)
{
    return (unsigned char)(17 * r + 31 * i + 5);
}

/* The i-th call: rank r has `units(r)` pieces of 1000 bytes. */
static void call(int i, const int *units)
{
    static unsigned char mine[8000], all[MOST * 8000];
    int counts[MOST], displs[MOST], at = 0;
    for (int r = 0; r < test.size; r++) {
        counts[r] = 1000 * units[r];
        displs[r] = at;
        at += counts[r];
    }
    memset(mine, byte_of(test.rank, i), sizeof(mine));
    MUST(PAT_Allgatherv(mine, counts[test.rank], MPI_BYTE, all, counts, displs, MPI_BYTE, MPI_COMM_WORLD));
    for (int r = 0; r < test.size; r++)
        for (int k = 0; k < counts[r]; k++)
            if (all[displs[r] + k] != byte_of(r, i)) {
                test_fail("call %d, block %d, byte %d: expected %02x, got %02x", i, r, k, byte_of(r, i),
                          all[displs[r] + k]);
                return;
            }
}

/*
 * Lengths that stay for some calls and then change, so that prepared rounds are used and thrown away. With `one`, a single rank
 * has all there is, for twenty calls, and waits for nobody; halfway the lengths change, while another rank comes late and has
 * prepared a round for the old ones.
 */
static void changing(bool one)
{
    int units[MOST];
    for (int i = 0; i < CALLS; i++) {
        const int owner = i / 20 % test.size, last = (owner + test.size - 1) % test.size;
        for (int r = 0; r < test.size; r++)
            units[r] = one ? (r == owner ? 1 + i / 10 % 7 : 0) : 1 + (r + i / 3) % 7;
        if (one ? i % 20 == 10 && test.rank == last : i % 50 == 7 && test.rank == i / 50 % test.size)
            sleep_ms(20);
        call(i, units);
        if (i % 40 == 39) {
            int word = test.rank == 1 ? i : -1, words[MOST];
            MUST(PAT_Bcast(&word, 1, MPI_INT, 1, MPI_COMM_WORLD));
            expect_int("broadcast", i, word);
            MUST(PAT_Gather(&word, 1, MPI_INT, words, 1, MPI_INT, 0, MPI_COMM_WORLD));
        }
    }
}

int main(int argc, char **argv)
{
    const alg_list algs = algs_of(PAT_OP_ALLGATHER, alg_differs_early);
    setenv("PAT_ALG_BCAST", "bcast_chain", 1);
    setenv("PAT_ALG_GATHER", "gather_binomial", 1);
    setenv("PAT_LINK", "10,20", 1);
    setenv("PAT_RANKS_PER_NODE", "1", 0); /* else nobody passes anything on */
    test_begin(&argc, &argv);
    for (int a = 0; a < algs.num; a++) {
        MUST(PAT_UseAlg(algs.names[a]));
        const int64_t before = ran(algs.names[a]);
        for (int one = 0; one < 2; one++) {
            test_at("%s%s", algs.names[a], one ? ", one rank has all" : "");
            changing(one);
        }
        expect_int("calls that ran by plan", 2 * CALLS, ran(algs.names[a]) - before);
    }
    test_at("the whole run");
    if (highest_seen == 0 || highest_seen > HIGHEST)
        test_fail("the highest tag was %d; accepted: 1 to %d", highest_seen, HIGHEST);
    return test_end();
}
