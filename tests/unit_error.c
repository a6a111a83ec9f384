/*
 * unit_error.c — every error code has a text before MPI_Init, and the detail belongs to one thread's last
 * error.
 */
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "error.h"
#include "pat.h"

static void test_classes(void **state)
{
    (void)state;
    static const struct {
        int code;
        const char *name;
    } classes[] = {
        {MPI_SUCCESS, "MPI_SUCCESS"},           {MPI_ERR_ARG, "MPI_ERR_ARG"},
        {MPI_ERR_OTHER, "MPI_ERR_OTHER"},       {MPI_ERR_COMM, "MPI_ERR_COMM"},
        {MPI_ERR_COUNT, "MPI_ERR_COUNT"},       {MPI_ERR_TYPE, "MPI_ERR_TYPE"},
        {MPI_ERR_BUFFER, "MPI_ERR_BUFFER"},     {MPI_ERR_REQUEST, "MPI_ERR_REQUEST"},
        {MPI_ERR_NO_MEM, "MPI_ERR_NO_MEM"},     {MPI_ERR_INTERN, "MPI_ERR_INTERN"},
        {MPI_ERR_TRUNCATE, "MPI_ERR_TRUNCATE"}, {MPI_ERR_UNKNOWN, "MPI_ERR_UNKNOWN"},
    };
    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        const char *text = PAT_Error_string(classes[i].code);
        assert_int_equal(strncmp(text, classes[i].name, strlen(classes[i].name)), 0);
        assert_true(strlen(text) > strlen(classes[i].name) + 5);
    }
}

static void test_any_int(void **state)
{
    (void)state;
    for (int code = -100; code <= 10000; code++)
        assert_true(strlen(PAT_Error_string(code)) > 0);
    assert_non_null(strstr(PAT_Error_string(INT_MIN), "-2147483648"));
    assert_non_null(strstr(PAT_Error_string(INT_MAX), "2147483647"));
}

static void test_detail(void **state)
{
    (void)state;
    assert_null(strstr(PAT_Error_string(MPI_ERR_ARG), "percent"));
    assert_int_equal(pat_error(MPI_ERR_ARG, "percent is %g", 120.0), MPI_ERR_ARG);
    assert_non_null(strstr(PAT_Error_string(MPI_ERR_ARG), "percent is 120"));
    assert_null(strstr(PAT_Error_string(MPI_ERR_OTHER), "percent"));
    assert_null(strstr(PAT_Error_string(MPI_SUCCESS), "percent"));
    assert_non_null(strstr(PAT_Error_string(MPI_ERR_ARG), "percent is 120")); /* asking does not use it up */
    pat_error(MPI_ERR_OTHER, "too late");
    assert_null(strstr(PAT_Error_string(MPI_ERR_ARG), "percent"));
    assert_non_null(strstr(PAT_Error_string(MPI_ERR_OTHER), "too late"));
    pat_error(987654, "a code of nobody");
    assert_non_null(strstr(PAT_Error_string(987654), "a code of nobody"));
}

/* What MPI returns may be more than a class; the application gets to see the class. */
static void test_class_of_code(void **state)
{
    (void)state;
    const int code = 67108864 + MPI_ERR_TYPE;
    pat_error(code, "of the brick type");
    pat_error_seen_as(code, MPI_ERR_TYPE);
    assert_non_null(strstr(PAT_Error_string(MPI_ERR_TYPE), "of the brick type"));
    assert_non_null(strstr(PAT_Error_string(code), "of the brick type"));
    assert_null(strstr(PAT_Error_string(MPI_ERR_ARG), "of the brick type"));
    pat_error_seen_as(MPI_ERR_OTHER, MPI_ERR_ARG); /* another error */
    assert_null(strstr(PAT_Error_string(MPI_ERR_ARG), "of the brick type"));
}

/* An error without a detail does not get that of an earlier one. */
static void test_older_detail(void **state)
{
    (void)state;
    pat_failure failure = {0};
    pat_error(MPI_ERR_INTERN, "the first time");
    pat_error_begin();
    assert_int_equal(pat_error_end(MPI_SUCCESS), MPI_SUCCESS);
    assert_non_null(strstr(PAT_Error_string(MPI_ERR_INTERN), "the first time")); /* still the last error */
    assert_int_equal(pat_failure_note(&failure, MPI_ERR_INTERN), MPI_ERR_INTERN);
    assert_int_equal(pat_failure_tell(&failure), MPI_ERR_INTERN);
    assert_null(strstr(PAT_Error_string(MPI_ERR_INTERN), "the first time"));

    pat_error(MPI_ERR_INTERN, "the second time");
    pat_error_begin();
    assert_int_equal(pat_error_end(MPI_ERR_INTERN), MPI_ERR_INTERN);
    assert_null(strstr(PAT_Error_string(MPI_ERR_INTERN), "the second time"));

    pat_error_begin();
    pat_error(MPI_ERR_INTERN, "the third time");
    pat_error_end(MPI_ERR_INTERN);
    assert_non_null(strstr(PAT_Error_string(MPI_ERR_INTERN), "the third time"));
}

static void test_empty_detail(void **state)
{
    (void)state;
    pat_error_clear();
    char without[200];
    strncpy(without, PAT_Error_string(MPI_ERR_ARG), sizeof(without) - 1);
    without[sizeof(without) - 1] = '\0';
    pat_error(MPI_ERR_ARG, "%s", "");
    assert_string_equal(PAT_Error_string(MPI_ERR_ARG), without);
}

/* A kept error has its text on every thread that is told of it, also after another one. */
static void test_failure(void **state)
{
    (void)state;
    pat_failure failure = {0};
    assert_int_equal(pat_failure_tell(&failure), MPI_SUCCESS);
    pat_error_begin();
    pat_error(MPI_ERR_OTHER, "it broke off");
    assert_int_equal(pat_failure_note(&failure, MPI_ERR_OTHER), MPI_ERR_OTHER);
    pat_error(MPI_ERR_ARG, "something else");
    assert_int_equal(pat_failure_note(&failure, MPI_ERR_ARG), MPI_ERR_OTHER);
    assert_int_equal(pat_failure_tell(&failure), MPI_ERR_OTHER);
    assert_non_null(strstr(PAT_Error_string(MPI_ERR_OTHER), "it broke off"));
}

static void test_long_detail(void **state)
{
    (void)state;
    char *longer = test_malloc(5000);
    memset(longer, 'x', 4999);
    longer[4999] = '\0';
    pat_error(MPI_ERR_ARG, "%s", longer);
    test_free(longer);
    const char *text = PAT_Error_string(MPI_ERR_ARG);
    assert_non_null(strstr(text, "xxx"));
    assert_true(strlen(text) < 2000);
    /* The last text may be part of the next error. */
    pat_error(MPI_ERR_OTHER, "before: %s", PAT_Error_string(MPI_SUCCESS));
    assert_non_null(strstr(PAT_Error_string(MPI_ERR_OTHER), "before: MPI_SUCCESS"));
}

static void *other_thread(void *arg)
{
    int *found = arg;
    *found = strstr(PAT_Error_string(MPI_ERR_ARG), "first") != NULL;
    pat_error(MPI_ERR_ARG, "second");
    *found += strstr(PAT_Error_string(MPI_ERR_ARG), "second") == NULL;
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    pthread_t thread;
    int found = -1;
    pat_error(MPI_ERR_ARG, "first");
    const char *text = PAT_Error_string(MPI_ERR_ARG);
    assert_int_equal(pthread_create(&thread, NULL, other_thread, &found), 0);
    pthread_join(thread, NULL);
    assert_int_equal(found, 0);
    assert_non_null(strstr(text, "first"));
    assert_non_null(strstr(PAT_Error_string(MPI_ERR_ARG), "first"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_classes),      cmocka_unit_test(test_any_int),
        cmocka_unit_test(test_detail),       cmocka_unit_test(test_class_of_code),
        cmocka_unit_test(test_older_detail), cmocka_unit_test(test_empty_detail),
        cmocka_unit_test(test_failure),      cmocka_unit_test(test_long_detail),
        cmocka_unit_test(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
