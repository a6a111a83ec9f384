/*
 * mpi_one_node.c — ranks that share a node, where no socket tells of a message: whoever is late has the others' data when it calls, whether
 * MPI sends a block at once or asks first, and however long all have computed before.
 *
 * ranks: 2 3
 */
#include "mpi_common.h"

enum { CALLS = 6, TRIES = 3 };

/* Rank 0 is late in every call. Returns in how many of them it receives something early. */
static int early_calls(int bytes, uint32_t seed)
{
    int early = 0;
    for (int call = 0; call < CALLS; call++) {
        sleep_ms(test.rank == 0 ? 145 : 110);
        const int64_t before = counters().bytes_early;
        gather_once(MPI_COMM_WORLD, &layouts[LAYOUT_BYTES], &layouts[LAYOUT_BYTES], bytes, false,
                    seed + (uint32_t)call);
        early += counters().bytes_early > before;
    }
    MPI_Bcast(&early, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return early;
}

int main(int argc, char **argv)
{
    static const int bytes[] = {3000, 24000, 64000, 350000};
    test_begin(&argc, &argv);
    layouts_make();
    use_alg("relay");
    for (int i = 0; i < 4; i++) {
        int early = 0;
        test_at("blocks of %d bytes", bytes[i]);
        /* A busy machine may keep the thread waiting. */
        for (int run = 0; run < TRIES && early < CALLS / 2; run++)
            early += early_calls(bytes[i], (uint32_t)(i * TRIES + run) * CALLS);
        if (early == 0)
            test_fail("rank 0 receives nothing early");
    }
    layouts_free();
    return test_end();
}
