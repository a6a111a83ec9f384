/*
 * unit_explain.c — what PAT_EXPLAIN tells a person on the standard error: the figures that a choice was made by, the choice, and the
 * reason where there are no figures.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "explain.h"

static FILE *written;
static int standard_error;

/* From here on to said() the standard error goes to a file. */
static void hear(void)
{
    written = tmpfile();
    standard_error = dup(STDERR_FILENO);
    assert_non_null(written);
    assert_true(standard_error >= 0);
    dup2(fileno(written), STDERR_FILENO);
}

static void said(const char *expected)
{
    char text[1000];
    fflush(stderr);
    dup2(standard_error, STDERR_FILENO);
    close(standard_error);
    rewind(written);
    text[fread(text, 1, sizeof(text) - 1, written)] = '\0';
    fclose(written);
    assert_string_equal(text, expected);
}

static const pat_algorithm *relay(void)
{
    return pat_algorithm_find("relay");
}

/* All that calibration knows of the collective, in the order of the table; what it does not know is left out. */
static void choice_by_calibration(void **state)
{
    pat_calibration c = {.ranks = 4, .num_points = 1};
    const pat_outlook o = {.native_us = 300, .relay_us = 450.5, .contender = relay()};
    const pat_contest contest = {
        4, 300, 2, {{pat_algorithm_find("ring"), 470, 0}, {relay(), 450.5, 0}}, NULL};
    (void)state;
    c.fits[relay() - pat_algorithm_at(0)] = (pat_fit){.known = true, .alpha_us = 10, .beta_ns = 1, .rank = 2};
    c.points[0] = (pat_point){(int)(pat_algorithm_find("native") - pat_algorithm_at(0)), 4, 90000, 400};
    hear();
    pat_explain(&c, PAT_OP_ALLGATHER, 4, 90000, relay());
    pat_explain(&c, PAT_OP_BCAST, 4, 90000, pat_algorithm_find("bcast_native"));
    said("PAT: 4 ranks, 90000 bytes: native 400.0 us, relay 300.0 us (least), so relay\n"
         "PAT: 4 ranks, 90000 bytes: so bcast_native\n");
    hear();
    for (enum pat_verdict v = PAT_RELAY_NEVER; v <= PAT_RELAY_BY_ARRIVALS; v++)
        pat_explain_arrivals(&o, &contest, 90000, v);
    const pat_outlook by_ring = {.native_us = 300, .relay_us = 200, .contender = pat_algorithm_find("ring")};
    const pat_contest fast_ring = {4, 300, 2, {{by_ring.contender, 200, 0}, {relay(), 450.5, 0}}, NULL};
#define FIGURES "PAT: 4 ranks, 90000 bytes, all at once: native 300.0 us, ring 470.0 us, relay 450.5 us, so "
    said(FIGURES "native\n" FIGURES "relay\n" FIGURES "native, and relay when they come apart\n");
    hear();
    pat_explain_arrivals(&by_ring, &fast_ring, 90000, PAT_RELAY_BY_ARRIVALS);
    said("PAT: 4 ranks, 90000 bytes, all at once: native 300.0 us, ring 200.0 us, relay 450.5 us, so ring, "
         "and relay when they come apart\n");
}

/* A message of less than two segments, an odd number of ranks, and segments that are longer than what goes without asking. */
static void what_runs_otherwise_than_its_name_says(void **state)
{
    const pat_algorithm *split = pat_algorithm_find("bcast_split"),
                        *chain = pat_algorithm_find("bcast_chain");
    pat_calibration c = {.ranks = 4};
    (void)state;
    c.fits[chain - pat_algorithm_at(0)] = c.fits[split - pat_algorithm_at(0)] =
        (pat_fit){.known = true, .alpha_us = 10, .beta_ns = 0, .rank = 2};
    hear();
    pat_explain(&c, PAT_OP_BCAST, 4, 2 * PAT_SEGMENT_BYTES - 1, chain);
    pat_explain(&c, PAT_OP_BCAST, 4, 2 * PAT_SEGMENT_BYTES, chain);
    pat_explain_falls_back(split, chain, &(pat_job){.num_ranks = 4, .block_bytes = 8192});
    pat_explain_waits(4, 8192, 3840);
    said("PAT: 4 ranks, 16383 bytes: bcast_chain 40.0 us (least), bcast_split as bcast_chain 40.0 us, so "
         "bcast_chain\n"
         "PAT: 4 ranks, 16384 bytes: bcast_chain 40.0 us (least), bcast_split 50.0 us, so bcast_chain\n"
         "PAT: 4 ranks, 8192 bytes: bcast_split falls back on bcast_chain\n"
         "PAT: 4 ranks: segments of 8192 bytes wait for their receivers inside a node, where the MPI library "
         "sends up to "
         "3840 without asking\n");
}

/* Without a calibration: who runs calls from now on and by which measurements, or why nobody but the MPI library does. */
static void choice_by_measurement(void **state)
{
    const pat_terms terms = {.verdict = PAT_RELAY_ALWAYS, .block_ns = 1000000, .least_ns = 3000000};
    pat_profile p = {.bytes = 65536, .in_use = PAT_BY_RELAY, .used = true};
    (void)state;
    hear();
    pat_explain_change(&p, &terms, relay(), 4);
    p.num_past[PAT_BY_MPI] = p.num_past[PAT_BY_RELAY] = 1;
    p.past_ns[PAT_BY_MPI][0] = 2000000;
    p.past_ns[PAT_BY_RELAY][0] = 1500500;
    pat_explain_change(&p, &terms, relay(), 4);
    pat_explain_left(2, PAT_WHY_NO_THREAD, false);
    pat_explain_left(2, PAT_WHY_ONE_NODE, false);
    pat_explain_left(3, PAT_WHY_ONE_NODE, true);
    pat_explain_left(2, PAT_WHY_ORDER, false);
    said("PAT: 4 ranks, 65536 bytes: so relay from now on (long blocks)\n"
         "PAT: 4 ranks, 65536 bytes: native was measured to take 2000.0 us after the last rank called, relay "
         "was measured to take "
         "1500.5 us after the last rank called, so relay from now on (measured: faster)\n"
         "PAT: 2 ranks: all-gathers are left to the MPI library (no background thread)\n"
         "PAT: 2 ranks: collectives are left to the MPI library (ranks on one node)\n"
         "PAT: 3 ranks: collectives other than long all-gathers are left to the MPI library (ranks on one "
         "node)\n"
         "PAT: 2 ranks: reductions of floating-point numbers are left to the MPI library (order kept, see "
         "PAT_REORDER)\n");
}

static void what_arrivals_are_predicted_by(void **state)
{
    (void)state;
    hear();
    pat_explain_arrival(pat_algorithm_find("allreduce_converge"), 3, true);
    pat_explain_arrival(pat_algorithm_find("allreduce_converge"), 3, false);
    said("PAT: 3 ranks: allreduce_converge goes by when ranks came to the last calls, since none gives "
         "milestones\n"
         "PAT: 3 ranks: allreduce_converge goes by milestones\n");
}

/* Of what is stored for this machine: what a communicator takes, and why nothing else. */
static void stored(void **state)
{
    int ranks = 4;
    (void)state;
    hear();
    pat_explain_not_taken(NULL, "/s/c.json", "it is broken");
    pat_explain_taken(4, "/s/a.json");
    pat_explain_not_taken(&ranks, "/s/b.json", "it is of another network");
    said("PAT: no calibration from /s/c.json: it is broken\n"
         "PAT: 4 ranks: the calibration from /s/a.json\n"
         "PAT: 4 ranks: no calibration from /s/b.json: it is of another network\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_arrivals_are_predicted_by),
        cmocka_unit_test(choice_by_calibration),
        cmocka_unit_test(what_runs_otherwise_than_its_name_says),
        cmocka_unit_test(choice_by_measurement),
        cmocka_unit_test(stored),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
