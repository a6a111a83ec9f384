/*
 * mpi_reach.c — ranks of one node copy from each other's memory: the right bytes, of one run and of two that are cut in other places here than
 * there; messages that are offered, taken, or cannot be; nobody copies where one rank does not want to, or may not; and all-gathers have the right results, with and without.
 * ranks: 1 2 3 8
 */
#include <stdatomic.h>
#include <sys/mman.h>

#include "bells_meet.h"
#include "mpi_common.h"
#include "reach.h"
#include "wire.h"

enum { MOST = 3 << 20 };

static unsigned char byte_of(int rank, int at)
{
    return (unsigned char)(7 * rank + at % 251 + at / 251);
}

/* What every rank has, and where others find it. */
typedef struct shared {
    uint64_t data, flag;
} shared;

/* So many bytes of every other rank, the first run ending here after `cut_here` of them and there after `cut_there`. */
static void copy_all(const pat_reach *reach, const shared *all, char *to, int bytes, int cut_here,
                     int cut_there)
{
    for (int r = 0; r < test.size; r++) {
        if (r == test.rank)
            continue;
        memset(to, -1, (size_t)bytes + 2);
        /* The second run lies before the first one, on both sides. */
        const pat_there there = {{all[r].data + (uint64_t)(bytes - cut_there), all[r].data},
                                 {cut_there, bytes - cut_there}};
        char *const at[2] = {to + 1 + bytes - cut_here, to + 1};
        expect_int("error of a copy", 0,
                   pat_reach_copy(reach, r, &there, at, (int[]){cut_here, bytes - cut_here}));
        int wrong = to[0] != -1 || to[bytes + 1] != -1;
        for (int i = 0; i < bytes; i++) {
            const int from = i < cut_there ? bytes - cut_there + i : i - cut_there,
                      here = 1 + (i < cut_here ? bytes - cut_here + i : i - cut_here);
            wrong += (unsigned char)to[here] != byte_of(r, from);
        }
        expect_int("wrong bytes", 0, wrong);
    }
}

static void copies(const pat_reach *reach)
{
    static const int sizes[] = {1, 2, 4095, 4096, 65537, MOST};
    unsigned char *mine = malloc(MOST);
    char *to = malloc(MOST + 2);
    atomic_int told = 0;
    const shared me = {(uintptr_t)mine, (uintptr_t)&told};
    shared all[64];
    for (int i = 0; i < MOST; i++)
        mine[i] = byte_of(test.rank, i);
    MPI_Allgather(&me, sizeof(me), MPI_BYTE, all, sizeof(me), MPI_BYTE, MPI_COMM_WORLD);
    for (size_t s = 0; s < sizeof(sizes) / sizeof(sizes[0]); s++) {
        const int n = sizes[s];
        test_at("%d bytes", n);
        copy_all(reach, all, to, n, n, n);
        copy_all(reach, all, to, n, n, n / 2);
        copy_all(reach, all, to, n, n / 3, n);
        copy_all(reach, all, to, n, n / 3, n - n / 5);
    }
    test_at("a flag");
    expect_int("flag before", 0, atomic_load(&told));
    MPI_Barrier(MPI_COMM_WORLD);
    expect_int("error of setting a flag", 0,
               pat_reach_set(reach, (test.rank + 1) % test.size, all[(test.rank + 1) % test.size].flag, 7));
    MPI_Barrier(MPI_COMM_WORLD);
    expect_int("flag after", 7, atomic_load(&told));
    test_at("an address where nothing is");
    const pat_there nothing = {{8, 0}, {16, 0}};
    if (pat_reach_copy(reach, (test.rank + 1) % test.size, &nothing, (char *[]){to, NULL}, nothing.bytes) ==
        0)
        test_fail("it was copied");
    MPI_Barrier(MPI_COMM_WORLD);
    free(mine);
    free(to);
}

/* How long messages must be, and who does not want to. */
static void agreed(void)
{
    pat_reach *reach;
    test_at("one rank has a higher least length");
    MUST(pat_reach_find(MPI_COMM_WORLD, true, test.rank == test.size - 1 ? 10000 : 0, &reach));
    if (reach && (pat_reach_pays(reach, 10000) || !pat_reach_pays(reach, 10001)))
        test_fail("10000 bytes: %d, 10001: %d", pat_reach_pays(reach, 10000), pat_reach_pays(reach, 10001));
    pat_reach_free(reach);
    test_at("one rank does not want to");
    MUST(pat_reach_find(MPI_COMM_WORLD, test.rank != test.size - 1, 0, &reach));
    if (reach)
        test_fail("it is reached");
}

/* The last rank is another user meanwhile: it may read nobody's memory, so that nobody's is read. */
static void not_allowed(void)
{
    pat_reach *reach;
    test_at("one rank may not");
    if (geteuid() != 0)
        return;
    if (test.rank == test.size - 1 && setresuid(65534, 65534, 0) != 0)
        test_fail("cannot become another user");
    MUST(pat_reach_find(MPI_COMM_WORLD, true, 0, &reach));
    if (reach)
        test_fail("it is reached");
    if (test.rank == test.size - 1 &&
        setresuid(0, 0, 0) != 0) /* what the MPI library is to take away is the first user's */
        test_fail("cannot become the first user again");
}

/* ---- Messages as offers ---------------------------------------------------------------------------------- */

static pat_wire wire_make(const pat_mates *mates)
{
    pat_wire wire;
    if (!pat_wire_make(&wire, MPI_COMM_WORLD, 2, 2))
        must("memory for two messages", MPI_ERR_NO_MEM);
    wire.mates = *mates;
    return wire;
}

/* Until all messages are over, or one has failed: with which error. */
static int wire_wait(pat_wire *wire)
{
    int rc = MPI_SUCCESS, count;
    while (rc == MPI_SUCCESS && wire->num > 0) {
        rc = pat_wire_test(wire, true, &count);
        pat_wire_compact(wire);
    }
    return rc;
}

/* Every rank sends two runs to the next one, which are cut elsewhere there: it is lent until it is taken. */
static void offered(const pat_mates *mates, int next, int last)
{
    enum { BYTES = 50000, HERE = 123, THERE = 4567 };
    static char out[BYTES], in[BYTES];
    const pat_message_data from = {{out + BYTES - HERE, out}, {HERE, BYTES - HERE}},
                           to = {{in, in + THERE}, {THERE, BYTES - THERE}};
    pat_wire wire = wire_make(mates);
    test_at("an offer");
    for (int i = 0; i < BYTES; i++)
        out[i] = (char)byte_of(test.rank, i);
    MPI_Barrier(MPI_COMM_WORLD);
    MUST(pat_wire_send(&wire, 1, next, 0, &from, false));
    expect_int("lent messages", 1, wire.num_lent);
    for (int i = 0, count; i < 100; i++) {
        MUST(pat_wire_test(&wire, true, &count));
        expect_int("messages over before anybody receives", 0, count);
        pat_wire_compact(&wire);
    }
    expect_int("open messages", 1, wire.num);
    MPI_Barrier(MPI_COMM_WORLD);
    MUST(pat_wire_recv(&wire, 0, last, 0, &to));
    MUST(wire_wait(&wire));
    expect_int("lent messages in the end", 0, wire.num_lent);
    int wrong = 0;
    for (int i = 0; i < BYTES; i++)
        wrong += (unsigned char)in[i] != byte_of(last, i < HERE ? BYTES - HERE + i : i - HERE);
    expect_int("wrong bytes", 0, wrong);
    pat_wire_free(&wire);
}

/* What cannot be copied, or has another length: the receiver says so, and the sender does not wait for ever. */
static void refused(const pat_mates *mates, int next, int last, bool unreadable)
{
    enum { BYTES = 64 << 10, LESS = 5000 };
    static char in[BYTES];
    char *out = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (out == MAP_FAILED)
        must("memory", MPI_ERR_NO_MEM);
    if (unreadable) /* unmapped, the place might be taken for something else */
        mprotect(out, BYTES, PROT_NONE);
    const pat_message_data from = {{out, NULL}, {BYTES, 0}},
                           to = {{in, NULL}, {unreadable ? BYTES : LESS, 0}};
    pat_wire wire = wire_make(mates);
    test_at(unreadable ? "an offer of memory that cannot be read" : "an offer of another length");
    MPI_Barrier(MPI_COMM_WORLD);
    if (test.rank == 0)
        MUST(pat_wire_send(&wire, 0, next, 0, &from, false));
    if (test.rank == 1)
        MUST(pat_wire_recv(&wire, 0, last, 0, &to));
    if (test.rank < 2)
        expect_int("error", test.rank == 1 && !unreadable ? MPI_ERR_TRUNCATE : MPI_ERR_OTHER,
                   wire_wait(&wire));
    MPI_Barrier(MPI_COMM_WORLD);
    pat_wire_free(&wire);
    munmap(out, BYTES);
}

static void messages(const pat_reach *reach)
{
    const int next = (test.rank + 1) % test.size, last = (test.rank + test.size - 1) % test.size;
    int mate_of[64];
    for (int r = 0; r < test.size; r++)
        mate_of[r] = r;
    pat_bells *bells;
    MUST(pat_bells_meet(MPI_COMM_WORLD, &bells));
    if (!bells)
        return;
    const pat_mates mates = {bells, reach, mate_of};
    for (int unreadable = 0; unreadable < 2; unreadable++) {
        offered(&mates, next, last); /* also after one that has failed */
        refused(&mates, next, last, unreadable);
    }
    offered(&mates, next, last);
    pat_bells_free(bells);
}

/*
 * While a rank waits for its data to be taken, it goes on to move the MPI library: the others must come out of a barrier of the program's first.
 */
static void beside_a_barrier(void)
{
    char *data = calloc(1, 20000);
    MUST(PAT_Init());
    use_alg("bcast_linear");
    for (int turn = 0; turn < 20; turn++) {
        MPI_Request barrier;
        const int root = turn % test.size;
        test_at("a barrier that began before a broadcast of rank %d", root);
        MPI_Ibarrier(MPI_COMM_WORLD, &barrier);
        if (test.rank != root)
            MPI_Wait(&barrier, MPI_STATUS_IGNORE);
        MUST(PAT_Bcast(data, 20000, MPI_BYTE, root, MPI_COMM_WORLD));
        if (test.rank == root)
            MPI_Wait(&barrier, MPI_STATUS_IGNORE);
    }
    MUST(PAT_Finalize());
    free(data);
}

/* Blocks around the least length and long ones, by the library. */
static void gathers(const char *single)
{
    setenv("PAT_SINGLE_COPY", single, 1);
    MUST(PAT_Init());
    for (int a = 0; a < 2; a++) {
        use_alg(a ? "ring" : "relay");
        test_at("%s, PAT_SINGLE_COPY=%s", a ? "ring" : "relay", single);
        for (int bytes = 3800; bytes < 500000; bytes += bytes / 9)
            gather_once(MPI_COMM_WORLD, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], bytes, false,
                        (uint32_t)(bytes + a));
    }
    MUST(PAT_Finalize());
}

int main(int argc, char **argv)
{
    pat_reach *reach;
    if (!test_mpi_init(&argc, &argv, MPI_THREAD_MULTIPLE))
        return 77;
    layouts_make();
    MUST(pat_reach_find(MPI_COMM_WORLD, true, 0, &reach));
    test_limit(60);
    if (reach) {
        copies(reach);
        messages(reach);
    } else if (test.size > 1)
        printf("ranks cannot read each other's memory here\n");
    pat_reach_free(reach);
    agreed();
    beside_a_barrier();
    gathers("0");
    gathers("1");
    not_allowed();
    MPI_Finalize();
    return test.failures ? 1 : 0;
}
