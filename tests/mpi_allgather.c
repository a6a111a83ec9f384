/*
 * mpi_allgather.c — the plain call, byte for byte: every algorithm, datatype, MPI_IN_PLACE, sizes that change
 * from call to call. Guards, gaps and the send buffer must be left alone, and the send buffer is spoilt as
 * soon as a call returns.
 *
 * ranks: 1 2 3 4 5 7 8 12 17
 */
#include "mpi_common.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

/* Every pair of layouts somewhere: this rank's depend on its rank, so ranks differ while their bytes are the
 * same. */
static void mixed_types(const char *alg, uint32_t *seed)
{
    const int mixable = NUM_LAYOUTS - LAYOUT_INT;
    for (int s = 0; s < mixable; s++) {
        int r = (s * 3 + 1) % mixable;
        for (int in_place = 0; in_place < 2; in_place++) {
            test_at("%s, types %d and %d", alg, s, r);
            const layout *sl = &layouts[LAYOUT_INT + (s + test.rank) % mixable];
            const layout *rl = &layouts[LAYOUT_INT + (r + 2 * test.rank) % mixable];
            gather_once(MPI_COMM_WORLD, sl, rl, UNIT * (s % 2 ? 1 : 100), in_place, ++*seed);
        }
    }
    for (int l = LAYOUT_INT; l < NUM_LAYOUTS; l++) {
        test_at("%s, %s on every rank", alg, layouts[l].name);
        gather_once(MPI_COMM_WORLD, &layouts[l], &layouts[l], UNIT * 7, false, ++*seed);
    }
}

/* Sizes on both sides of every eager limit, up and down. The largest once per algorithm: ranks share two
 * cores. */
static void changing_sizes(const char *alg, uint32_t *seed)
{
    static const int sizes[] = {1, 4096, 17, 65536, 3, 0, 1000, 262144, 0, 0, 8191, 33, 33, 12};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        test_at("%s, call %zu of changing sizes", alg, i);
        gather_once(MPI_COMM_WORLD, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], sizes[i], i % 3 == 1,
                    ++*seed);
    }
    test_at("%s, 96 KiB of gaps", alg);
    gather_once(MPI_COMM_WORLD, &layouts[3 + test.rank % 3], &layouts[5 - test.rank % 3], 96 * 1024, false,
                ++*seed);
}

/* A zero count may come with a null pointer and with different zeros: no items, or items of nothing. */
static void nothing_at_all(const char *alg)
{
    MPI_Datatype empty;
    test_at("%s, zero counts", alg);
    MPI_Type_contiguous(0, MPI_INT, &empty);
    MPI_Type_commit(&empty);
    MUST(PAT_Allgather(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
    MUST(PAT_Allgather(NULL, 0, MPI_INT, NULL, 5, empty, MPI_COMM_WORLD));
    MUST(PAT_Allgather(MPI_IN_PLACE, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD));
    MPI_Type_free(&empty);
}

/* Results are one thing, that the named algorithm was counted and its own plan used another. */
static void used(const char *alg, const PAT_Counters *before)
{
    PAT_Counters after = counters();
    bool found = false;
    test_at("%s, counters", alg);
    for (int i = 0; i < after.num_algs; i++) {
        bool this_one = strcmp(after.alg_name[i], alg) == 0;
        bool chosen =
            strcmp(alg, "auto") == 0 && (strcmp(after.alg_name[i], "native") == 0 ||
                                         pat_algorithm_is_ahead(pat_algorithm_find(after.alg_name[i])));
        found = found || this_one;
        if (chosen) /* what the choice falls on depends on the machine */
            continue;
        const bool native = strcmp(after.alg_name[i], "native") == 0;
        if (native && test.size > 1 && !this_one) /* calls of nothing */
            continue;
        this_one = test.size > 1 ? this_one && strcmp(alg, "auto") != 0 : native;
        if ((after.alg_calls[i] > before->alg_calls[i]) != this_one)
            test_fail("calls of %s: %lld before, %lld after", after.alg_name[i],
                      (long long)before->alg_calls[i], (long long)after.alg_calls[i]);
    }
    if (!found)
        test_fail("the algorithm is not among the counters");
    if (strcmp(alg, "auto") == 0)
        return;
    bool by_plan = strcmp(alg, "native") != 0 && test.size > 1;
    if ((after.bytes_received > before->bytes_received) != by_plan)
        test_fail("bytes received by plans: %lld before, %lld after", (long long)before->bytes_received,
                  (long long)after.bytes_received);
}

/* One rank has a connection of its own with small packets: what it means for the plans must be agreed. */
static void packets_of_one_rank(uint32_t *seed)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(at);
    int listener = socket(AF_INET, SOCK_STREAM, 0), client = socket(AF_INET, SOCK_STREAM, 0), most = 1300;
    MPI_Comm comm;
    if (test.rank == 0 &&
        (setsockopt(listener, IPPROTO_TCP, TCP_MAXSEG, &most, sizeof(most)) != 0 ||
         bind(listener, (struct sockaddr *)&at, sizeof(at)) != 0 || listen(listener, 1) != 0 ||
         getsockname(listener, (struct sockaddr *)&at, &length) != 0 ||
         connect(client, (struct sockaddr *)&at, sizeof(at)) != 0))
        test_fail("no connection to itself");
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    use_alg("relay");
    for (int bytes = 3000; bytes < 200000; bytes += 4999) {
        test_at("relay, small packets, %d bytes", bytes);
        gather_bytes(comm, bytes, ++*seed);
    }
    MPI_Comm_free(&comm);
    close(client);
    close(listener);
}

int main(int argc, char **argv)
{
    const alg_list algs = algs_of(PAT_OP_ALLGATHER, alg_is_any);
    uint32_t seed = 0;
    test_begin_on_nodes(&argc, &argv);
    layouts_make();
    for (int round = 0; round < 2; round++) /* twice: the second time everything is made already */
        for (int a = 0; a < algs.num; a++) {
            use_alg(algs.names[a]);
            PAT_Counters before = counters();
            mixed_types(algs.names[a], &seed);
            if (round == 0)
                changing_sizes(algs.names[a], &seed);
            nothing_at_all(algs.names[a]);
            used(algs.names[a], &before);
        }
    packets_of_one_rank(&seed);
    layouts_free();
    return test_end();
}
