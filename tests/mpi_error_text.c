/*
 * mpi_error_text.c — while MPI is up it is asked about codes that are its own or the application's, and only
 * about these: it ends the job over a code it does not know. ranks: 2
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "calls.h"
#include "error.h"
#include "fail.h"
#include "pat.h"

/* MPICH has a text for every code up to MPI_ERR_LASTCODE, and words of its own for an application's codes. */
#ifdef OPEN_MPI
#define IS_NOBODYS(code)     true
#define AS_GIVEN(code, text) text
#else
#define IS_NOBODYS(code)     ((code) < 0 || (code) > MPI_ERR_LASTCODE)
#define AS_GIVEN(code, text) mpi_text(code)

static const char *mpi_text(int code)
{
    static char text[MPI_MAX_ERROR_STRING];
    int length;
    MPI_Error_string(code, text, &length);
    return text;
}
#endif

static int failures;

static void expect(int code, const char *part)
{
    const char *text = PAT_Error_string(code);
    if (!text || !strstr(text, part)) {
        fprintf(stderr, "code %d: \"%s\" does not say \"%s\"\n", code, text ? text : "(null)", part);
        failures++;
    }
}

static void expect_always(int own)
{
    static const int nobodys[] = {INT_MIN, -1, 99999, INT_MAX};
    for (size_t i = 0; i < sizeof(nobodys) / sizeof(nobodys[0]); i++)
        if (IS_NOBODYS(nobodys[i]))
            expect(nobodys[i], "error code");
    expect(MPI_SUCCESS, "MPI_SUCCESS");
    expect(MPI_ERR_ARG, "MPI_ERR_ARG");
    expect(own, "");
}

/* An error that MPI has found: the application is given its class, with what is known of it. */
static void expect_detail_of_class(void)
{
    int value = 0;
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    const int code = MPI_Send(&value, -1, MPI_INT, 0, 0, MPI_COMM_SELF);
    pat_error_begin();
    pat_error(code, "a count of bricks");
    const int returned = pat_fail(MPI_COMM_SELF, code);
    if (returned != MPI_ERR_COUNT) {
        fprintf(stderr, "expected MPI_ERR_COUNT of a count below 0, got %d\n", returned);
        failures++;
    }
    expect(returned, "MPI_ERR_COUNT");
    expect(returned, ": a count of bricks");
    expect(code, ": a count of bricks");
}

static int lacks_memory(pat_any *function, const pat_args *args)
{
    (void)function;
    (void)args;
    return pat_error(MPI_ERR_NO_MEM, "no memory for bricks");
}

/* Whoever a call is passed on to may be the MPI library, of whose errors nothing is known here, or this library once more. */
static void expect_detail_of_next(void)
{
    const pat_args args = {.comm = MPI_COMM_SELF};
    pat_face face = pat_face_bcast;
    face.next = lacks_memory;
    for (int tells = 0; tells < 2; tells++) {
        face.tells = tells;
        const int code = pat_calls_run(&face, &args, NULL, NULL, NULL);
        const bool told = strstr(PAT_Error_string(code), ": no memory for bricks") != NULL;
        if (code == MPI_ERR_NO_MEM && told == tells)
            continue;
        fprintf(stderr, "code %d: \"%s\", where the next one %s\n", code, PAT_Error_string(code),
                tells ? "tells of its errors" : "is the MPI library");
        failures++;
    }
}

int main(int argc, char **argv)
{
    int level, error_class, code, nameless;
    char io_error[MPI_MAX_ERROR_STRING];
    int length;
    expect_always(12345);
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    expect_always(MPI_ERR_LASTCODE);

    /* A class that only MPI has words for. */
    MPI_Error_string(MPI_ERR_NO_SUCH_FILE, io_error, &length);
    expect(MPI_ERR_NO_SUCH_FILE, io_error);

    /* Codes of the application, with a text and without. */
    MPI_Add_error_class(&error_class);
    MPI_Add_error_string(error_class, "the roof is leaking");
    MPI_Add_error_code(MPI_ERR_COUNT, &code);
    MPI_Add_error_string(code, "one brick too many");
    MPI_Add_error_code(MPI_ERR_COUNT, &nameless);
    expect(error_class, "the roof is leaking");
    expect(code, AS_GIVEN(code, "one brick too many"));
    expect(nameless, AS_GIVEN(nameless, "MPI_ERR_COUNT"));
    pat_error(code, "brick %d", 17);
    expect(code, AS_GIVEN(code, "one brick too many"));
    expect(code, ": brick 17");
    expect_always(code);
    expect_detail_of_class();
    expect_detail_of_next();
    pat_error(code, "brick %d", 17);

    MPI_Finalize();
    expect_always(code);
    expect(code, "brick 17");
    return failures != 0;
}
