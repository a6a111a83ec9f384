/*
 * mpi_bells.c — ranks of one node wake each other: a ring of rings in which a lost one would let its sleeper sleep for seconds; many that ring
 * one; what the library sends rings; ranks that do not meet because of one that cannot; and nothing is left behind, no descriptor, no mapping and no name.
 * ranks: 1 2 3 5 8
 */
#include <poll.h>
#include <sys/resource.h>

#include "bells_meet.h"
#include "mpi_common.h"
#include "tell.h"
#include "wire.h"

#define SECOND_MS 1000

/* How many names in a folder have `part` in them. */
static int entries(const char *folder, const char *part)
{
    int n = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));)
        n += e->d_name[0] != '.' && strstr(e->d_name, part);
    if (dir)
        closedir(dir);
    return n;
}

static bool is_mapped(const char *name)
{
    char line[512];
    bool is = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof(line), maps))
        is = is || strstr(line, name);
    if (maps)
        fclose(maps);
    return is;
}

/* Sleep until the bell is rung, as often as *rung says it was at the last look. Returns false after ten seconds. */
static bool sleeps_well(pat_bells *b, uint64_t *rung, bool heeds)
{
    bool woken = true;
    if (pat_bells_sleep(b, *rung, heeds)) {
        struct pollfd at = {.fd = pat_bells_fd(b), .events = POLLIN};
        woken = poll(&at, 1, 10 * SECOND_MS * test_slow()) > 0;
        pat_bells_awake(b, heeds, woken);
    }
    *rung = pat_bells_rung(b);
    return woken;
}

/* Each rank is rung by the one before it, and rings the next. */
static void goes_round(pat_bells *b, int rounds)
{
    uint64_t rung = pat_bells_rung(b);
    const uint64_t begun = rung;
    unsigned heard = 0;
    test_at("%d times round", rounds);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; i < rounds; i++) {
        if (test.rank == 0)
            pat_bells_ring(b, 1 % test.size, PAT_BELL_DATA);
        while ((heard = pat_bells_times(rung - begun, PAT_BELL_DATA)) <= (unsigned)i)
            if (!sleeps_well(b, &rung, true)) {
                test_fail("nobody has rung in ten seconds, after %u times", heard);
                return;
            }
        if (test.rank > 0)
            pat_bells_ring(b, (test.rank + 1) % test.size, PAT_BELL_DATA);
    }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* All ring the first rank, at any time, which heeds no data, and in between for data. */
static void many_ring_one(pat_bells *b, unsigned times)
{
    test_at("all ring the first rank");
    uint64_t rung = pat_bells_rung(b);
    const uint64_t begun = rung;
    const unsigned all = times * (unsigned)(test.size - 1);
    unsigned heard = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    for (unsigned i = 0; test.rank > 0 && i < times; i++) {
        pat_bells_ring(b, 0, PAT_BELL_DATA);
        pat_bells_ring(b, 0, PAT_BELL_WORD);
    }
    while (test.rank == 0 && (heard = pat_bells_times(rung - begun, PAT_BELL_WORD)) < all)
        if (!sleeps_well(b, &rung, false)) {
            test_fail("asleep after %u of %u", heard, all);
            return;
        }
    MPI_Barrier(MPI_COMM_WORLD);
}

/* One rank may open so many files and no more, too few: then nobody has bells, and nobody waits. */
static void not_without_one(int who, int files)
{
    struct rlimit limit, few;
    pat_bells *b;
    test_at("rank %d may open %d files", who, files);
    getrlimit(RLIMIT_NOFILE, &limit);
    const int next = dup(0);
    close(next);
    few = limit;
    few.rlim_cur = (rlim_t)(next + files);
    if (test.rank == who)
        setrlimit(RLIMIT_NOFILE, &few);
    MUST(pat_bells_meet(MPI_COMM_WORLD, &b));
    setrlimit(RLIMIT_NOFILE, &limit);
    if (b)
        test_fail("has bells");
    pat_bells_free(b);
}

/* What ranks tell each other rings whoever it is told. */
static void rings_who_is_told(const pat_mates *mates)
{
    const pat_tellers who = {MPI_COMM_WORLD, 1, test.rank, test.size, *mates};
    pat_tell tell;
    int all[64];
    const uint64_t before = pat_bells_rung(mates->bells);
    bool moved = false, done = false;
    test_at("ranks tell each other something");
    if (pat_tell_init(&tell, &who, sizeof(int)) != 0)
        test_fail("no memory");
    MPI_Barrier(MPI_COMM_WORLD);
    MUST(pat_tell_begin(&tell, &test.rank));
    while (!done)
        MUST(pat_tell_test(&tell, all, &moved, &done));
    MPI_Barrier(MPI_COMM_WORLD);
    int told = 0; /* in steps, in each of which what is known doubles */
    for (int known = 1; known < test.size; known *= 2)
        told++;
    expect_int("rings by what was told", told,
               pat_bells_times(pat_bells_rung(mates->bells) - before, PAT_BELL_WORD));
    pat_tell_free(&tell);
}

/* A message rings its receiver, and its end there the sender. */
static void rings_both_ends(const pat_mates *mates)
{
    const int next = (test.rank + 1) % test.size, last = (test.rank + test.size - 1) % test.size;
    char out[8] = "1234567", in[8] = "";
    const pat_message_data from = {{out, NULL}, {8, 0}}, to = {{in, NULL}, {8, 0}};
    const uint64_t before = pat_bells_rung(mates->bells);
    pat_wire wire;
    test_at("a message to the next rank");
    if (!pat_wire_make(&wire, MPI_COMM_WORLD, 2, 2))
        test_fail("no memory");
    wire.mates = *mates;
    MPI_Barrier(MPI_COMM_WORLD);
    MUST(pat_wire_recv(&wire, 0, last, 0, &to));
    MUST(pat_wire_send(&wire, 1, next, 0, &from, true));
    for (int over = 0, count; over < 2; over += count) {
        MUST(pat_wire_test(&wire, true, &count));
        pat_wire_compact(&wire);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    expect_int("rings by two messages", 2,
               pat_bells_times(pat_bells_rung(mates->bells) - before, PAT_BELL_DATA));
    if (strcmp(in, out) != 0)
        test_fail("wrong bytes");
    pat_wire_free(&wire);
}

/* By whoever sends through the library, to all ranks of the node and to nobody else. */
static void library_rings(pat_bells *b)
{
    int mate_of[64];
    for (int r = 0; r < test.size; r++)
        mate_of[r] = r;
    rings_who_is_told(&(pat_mates){b, NULL, mate_of});
    rings_both_ends(&(pat_mates){b, NULL, mate_of});
    for (int r = 0; r < test.size; r++)
        mate_of[r] = -1; /* as if all were on other nodes */
    const uint64_t before = pat_bells_rung(b);
    pat_mates_ring(&(pat_mates){b, NULL, mate_of}, (test.rank + 1) % test.size, PAT_BELL_WORD);
    pat_mates_ring(&(pat_mates){NULL, NULL, NULL}, 0, PAT_BELL_WORD);
    MPI_Barrier(MPI_COMM_WORLD);
    expect_int("rings by ranks of other nodes", 0, (int64_t)(pat_bells_rung(b) - before));
}

int main(int argc, char **argv)
{
    pat_bells *b;
    if (!test_mpi_init(&argc, &argv, MPI_THREAD_SINGLE))
        return 77;
    MPI_Barrier(MPI_COMM_WORLD);
    const int files = entries("/proc/self/fd", "");
    test_at("meeting");
    MUST(pat_bells_meet(MPI_COMM_WORLD, &b));
    if ((b != NULL) != (test.size > 1))
        test_fail("%s bells", b ? "has" : "has no");
    if (b) {
        goes_round(b, 2000);
        many_ring_one(b, 20000);
        library_rings(b);
        for (int r = 0; r < test.size; r++)
            for (int few = 0; few < 4; few++)
                not_without_one(r, few);
    }
    test_at("the end");
    expect_int("names in /dev/shm", 0, entries("/dev/shm", "pat-bells"));
    pat_bells_free(b);
    expect_int("open files", files, entries("/proc/self/fd", ""));
    if (is_mapped("pat-bells"))
        test_fail("memory of the bells is still mapped");
    MPI_Finalize();
    return test.failures ? 1 : 0;
}
