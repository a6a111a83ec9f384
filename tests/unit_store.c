/*
 * unit_store.c — the store of calibrations: where it is, whose word counts there, which of its files are of this machine, which one is
 * taken for a link, and which one a new measurement goes on with.
 */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "store.h"

static char top[] = "/tmp/pat-store-XXXXXX", store[64];

static const char *cache_home, *home;

static const char *get(const char *name)
{
    return strcmp(name, "XDG_CACHE_HOME") == 0 ? cache_home : strcmp(name, "HOME") == 0 ? home : NULL;
}

/* NULL: there is no such place. */
static const char *place(const char *cache, const char *house)
{
    static char path[40];
    cache_home = cache;
    home = house;
    return pat_store_find(get, path, sizeof(path)) ? path : NULL;
}

static void path_rule(void **state)
{
    (void)state;
    assert_string_equal(place("/var/cache/me", "/home/me"), "/var/cache/me/pat");
    assert_string_equal(place("/var/cache/me", NULL), "/var/cache/me/pat");
    assert_string_equal(place(NULL, "/home/me"), "/home/me/.cache/pat");
    assert_string_equal(place("", "/home/me"), "/home/me/.cache/pat");
    assert_string_equal(place("cache", "/home/me"), "/home/me/.cache/pat");
    assert_string_equal(place("../cache", "/home/me"), "/home/me/.cache/pat");
    assert_null(place(NULL, NULL));
    assert_null(place("cache", ""));
    assert_null(place(NULL, "home"));
    assert_null(place("/a/path/that/is/longer/than/the/room/for/it", "/home/me"));
}

/* ---- Files -------------------------------------------------------------------------------------------- */

static const pat_machine here = {.cpu = "A processor", .mpi = "An MPI, v1", .pus = 4, .ranks_per_node = 2};

/* A time of each of the MPI library's own operations that one may have, but for this one (NULL: of all). */
static void put_times(pat_calibration *c, const char *but)
{
    c->num_points = 0;
    for (int a = 0; a < pat_algorithm_count(); a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        if (!alg->build && !alg->chooses && !(but && strcmp(alg->name, but) == 0))
            c->points[c->num_points++] = (pat_point){a, 2, 1000, 10};
    }
}

/* Measured with so many ranks, numbered so, over such a link, written at that second. The file's path is left in *path. */
static void put_numbered(const pat_machine *machine, int ranks, enum pat_numbering numbering, double mbit,
                         int second, char path[PAT_STORE_PATH])
{
    const struct timespec times[2] = {{.tv_sec = second}, {.tv_sec = second}};
    pat_calibration c = {.machine = *machine,
                         .ranks = ranks,
                         .numbering = numbering,
                         .link_us = 10,
                         .link_mbit = mbit,
                         .num_gammas = 1,
                         .gammas = {1}};
    put_times(&c, NULL);
    assert_true(pat_store_name(store, &c, path, PAT_STORE_PATH));
    assert_int_equal(pat_calibration_write(&c, path, true), 0);
    assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void put(const pat_machine *machine, int ranks, double mbit, int second, char path[PAT_STORE_PATH])
{
    put_numbered(machine, ranks, PAT_NODE_BY_NODE, mbit, second, path);
}

static void put_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* What is told of files: one line for each. */
static char told[4096];

static void listen(void *to, const char *path, const char *why)
{
    assert_ptr_equal(to, told);
    snprintf(told + strlen(told), sizeof(told) - strlen(told), "%s: %s\n", strrchr(path, '/') + 1, why);
}

static const pat_store_listener listener = {listen, told};

static int read_store(const pat_store_listener *who, pat_stored **all)
{
    told[0] = '\0';
    return pat_store_read(store, &here, who, all);
}

static int make_store(void **state)
{
    char why[200];
    (void)state;
    if (!mkdtemp(top))
        return -1;
    snprintf(store, sizeof(store), "%s/a/b/pat", top);
    return pat_store_make(store, why, sizeof(why)) == 0 ? 0 : -1;
}

static int remove_store(void **state)
{
    char command[100];
    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", top);
    strcpy(top + strlen(top) - 6, "XXXXXX");
    return system(command);
}

static void nobody_else_may_look(void **state)
{
    struct stat st;
    char above[64], why[200];
    (void)state;
    assert_int_equal(stat(store, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    snprintf(above, sizeof(above), "%s/a", top);
    assert_int_equal(stat(above, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(pat_store_make(store, why, sizeof(why)), 0); /* it is there already */
    snprintf(above, sizeof(above), "%s/file", top);
    put_text(above, "");
    snprintf(above, sizeof(above), "%s/file/pat", top);
    assert_int_not_equal(pat_store_make(above, why, sizeof(why)), 0);
    assert_non_null(strstr(why, "Not a directory"));
}

/* Only names are looked at, and only names that pat_store_name gives. */
static void names(void **state)
{
    char path[PAT_STORE_PATH], why[200];
    pat_stored *all;
    (void)state;
    assert_int_equal(pat_store_look("/nowhere/at/all", why, sizeof(why)), PAT_STORE_EMPTY);
    assert_int_equal(pat_store_look(store, why, sizeof(why)), PAT_STORE_EMPTY);
    static const char *const others[] = {"notes.json",          "0123456-x.json",  "01234567.json",
                                         "01234567-x.json.1-2", "0123456g-x.json", "01234567-x.txt"};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", store, others[i]);
        put_text(path, "{}");
    }
    assert_int_equal(pat_store_look(store, why, sizeof(why)), PAT_STORE_EMPTY);
    assert_int_equal(read_store(&listener, &all), 0);
    assert_string_equal(told, "");
    snprintf(path, sizeof(path), "%s/01234567-x.json", store);
    put_text(path, "");
    assert_int_equal(pat_store_look(store, why, sizeof(why)), PAT_STORE_HOLDS);
}

static void strangers(void **state)
{
    char path[PAT_STORE_PATH], why[200];
    pat_stored *all;
    (void)state;
    put(&here, 8, 1000, 1, path);
    static const mode_t open_to[] = {0720, 0702, 0777};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(chmod(store, open_to[i]), 0);
        assert_int_equal(pat_store_look(store, why, sizeof(why)), PAT_STORE_UNTRUSTED);
        assert_string_equal(why, "other users may write to the directory");
        assert_int_equal(read_store(&listener, &all), 0);
        assert_string_equal(told, "pat: other users may write to the directory\n");
        assert_null(all);
        assert_int_not_equal(pat_store_make(store, why, sizeof(why)), 0);
    }
    assert_int_equal(chmod(store, 0755), 0);
    assert_int_equal(pat_store_look(store, why, sizeof(why)), PAT_STORE_HOLDS);
    static const mode_t file_open_to[] = {0664, 0646, 0666};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(chmod(path, file_open_to[i]), 0);
        assert_int_equal(read_store(&listener, &all), 0);
        assert_non_null(strstr(told, ".json: other users may write to the file\n"));
    }
    put(&here, 8, 1000, 1, path); /* written anew it is this user's alone again */
    assert_int_equal(read_store(&listener, &all), 1);
    free(all);
    if (geteuid() != 0) /* only root can give something away */
        return;
    assert_int_equal(chown(path, 12345, 12345), 0);
    assert_int_equal(read_store(&listener, &all), 0);
    assert_non_null(strstr(told, ".json: the file belongs to another user\n"));
    assert_int_equal(chown(store, 12345, 12345), 0);
    assert_int_equal(pat_store_look(store, why, sizeof(why)), PAT_STORE_UNTRUSTED);
    assert_string_equal(why, "the directory belongs to another user");
    assert_int_equal(read_store(NULL, &all), 0);
}

/* Whatever lies there: what is of this machine is read, the rest is told of, and nothing is an error. */
static void this_machine_only(void **state)
{
    pat_machine other = here;
    char path[PAT_STORE_PATH], good[PAT_STORE_PATH], broken[PAT_STORE_PATH], renamed[PAT_STORE_PATH];
    pat_stored *all;
    (void)state;
    put(&here, 8, 1000, 1, good);
    other.ranks_per_node = 3;
    put(&other, 8, 1000, 2, path);
    put(&here, 4, 1000, 3, broken);
    put_text(broken, "{\"format\": 2,");
    other.ranks_per_node = 5;
    put(&here, 8, 1234, 4, path);
    snprintf(renamed, sizeof(renamed), "%s/%08x-copy.json", store, (unsigned)pat_machine_digest(&other));
    assert_int_equal(rename(path, renamed), 0);
    put(&here, 7, 1000, 5, path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(mkfifo(path, 0600), 0); /* must not be waited for */
    for (int listens = 0; listens < 2; listens++) {
        assert_int_equal(read_store(listens ? &listener : NULL, &all), 1);
        assert_string_equal(all[0].path, good);
        assert_int_equal(all[0].calibration.ranks, 8);
        assert_false(all[0].taken);
        free(all);
    }
    assert_non_null(strstr(told, ": it is of 3 ranks a node, here are 2\n"));
    assert_non_null(strstr(told, "-4ranks-1000000kbit.json: line 1: "));
    assert_non_null(strstr(told, "-copy.json: its name is another machine's\n"));
    assert_non_null(strstr(told, "-7ranks-1000000kbit.json: it is no regular file\n"));
    assert_null(strstr(told, "-8ranks-1000000kbit.json: it is of a"));
}

/* What 8 ranks numbered node by node wish for. */
static pat_store_wish wish_for(double link_mbit)
{
    return (pat_store_wish){{8, 2, PAT_NODE_BY_NODE}, link_mbit};
}

static double taken_mbit(pat_stored *all, int num, double link_mbit)
{
    const pat_store_wish wish = wish_for(link_mbit);
    const pat_stored *taken = pat_store_nearest(all, num, &wish);
    return taken ? taken->calibration.link_mbit : 0;
}

static void nearest_network(void **state)
{
    char path[PAT_STORE_PATH], why[200];
    pat_stored *all;
    (void)state;
    const pat_store_wish wish = wish_for(985);
    assert_null(pat_store_nearest(NULL, 0, &wish));
    put(&here, 8, 100, 5, path);
    put(&here, 8, 940, 4, path);
    put(&here, 8, 980, 3, path);
    put(&here, 8, 2400, 2, path);
    put(&here, 6, 9400, 1, path);
    const int num = read_store(NULL, &all);
    assert_int_equal(num, 5);
    assert_true(taken_mbit(all, num, 97) == 100);
    assert_true(taken_mbit(all, num, 2000) == 2400);
    assert_true(taken_mbit(all, num, 25000) == 9400);
    assert_true(taken_mbit(all, num, 29000) == 0); /* more than three times as fast as any */
    assert_true(taken_mbit(all, num, 33) == 0);
    assert_true(taken_mbit(all, num, 985) ==
                940); /* of like rates the last written, though not the nearest */
    const pat_stored *taken = pat_store_nearest(all, num, &wish);
    pat_store_why_not(&all[2], taken, &wish, why, sizeof(why));
    assert_string_equal(why, "another one is of as near a network, and was written later");
    pat_store_why_not(&all[3], taken, &wish, why, sizeof(why));
    assert_string_equal(why, "another one is of a network nearer to this one's 985 Mbit/s");
    pat_store_why_not(&all[0], taken, &wish, why, sizeof(why));
    assert_string_equal(why, "it is of a network of 100 Mbit/s, this one has 985");
    free(all);
}

/* Of the same machine and network, each is for ranks that are placed as those that it was measured with. */
static void placed_alike(void **state)
{
    static const enum pat_numbering numberings[] = {PAT_NODE_BY_NODE, PAT_ACROSS_NODES, PAT_ANOTHER_ORDER,
                                                    PAT_NUMBERING_NOT_KNOWN};
    static const int num = 4;
    char path[PAT_STORE_PATH], why[200];
    pat_stored *all;
    (void)state;
    for (int i = 0; i < num; i++) /* another number of ranks, so that the last has a name of its own */
        put_numbered(&here, i < 3 ? 8 : 16, numberings[i], 1000, num - i, path);
    assert_int_equal(read_store(NULL, &all), num);
    for (int i = 0; i < 3; i++) {
        const pat_store_wish wish = {{12, 2, numberings[i]}, 1000};
        const pat_stored *taken = pat_store_nearest(all, num, &wish);
        assert_ptr_equal(taken, &all[i]);
        assert_int_equal(pat_store_same(all, num, &all[i].calibration) - all, i);
        pat_store_why_not(&all[(i + 1) % 3], taken, &wish, why, sizeof(why));
        assert_true(strncmp(why, "it is of ranks numbered ", 24) == 0);
        pat_store_why_not(&all[3], taken, &wish, why, sizeof(why));
        assert_string_equal(why, "it does not say how ranks were numbered, and nodes have several");
    }
    const pat_store_wish wish = {{8, 4, PAT_NODE_BY_NODE}, 1000};
    assert_null(pat_store_nearest(all, num, &wish));
    pat_store_why_not(&all[0], NULL, &wish, why, sizeof(why));
    assert_string_equal(why,
                        "it is of ranks on nodes with 2 ranks each, these are on nodes with 4 ranks each");
    free(all);
}

/* The file says what it is whatever the umask, and is found by its name alone. */
static void file_mode(void **state)
{
    static const mode_t masks[] = {0, 002, 022, 077};
    char path[PAT_STORE_PATH];
    struct stat st;
    (void)state;
    for (int i = 0; i < 4; i++) {
        const mode_t before = umask(masks[i]);
        put(&here, 8 + i, 1000, 1, path);
        umask(before);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0644);
    }
}

/* What was not measured to its end is not taken, but gone on with; what is being measured is not even seen. */
static void not_whole(void **state)
{
    char path[PAT_STORE_PATH], part[PAT_STORE_PATH + 8], why[200];
    pat_stored *all;
    pat_calibration c = {.machine = here,
                         .ranks = 4,
                         .numbering = PAT_NODE_BY_NODE,
                         .link_mbit = 1000,
                         .num_gammas = 1,
                         .gammas = {1}};
    (void)state;
    const pat_store_wish wish = wish_for(1000);
    put_times(&c, "gather_native");
    assert_true(pat_store_name(store, &c, path, sizeof(path)));
    assert_int_equal(pat_calibration_write(&c, path, true), 0);
    int num = read_store(&listener, &all);
    assert_int_equal(num, 1);
    assert_null(pat_store_nearest(all, num, &wish));
    pat_store_why_not(&all[0], NULL, &wish, why, sizeof(why));
    assert_string_equal(why, "it has no time of gather_native, so it was not measured to its end");
    assert_ptr_equal(pat_store_same(all, num, &c), &all[0]);
    free(all);
    put(&here, 8, 1200, 1, part); /* not as near, and older, but whole */
    num = read_store(&listener, &all);
    assert_true(taken_mbit(all, num, 1000) == 1200);
    free(all);
    assert_int_equal(unlink(part), 0);
    snprintf(part, sizeof(part), "%s" PAT_STORE_PART, path);
    assert_int_equal(rename(path, part), 0);
    assert_int_equal(pat_store_look(store, why, sizeof(why)), PAT_STORE_EMPTY);
    assert_int_equal(read_store(&listener, &all), 0);
    assert_string_equal(told, "");
    assert_int_equal(pat_store_read_parts(store, &here, &all), 1);
    assert_string_equal(all[0].path, part);
    free(all);
}

/* A new measurement goes on with one of as many ranks and the same network, and with no other. */
static void same_again(void **state)
{
    char path[PAT_STORE_PATH], fast[PAT_STORE_PATH];
    pat_stored *all;
    pat_calibration c = {.machine = here, .ranks = 8, .numbering = PAT_NODE_BY_NODE, .link_mbit = 1000};
    (void)state;
    put(&here, 8, 2400, 3, fast);
    put(&here, 16, 1000, 2, path);
    int num = read_store(NULL, &all);
    assert_null(pat_store_same(all, num, &c));
    c.link_mbit = 2000;
    assert_string_equal(pat_store_same(all, num, &c)->path, fast);
    free(all);
    c.link_mbit = 1000;
    put(&here, 8, 1100, 1, path);
    num = read_store(NULL, &all);
    assert_string_equal(pat_store_same(all, num, &c)->path, path);
    free(all);
    assert_false(pat_store_name(store, &c, path, 40));
    c.machine.pus++;
    assert_true(pat_store_name(store, &c, path, sizeof(path)));
    assert_int_not_equal(strncmp(path, fast, strlen(store) + 9), 0); /* another digest */
}

/* The last written ones, where there are very many. */
static void not_too_many(void **state)
{
    char path[PAT_STORE_PATH];
    pat_stored *all;
    (void)state;
    for (int i = 1; i <= PAT_STORE_MOST + 3; i++)
        put(&here, 2, 100 * i, i, path);
    assert_int_equal(read_store(&listener, &all), PAT_STORE_MOST);
    assert_true(all[0].calibration.link_mbit == 100 * (PAT_STORE_MOST + 3));
    assert_non_null(strstr(told, "-2ranks-300000kbit.json: there are enough later ones\n"));
    free(all);
}

#define WITH_STORE(test) cmocka_unit_test_setup_teardown(test, make_store, remove_store)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(path_rule), WITH_STORE(nobody_else_may_look), WITH_STORE(names),
        WITH_STORE(strangers),       WITH_STORE(this_machine_only),    WITH_STORE(nearest_network),
        WITH_STORE(placed_alike),    WITH_STORE(same_again),           WITH_STORE(file_mode),
        WITH_STORE(not_whole),       WITH_STORE(not_too_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
