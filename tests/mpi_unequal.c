/*
 * mpi_unequal.c — all-gathers of blocks of different lengths, byte for byte: every algorithm, datatypes with gaps,
 * MPI_IN_PLACE, blocks in another order and with holes between them, blocks of nothing, lengths that repeat, change, and
 * alternate with calls whose blocks are alike; with milestones, so that rounds are prepared for lengths that come or do not.
 *
 * ranks: 1 2 3 4 5 8 9 13
 */
#include "mpi_common.h"

enum { MOST_RANKS = 64, KINDS = 6 };

typedef struct blocks {
    int units[MOST_RANKS]; /* of UNIT packed bytes */
    bool turned, holes;    /* in the receive buffer: last rank's block first; something between them */
} blocks;

static int drawn(uint32_t *state, int below)
{
    *state = *state * 1664525u + 1013904223u;
    return (int)((*state >> 8) % (uint32_t)below);
}

/* The same on all ranks. */
static blocks blocks_draw(uint32_t *state, int kind, int most)
{
    blocks b = {.turned = drawn(state, 4) == 0, .holes = drawn(state, 3) == 0};
    const int one = drawn(state, test.size);
    for (int r = 0; r < test.size; r++) {
        int units = drawn(state, most + 1);
        switch (kind) {
        case 1: /* many have nothing */
            units = drawn(state, 2) ? 0 : units;
            break;
        case 2: /* one has everything */
            units = r == one ? most : 0;
            break;
        case 3: /* a remainder */
            units = most - (r > one);
            break;
        case 4: /* all have some, so that arrivals travel */
            units = 1 + units;
            break;
        case 5: /* alike after all */
            units = most;
            break;
        }
        b.units[r] = units;
    }
    return b;
}

/* One call and what must be there after it. */
static void call(const blocks *b, const layout *sl, const layout *rl, bool in_place, uint32_t seed)
{
    int counts[MOST_RANKS], displs[MOST_RANKS], items = 0;
    for (int k = 0; k < test.size; k++) {
        const int r = b->turned ? test.size - 1 - k : k;
        counts[r] = b->units[r] * UNIT / rl->item_bytes;
        displs[r] = items;
        items += counts[r] + (b->holes ? 1 + k % 3 : 0);
    }
    const int sent = b->units[test.rank] * UNIT / sl->item_bytes;
    const size_t send_size = (size_t)sent * (size_t)sl->extent + 2 * GUARD;
    const size_t recv_size = (size_t)items * (size_t)rl->extent + 2 * GUARD;
    unsigned char *send = malloc(send_size), *recv = malloc(recv_size), *want = malloc(recv_size);
    if (!send || !recv || !want)
        must("memory for the test's buffers", MPI_ERR_NO_MEM);
    memset(send, 0xA5, send_size);
    memset(recv, 0x5A, recv_size);
    memset(want, 0x5A, recv_size);
    gather_put(send, sl, 0, sent, seed, test.rank);
    for (int r = 0; r < test.size; r++)
        gather_put(want, rl, displs[r], counts[r], seed, r);
    if (in_place)
        gather_put(recv, rl, displs[test.rank], counts[test.rank], seed, test.rank);
    MUST(PAT_Allgatherv(in_place ? MPI_IN_PLACE : send + GUARD, sent, sl->type, recv + GUARD, counts, displs,
                        rl->type, MPI_COMM_WORLD));
    memset(send, 0xEE, send_size); /* the program's again */
    for (size_t i = 0; i < recv_size; i++)
        if (recv[i] != want[i]) {
            test_fail("seed %u, %s to %s%s%s%s: receive buffer byte %td: expected %02x, got %02x",
                      (unsigned)seed, sl->name, rl->name, in_place ? ", in place" : "",
                      b->turned ? ", turned" : "", b->holes ? ", holes" : "", (ptrdiff_t)i - GUARD, want[i],
                      recv[i]);
            break;
        }
    free(send);
    free(recv);
    free(want);
}

/*
 * Ranks describe the same bytes differently. Open MPI 4 chooses its algorithm by the size of the send type times the
 * receive counts, which then differs from rank to rank, and hangs: not where it may be the one to run the call.
 */
static const layout *some_layout(int turn, bool may_mix)
{
    return &layouts[LAYOUT_INT + (may_mix ? turn + test.rank : 3) % (NUM_LAYOUTS - LAYOUT_INT)];
}

static void sometimes_late(uint32_t *state)
{
    const int late = drawn(state, test.size), ms = drawn(state, 4);
    if (ms == 3)
        phase(test.rank == late ? 3 : 0.2, 0.1, 25 + 50.0 * (test.rank == late));
    else if (ms == 2 && test.rank == late)
        sleep_ms(2);
}

static void all_kinds(const char *alg, uint32_t *state)
{
    const layout *bytes = &layouts[LAYOUT_BYTES];
    const bool may_mix = strcmp(alg, "auto") != 0 && strcmp(alg, "native") != 0;
    uint32_t seed = 0;
    for (int kind = 0; kind < KINDS; kind++) {
        const int most = kind % 2 ? 40 : 3000;
        blocks b = blocks_draw(state, kind, most);
        for (int i = 0; i < 9; i++) {
            if (i == 6) /* others, after some calls with the same */
                b = blocks_draw(state, kind, most);
            test_at("%s, kind %d, call %d", alg, kind, i);
            sometimes_late(state);
            if (i % 4 == 3)
                gather_bytes(MPI_COMM_WORLD, 12 * most, ++seed);
            else if (i % 2)
                call(&b, some_layout(i, may_mix), some_layout(kind + 2 * i, may_mix), i % 3 == 0, ++seed);
            else
                call(&b, bytes, bytes, i % 3 == 0, ++seed);
        }
    }
}

/*
 * The choice is by bytes, which are the same on all ranks, and not by items, which are not: one of 100000 bytes here, 100000 of
 * one byte there. Ranks that judge differently do not meet.
 */
static void few_long_items(const char *alg)
{
    enum { LONG = 100000 };
    int counts[MOST_RANKS], displs[MOST_RANKS];
    MPI_Datatype type = MPI_BYTE;
    const int units = test.rank % 2 ? LONG : 1;
    char *out = malloc(LONG), *in = malloc((size_t)LONG * 2);
    if (!out || !in)
        must("memory for the test's buffers", MPI_ERR_NO_MEM);
    if (units == 1)
        MPI_Type_contiguous(LONG, MPI_BYTE, &type);
    MPI_Type_commit(&type);
    for (int r = 0; r < test.size; r++) {
        counts[r] = r < 2 ? units : 0;
        displs[r] = r < 2 ? r * units : 0;
    }
    use_alg(alg);
    test_at("few long items, %s", alg);
    const PAT_Counters before = counters();
    for (int i = 0; i < 4; i++) {
        memset(out, 'a' + i + test.rank, LONG);
        memset(in, 0, (size_t)LONG * 2);
        MUST(PAT_Allgatherv(out, counts[test.rank], type, in, counts, displs, type, MPI_COMM_WORLD));
        for (int r = 0; r < 2 && r < test.size; r++)
            if (in[r * LONG] != 'a' + i + r || in[r * LONG + LONG - 1] != 'a' + i + r)
                test_fail("call %d, the block of rank %d is wrong", i, r);
    }
    const PAT_Counters after = counters();
    if (test.size > 1 && strcmp(alg, "relay") == 0 && after.bytes_received == before.bytes_received)
        test_fail("no plan has run any of them");
    if (units == 1)
        MPI_Type_free(&type);
    free(out);
    free(in);
}

static void by_plans(const char *alg, const PAT_Counters *before)
{
    const PAT_Counters after = counters();
    const bool own = strcmp(alg, "auto") != 0 && strcmp(alg, "native") != 0 && test.size > 1;
    for (int i = 0; i < after.num_algs && own; i++)
        if (strcmp(after.alg_name[i], "native") == 0 &&
            after.alg_calls[i] - before->alg_calls[i] > (after.calls - before->calls) / 3)
            test_fail("%s: %lld of %lld calls left to MPI", alg,
                      (long long)(after.alg_calls[i] - before->alg_calls[i]),
                      (long long)(after.calls - before->calls));
}

static void nothing_at_all(void)
{
    int none[MOST_RANKS] = {0};
    test_at("all blocks empty");
    MUST(PAT_Allgatherv(NULL, 0, MPI_INT, NULL, none, none, MPI_INT, MPI_COMM_WORLD));
    MUST(PAT_Allgatherv(MPI_IN_PLACE, 0, MPI_INT, NULL, none, none, MPI_INT, MPI_COMM_WORLD));
}

/* MPI's own verdict, on all ranks alike. */
static void wrong_arguments(void)
{
    int counts[MOST_RANKS], displs[MOST_RANKS] = {0};
    char at[4] = {0}, to[4 * MOST_RANKS];
    for (int r = 0; r < test.size; r++)
        counts[r] = 4;
    test_at("wrong arguments");
    expect_error("no communicator", MPI_ERR_COMM,
                 PAT_Allgatherv(at, 4, MPI_BYTE, to, counts, displs, MPI_BYTE, MPI_COMM_NULL), NULL);
    expect_error("no type", MPI_ERR_TYPE,
                 PAT_Allgatherv(at, 4, MPI_BYTE, to, counts, displs, MPI_DATATYPE_NULL, MPI_COMM_WORLD),
                 NULL);
}

int main(int argc, char **argv)
{
    const alg_list algs = algs_of(PAT_OP_ALLGATHER, alg_is_any);
    uint32_t state = 7;
    setenv("PAT_LINK", "10,20", 1);
    test_begin_on_nodes(&argc, &argv);
    layouts_make();
#ifdef OPEN_MPI /* MPICH's own all-gather gives wrong blocks here, and auto may leave the call to it */
    few_long_items("auto");
#endif
    few_long_items("relay");
    for (int a = 0; a < algs.num; a++) {
        use_alg(algs.names[a]);
        const PAT_Counters before = counters();
        all_kinds(algs.names[a], &state);
        nothing_at_all();
        by_plans(algs.names[a], &before);
    }
    wrong_arguments();
    layouts_free();
    return test_end();
}
