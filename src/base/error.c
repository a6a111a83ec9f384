/*
 * error.c — see error.h and PAT_Error_string in pat.h. Any int has a text, at any time: before MPI_Init and
 * after MPI_Finalize MPI must not be asked for one, and it must never be asked about a code it does not know,
 * because then it calls MPI_COMM_WORLD's error handler, which by default ends the job. Must never print.
 */
#include "error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>

#include "pat.h"

/* The classes that the library, or an MPI call that it passes on, returns. */
static const struct {
    int code;
    const char *text;
} texts[] = {
    {MPI_SUCCESS, "MPI_SUCCESS: no error"},
    {MPI_ERR_BUFFER, "MPI_ERR_BUFFER: invalid buffer"},
    {MPI_ERR_COUNT, "MPI_ERR_COUNT: invalid count"},
    {MPI_ERR_TYPE, "MPI_ERR_TYPE: invalid datatype"},
    {MPI_ERR_TAG, "MPI_ERR_TAG: invalid tag"},
    {MPI_ERR_COMM, "MPI_ERR_COMM: invalid communicator"},
    {MPI_ERR_RANK, "MPI_ERR_RANK: invalid rank"},
    {MPI_ERR_REQUEST, "MPI_ERR_REQUEST: invalid request, or one in the wrong state"},
    {MPI_ERR_ROOT, "MPI_ERR_ROOT: invalid root"},
    {MPI_ERR_GROUP, "MPI_ERR_GROUP: invalid group"},
    {MPI_ERR_OP, "MPI_ERR_OP: invalid operation"},
    {MPI_ERR_ARG, "MPI_ERR_ARG: invalid argument"},
    {MPI_ERR_UNKNOWN, "MPI_ERR_UNKNOWN: unknown error"},
    {MPI_ERR_TRUNCATE, "MPI_ERR_TRUNCATE: message longer than the receive buffer"},
    {MPI_ERR_OTHER, "MPI_ERR_OTHER: other error"},
    {MPI_ERR_INTERN, "MPI_ERR_INTERN: internal error"},
    {MPI_ERR_IN_STATUS, "MPI_ERR_IN_STATUS: the error code is in the status"},
    {MPI_ERR_PENDING, "MPI_ERR_PENDING: pending request"},
    {MPI_ERR_KEYVAL, "MPI_ERR_KEYVAL: invalid attribute key"},
    {MPI_ERR_NO_MEM, "MPI_ERR_NO_MEM: out of memory"},
};

/* The longest text names all algorithms of all collectives. */
enum { LONGEST = 1152 };

/* Threads fail independently of each other: each has its own last error, and its own buffer for the text. */
static _Thread_local struct {
    int code, error_class; /* both have the detail */
    bool old;              /* it belongs to an earlier call */
    char detail[LONGEST];
    char text[MPI_MAX_ERROR_STRING + LONGEST + 32];
} mine;

int pat_error(int code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(mine.detail, sizeof(mine.detail), format, args);
    va_end(args);
    mine.code = mine.error_class = code;
    mine.old = false;
    return code;
}

void pat_error_clear(void)
{
    mine.code = mine.error_class = MPI_SUCCESS;
    mine.detail[0] = '\0';
}

void pat_error_begin(void)
{
    mine.old = true;
}

int pat_error_end(int code)
{
    if (code != MPI_SUCCESS && (mine.old || code != mine.code))
        pat_error_clear();
    return code;
}

void pat_error_seen_as(int code, int error_class)
{
    if (code == mine.code)
        mine.error_class = error_class;
}

int pat_failure_note(pat_failure *f, int code)
{
    if (f->code != MPI_SUCCESS || code == MPI_SUCCESS)
        return f->code;
    f->code = code;
    snprintf(f->detail, sizeof(f->detail), "%.*s", (int)sizeof(f->detail) - 1,
             mine.code == code && !mine.old ? mine.detail : "");
    return code;
}

int pat_failure_tell(const pat_failure *f)
{
    return f->code == MPI_SUCCESS ? MPI_SUCCESS : pat_error(f->code, "%s", f->detail);
}

static const char *own_text(int code)
{
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        if (texts[i].code == code)
            return texts[i].text;
    return NULL;
}

/* Any thread may want a text, but below MPI_THREAD_MULTIPLE only one may call MPI at a time. */
static bool may_ask_mpi(void)
{
    int up, down, level, main_thread;
    PMPI_Initialized(&up);
    PMPI_Finalized(&down);
    if (!up || down)
        return false;
    PMPI_Query_thread(&level);
    PMPI_Is_thread_main(&main_thread);
    return level == MPI_THREAD_MULTIPLE || main_thread;
}

/* MPI's text for a code of its own or of the application; false when it has none. */
static bool mpi_text(int code, char *text)
{
    int *last, found, length = 0, error_class;
    if (!may_ask_mpi())
        return false;
    if (PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &last, &found) != MPI_SUCCESS || !found ||
        code < 0 || code > *last)
        return false;
    if (PMPI_Error_string(code, text, &length) == MPI_SUCCESS && length > 0)
        return true;
    if (PMPI_Error_class(code, &error_class) != MPI_SUCCESS || error_class == code)
        return false;
    const char *of_class = own_text(error_class);
    if (of_class)
        return snprintf(text, MPI_MAX_ERROR_STRING, "%s", of_class) > 0;
    return PMPI_Error_string(error_class, text, &length) == MPI_SUCCESS && length > 0;
}

const char *PAT_Error_string(int errorcode)
{
    char from_mpi[MPI_MAX_ERROR_STRING];
    const char *text = own_text(errorcode);
    if (!text) {
        if (!mpi_text(errorcode, from_mpi))
            snprintf(from_mpi, sizeof(from_mpi), "error code %d, of which no more is known here", errorcode);
        text = from_mpi;
    }
    const bool is_mine = errorcode == mine.code || errorcode == mine.error_class;
    if (errorcode != MPI_SUCCESS && is_mine && mine.detail[0] != '\0')
        snprintf(mine.text, sizeof(mine.text), "%s: %s", text, mine.detail);
    else
        snprintf(mine.text, sizeof(mine.text), "%s", text);
    return mine.text;
}
