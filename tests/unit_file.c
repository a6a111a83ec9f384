/*
 * unit_file.c — a file is whole or not there; what is no file, or somebody's output, is not replaced by one. Everything it
 * writes to is in a directory of its own: what is broken must not take /dev/null away from a machine.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "file.h"

static char dir[] = "/tmp/pat-unit-XXXXXX";

static const char *in_dir(const char *name)
{
    static char paths[4][PATH_MAX];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, PATH_MAX, "%s/%s", dir, name);
    return path;
}

/* Before every test: what an earlier one that failed has left. */
static int clear(void **state)
{
    (void)state;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.')
            unlink(in_dir(e->d_name));
    return d ? closedir(d) : -1;
}

static int entries(void)
{
    DIR *d = opendir(dir);
    int n = 0;
    assert_non_null(d);
    while (readdir(d))
        n++;
    closedir(d);
    return n - 2;
}

static void assert_holds(const char *path, const char *text)
{
    char held[100] = "";
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    (void)!fread(held, 1, sizeof(held) - 1, f);
    fclose(f);
    assert_string_equal(held, text);
}

static void make(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

static void test_new_and_old(void **state)
{
    (void)state;
    struct stat st;
    const char *path = in_dir("r");
    assert_int_equal(pat_file_check(path), 0);
    assert_int_equal(entries(), 0); /* the check leaves nothing */
    assert_int_equal(pat_file_write(path, "one", 3), 0);
    assert_holds(path, "one");
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(pat_file_check(path), 0);
    assert_holds(path, "one"); /* and an older file as it is */
    assert_int_equal(pat_file_write(path, "2", 1), 0);
    assert_holds(path, "2");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640); /* for whom it was */
    assert_int_equal(pat_file_write_own(path, "3", 1), 0);
    assert_holds(path, "3");
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644); /* for nobody else to write to */
    assert_int_equal(entries(), 1);
}

/* Other processes that read the older file see it whole, not the new one grow. */
static void test_older_file_is_replaced_at_once(void **state)
{
    (void)state;
    char held[4] = "";
    const char *path = in_dir("r");
    make(path, "old");
    const int fd = open(path, O_RDONLY);
    assert_int_equal(pat_file_write(path, "newer", 5), 0);
    assert_int_equal(read(fd, held, 3), 3);
    assert_string_equal(held, "old");
    close(fd);
}

static void test_cannot(void **state)
{
    (void)state;
    assert_int_equal(pat_file_check(in_dir("none/r")), ENOENT);
    assert_int_equal(pat_file_write(in_dir("none/r"), "x", 1), ENOENT);
    assert_int_equal(pat_file_check(dir), EISDIR);
    assert_int_not_equal(pat_file_write(dir, "x", 1), 0);
    assert_int_equal(pat_file_check("/proc/pat"), ENOENT);
    assert_int_equal(entries(), 0);
}

/* No room: the older file stays, and nothing else. */
static void test_no_room(void **state)
{
    (void)state;
    const char *path = in_dir("r");
    struct rlimit before, least;
    make(path, "old");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    least = (struct rlimit){.rlim_cur = 2, .rlim_max = before.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &least), 0);
    const int rc = pat_file_write(path, "new", 3);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(rc, EFBIG);
    assert_holds(path, "old");
    assert_int_equal(entries(), 1);
}

static void test_links(void **state)
{
    (void)state;
    struct stat st;
    const char *file = in_dir("r"), *link = in_dir("link");
    make(file, "old");
    assert_int_equal(symlink("r", link), 0);
    assert_int_equal(pat_file_check(link), 0);
    assert_int_equal(pat_file_write(link, "new", 3), 0);
    assert_holds(file, "new");
    assert_int_equal(lstat(link, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(entries(), 2);
}

static void test_pipes(void **state)
{
    (void)state;
    struct stat st;
    char held[4] = "";
    const char *fifo = in_dir("fifo");
    assert_int_equal(mkfifo(fifo, 0600), 0);
    assert_int_equal(pat_file_check(fifo), 0); /* without a reader it does not wait */
    const int fd = open(fifo, O_RDONLY | O_NONBLOCK);
    assert_true(fd >= 0);
    assert_int_equal(pat_file_write(fifo, "new", 3), 0);
    assert_int_equal(read(fd, held, 3), 3);
    assert_string_equal(held, "new");
    assert_int_equal(stat(fifo, &st), 0);
    assert_true(S_ISFIFO(st.st_mode)); /* not renamed away */
    close(fd);
    assert_int_equal(entries(), 1);

    /* Where there can be no file beside it. */
    int ends[2];
    char name[32];
    assert_int_equal(pipe(ends), 0);
    snprintf(name, sizeof(name), "/proc/self/fd/%d", ends[1]);
    assert_int_equal(pat_file_check(name), 0);
    assert_int_equal(pat_file_write(name, "new", 3), 0);
    assert_int_equal(read(ends[0], held, 3), 3);
    close(ends[0]);
    close(ends[1]);
}

/* 2>log and then /dev/stderr, which is such a link: what was said so far stays, and what is said later comes after. */
static void test_own_output(void **state)
{
    (void)state;
    const char *log = in_dir("log"), *name = in_dir("stderr");
    struct stat st;
    assert_int_equal(symlink("/proc/self/fd/2", name), 0);
    const int kept = dup(STDERR_FILENO), fd = open(log, O_WRONLY | O_CREAT, 0600);
    assert_true(kept >= 0 && fd >= 0);
    dup2(fd, STDERR_FILENO);
    const int written = dprintf(STDERR_FILENO, "said "), checked = pat_file_check(name),
              rc = pat_file_write(name, "report ", 7), later = dprintf(STDERR_FILENO, "later");
    dup2(kept, STDERR_FILENO);
    close(kept);
    close(fd);
    assert_int_equal(written, 5);
    assert_int_equal(checked, 0);
    assert_int_equal(rc, 0);
    assert_int_equal(later, 5);
    assert_holds(log, "said report later");
    assert_int_equal(lstat(name, &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(entries(), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_new_and_old, clear),
        cmocka_unit_test_setup(test_older_file_is_replaced_at_once, clear),
        cmocka_unit_test_setup(test_cannot, clear),
        cmocka_unit_test_setup(test_no_room, clear),
        cmocka_unit_test_setup(test_links, clear),
        cmocka_unit_test_setup(test_pipes, clear),
        cmocka_unit_test_setup(test_own_output, clear),
    };
    if (!mkdtemp(dir))
        return 1;
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    clear(NULL);
    rmdir(dir);
    return failed;
}
