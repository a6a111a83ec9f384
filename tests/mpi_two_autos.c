/*
 * mpi_two_autos.c — all-gathers and all-reduces in turn, each by an algorithm that chooses, in no order that one could guess, where milestones
 * announce some calls and are missing before others, on all ranks or on one: estimates of one collective's calls and what ranks tell each other of
 * the other one's measured calls go their ways apart, and results are right. A made-up calibration has relay about as fast as the MPI library
 * and converge ahead of it, so that both go by estimates.
 *
 * ranks: 2 3
 */
#include "mpi_calibrated.h"

enum { BYTES = 20000, MOST = 100000, CALLS = 160, WARM = 30 };

static char path[] = "/tmp/pat-two-autos-XXXXXX";

static void write_calibration(void)
{
    pat_calibration c = made_up_calibration(NULL, 1000);
    c.num_points = 0;
    for (int ranks = 2; ranks <= 8; ranks++) {
        c.points[c.num_points++] = (pat_point){index_of("native"), ranks, BYTES, 1200.0 * (ranks - 1)};
        c.points[c.num_points++] = (pat_point){index_of("allreduce_native"), ranks, 4 * MOST, 30000};
    }
    c.fits[index_of("allreduce_converge")] =
        (pat_fit){.known = true, .alpha_us = 10, .beta_ns = 20, .rank = 2};
    pat_calibration_sort(&c);
    if (test.rank == 0 && pat_calibration_write(&c, path, false) != 0)
        test_fail("%s cannot be written", path);
}

/* The same on all ranks, but for whether this one gives milestones. Returns how many calls were announced here. */
static int64_t calls(uint32_t seed, bool milestones)
{
    const int64_t before = counters().estimates;
    for (int i = 0; i < CALLS; i++) {
        seed = seed * 1103515245 + 12345;
        const double ms = test.rank == test.size - 1 ? 12 : 3 + test.rank;
        test_at("call %d", i);
        if (milestones && (i < WARM || seed >> 24 & 1 || test.rank != test.size / 2))
            phase(ms, 2, 200 / ms);
        else
            sleep_ms(ms);
        if (i < WARM || (seed >> 16) % 3 > 0)
            gather_bytes(MPI_COMM_WORLD, BYTES, seed | 1);
        else
            sum_ints(MPI_COMM_WORLD, seed >> 20 & 1 ? MOST : MOST / 2, i);
    }
    return counters().estimates - before;
}

int main(int argc, char **argv)
{
    if (!test_mpi_init(&argc, &argv, MPI_THREAD_MULTIPLE)) {
        MPI_Finalize();
        return 77;
    }
    test_limit(120);
    layouts_make();
    make_calibration_file(path, sizeof(path));
    setenv("PAT_LINK", "10,1000", 1);
    write_calibration();
    MPI_Barrier(MPI_COMM_WORLD);
    MUST(PAT_Init());
    int64_t announced = calls(1, true);
    MPI_Allreduce(MPI_IN_PLACE, &announced, 1, MPI_INT64_T, MPI_MAX, MPI_COMM_WORLD);
    if (announced == 0)
        test_fail("no call was announced");
    calls(2, false);
    calls(3, true);
    if (test.rank == 0)
        unlink(path);
    layouts_free();
    return test_end();
}
