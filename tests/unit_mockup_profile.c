/*
 * unit_mockup_profile.c — profiles of mock-ups: what is read from one, and that whatever is wrong in it is told with its line, its value
 * and what is accepted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mockup_own.h"
#include "mockup_profile.h"

static bool knows(const char *collective, const char *alg)
{
    if (strcmp(collective, "MPI_Bcast") != 0)
        return false;
    return !alg || strcmp(alg, "default") == 0 || strcmp(alg, "bcast_as_allgatherv") == 0 ||
           strcmp(alg, "bcast_as_scatter_allgather") == 0;
}

static const char good[] = "# a comment\n"
                           "#\n"
                           "MPI_Bcast\n"
                           "8\n"
                           "4\n"
                           "0 default\n"
                           "10 pat_bcast_chain\n"
                           "7 bcast_as_allgatherv\n"
                           "2 bcast_as_scatter_allgather\n"
                           "5\n"
                           "0 0 7\n"
                           "50 99 10\n"
                           "100 200 2\n"
                           "150 300 7\n"
                           "4096 9223372036854775807 0\n";

static void what_is_read(void **state)
{
    (void)state;
    pat_mockup_profile p;
    char why[256];
    assert_true(pat_mockup_profile_read(&p, good, strlen(good), knows, why, sizeof(why)));
    assert_string_equal(p.collective, "MPI_Bcast");
    assert_int_equal(p.ranks, 8);
    const struct {
        int64_t bytes;
        const char *alg;
    } cases[] = {{0, "bcast_as_allgatherv"},
                 {1, NULL},
                 {49, NULL},
                 {99, "pat_bcast_chain"},
                 {100, "bcast_as_scatter_allgather"},
                 {200, "bcast_as_scatter_allgather"}, /* the first range counts, and its end is within */
                 {201, "bcast_as_allgatherv"},
                 {300, "bcast_as_allgatherv"},
                 {301, NULL},
                 {4096, "default"},
                 {INT64_MAX, "default"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const int alg = pat_mockup_profile_alg(&p, cases[i].bytes);
        assert_int_equal(alg >= 0, cases[i].alg != NULL);
        if (cases[i].alg)
            assert_string_equal(p.algs[alg], cases[i].alg);
    }
    pat_mockup_profile_free(&p);
}

/* With carriage returns, tabs, blank lines, comments in between and without an end of the last line. */
static void other_ways_to_write(void **state)
{
    (void)state;
    pat_mockup_profile p;
    char why[256];
    const char text[] = "MPI_Bcast\r\n\r\n  8\t\r\n1\n# in between\n1\tbcast_as_allgatherv\n\n1\n 5  6 1";
    assert_true(pat_mockup_profile_read(&p, text, strlen(text), knows, why, sizeof(why)));
    assert_int_equal(pat_mockup_profile_alg(&p, 6), 0);
    assert_string_equal(p.algs[0], "bcast_as_allgatherv");
    pat_mockup_profile_free(&p);
}

static void what_is_wrong(void **state)
{
    (void)state;
#define HEAD "MPI_Bcast\n8\n"
#define ONE  HEAD "1\n1 bcast_as_allgatherv\n"
    static const char *const cases[][2] = {
        {"", "line 1: the file ends; accepted: the name of a collective that has mock-ups, as MPI_Bcast"},
        {"# nothing\n", "line 1: the file ends"},
        {"MPI_Barrier\n8\n", "line 1: \"MPI_Barrier\": accepted: the name of a collective"},
        {"MPI_Bcast 8\n", "line 1: \"MPI_Bcast 8\": accepted: the name of a collective"},
        {"MPI_Bcast\n", "line 1: the file ends; accepted: the number of ranks"},
        {"MPI_Bcast\n0\n", "line 2: \"0\": accepted: a whole number from 1 to 2147483647"},
        {"MPI_Bcast\n-8\n", "line 2: \"-8\": accepted: a whole number from 1"},
        {"MPI_Bcast\n8.5\n", "line 2: \"8.5\""},
        {"MPI_Bcast\n0x8\n", "line 2: \"0x8\""},
        {"MPI_Bcast\n99999999999999999999999\n", "line 2: \"99999999999999999999999\""},
        {"MPI_Bcast\n8 ranks\n", "line 2: \"8 ranks\": accepted: the number of ranks"},
        {HEAD "0\n", "line 3: \"0\": accepted: a whole number from 1 to 64"},
        {HEAD "65\n", "line 3: \"65\": accepted: a whole number from 1 to 64"},
        {HEAD "1\nbcast_as_allgatherv\n",
         "line 4: \"bcast_as_allgatherv\": accepted: the number of an algorithm and its name"},
        {HEAD "1\n1 bcast_as_reduce\n", "line 4: \"bcast_as_reduce\": accepted: default, or the name of a "
                                        "mock-up of MPI_Bcast, pat_bcast_linear, "
                                        "pat_bcast_chain"},
        /* PAT's own: of this collective, not those that choose, and not the MPI library's. */
        {HEAD "1\n1 pat_ring\n", "line 4: \"pat_ring\": accepted: default, or"},
        {HEAD "1\n1 pat_bcast_auto\n", "line 4: \"pat_bcast_auto\": accepted: default, or"},
        {HEAD "1\n1 pat_bcast_native\n", "line 4: \"pat_bcast_native\": accepted: default, or"},
        {HEAD "1\n1 bcast_chain\n", "line 4: \"bcast_chain\": accepted: default, or"},
        {HEAD "1\n1 pat_\n", "line 4: \"pat_\": accepted: default, or"},
        {HEAD "2\n1 default\n1 bcast_as_allgatherv\n",
         "line 5: \"1\": accepted: a number that no algorithm before has"},
        {HEAD "2\n1 default\n", "line 4: the file ends; accepted: the number of an algorithm"},
        {ONE "0\n", "line 5: \"0\": accepted: a whole number from 1 to 4096"},
        {ONE "4097\n", "line 5: \"4097\""},
        {ONE "1\n1 2\n", "line 6: \"1 2\": accepted: the first and the last byte of a range"},
        {ONE "1\n1 2 3 4\n", "line 6: \"1 2 3 4\": accepted: the first and the last byte"},
        {ONE "1\n5 4 1\n", "line 6: \"4\": accepted: a whole number from 5 to"},
        {ONE "1\n4 9223372036854775808 1\n", "line 6: \"9223372036854775808\""},
        {ONE "1\n4 5 2\n", "line 6: \"2\": accepted: the number of one of the algorithms above"},
        {ONE "2\n4 5 1\n", "line 6: the file ends; accepted: the first and the last byte"},
        {ONE "1\n4 5 1\n6 7 1\n", "line 7: \"6 7 1\": accepted: nothing after the last range"},
        {"MPI_Bcast\033[2J\n", "line 1: \"MPI_Bcast?[2J\""},
        {"MPI_Bcast_and_so_on_and_so_on_and_so_on_and_so_on_and_so_on_and_so_on_and_on\n8\n",
         "line 1: \"MPI_Bcast_and_so_on_and_so_on_and_so_on_and_...\""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        pat_mockup_profile p;
        char why[256] = "";
        assert_false(pat_mockup_profile_read(&p, cases[i][0], strlen(cases[i][0]), knows, why, sizeof(why)));
        if (!strstr(why, cases[i][1]))
            fail_msg("expected \"%s\", got \"%s\"", cases[i][1], why);
        assert_null(p.ranges);
    }
    pat_mockup_profile p;
    char why[512];
    const char text[] = HEAD "1\n1 pat_ring\n";
    assert_false(pat_mockup_profile_read(&p, text, strlen(text), knows, why, sizeof(why)));
    assert_string_equal(why, "line 4: \"pat_ring\": accepted: default, or the name of a mock-up of "
                             "MPI_Bcast, pat_bcast_linear, pat_bcast_chain, "
                             "pat_bcast_kchain, pat_bcast_binary, pat_bcast_split, pat_bcast_binomial");
}

/* What goes by arrivals, or moves data before the call, is not for calls of some lengths. */
static void own_algorithms(void **state)
{
    (void)state;
    char names[256];
    assert_string_equal(pat_mockup_own_names("MPI_Allgather", names, sizeof(names)),
                        ", pat_direct, pat_bruck, pat_ring, pat_nex, pat_lnbc");
    assert_string_equal(pat_mockup_own_names("MPI_Scan", names, sizeof(names)), "");
    assert_string_equal(pat_mockup_own_names("MPI_Allgather", names, 8),
                        ", pat_d"); /* whatever room there is */
    assert_string_equal(pat_mockup_own("MPI_Reduce_scatter_block", "pat_reduce_scatter_halving")->name,
                        "reduce_scatter_halving");
    static const char *const none[][2] = {{"MPI_Allgather", "pat_relay"},
                                          {"MPI_Allgather", "pat_bdr"},
                                          {"MPI_Allgather", "pat_auto"},
                                          {"MPI_Allgather", "ring"},
                                          {"MPI_Allgatherv", "pat_ring"},
                                          {"MPI_Gather", "pat_gather_bsls"},
                                          {"MPI_Allreduce", "pat_allreduce_converge"},
                                          {"MPI_Scan", "pat_ring"}};
    for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++)
        assert_null(pat_mockup_own(none[i][0], none[i][1]));
}

/* A name with a zero byte is no name, though what comes before it is. */
static void zero_byte(void **state)
{
    (void)state;
    pat_mockup_profile p;
    char why[256];
    const char text[] = "MPI_Bcast\0x\n8\n";
    assert_false(pat_mockup_profile_read(&p, text, sizeof(text) - 1, knows, why, sizeof(why)));
    assert_non_null(strstr(why, "line 1"));
}

/* Whatever is made of a good file: it is read or refused with a line, and nothing beside the text is touched (under the sanitizers). */
static void made_up(void **state)
{
    (void)state;
    const size_t length = strlen(good);
    uint32_t x = 1;
    for (int round = 0; round < 20000; round++) {
        const size_t kept = round % 2 ? length : (size_t)round / 2 % (length + 1);
        char *text = malloc(kept + 1), why[256] = "";
        assert_non_null(text);
        memcpy(text, good, kept);
        for (int i = 0; i < round % 5 && kept; i++) {
            x = x * 1664525u + 1013904223u;
            text[x % kept] = (char)(x >> 24);
        }
        char *exact = realloc(text, kept ? kept : 1);
        pat_mockup_profile p;
        if (pat_mockup_profile_read(&p, exact, kept, knows, why, sizeof(why)))
            pat_mockup_profile_free(&p);
        else
            assert_true(strncmp(why, "line ", 5) == 0);
        free(exact);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(what_is_read),  cmocka_unit_test(other_ways_to_write),
                                       cmocka_unit_test(what_is_wrong), cmocka_unit_test(own_algorithms),
                                       cmocka_unit_test(zero_byte),     cmocka_unit_test(made_up)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
