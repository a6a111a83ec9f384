/*
 * report_write.c — see report_lines.h: where a report goes, and what is told of the run as a whole.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "about.h"
#include "error.h"
#include "file.h"
#include "report_lines.h"
#include "runtime.h"

static bool on_stderr(const char *report)
{
    return strcasecmp(report, "text") == 0 || strcasecmp(report, "json") == 0;
}

int pat_report_place(const char *report, char **file)
{
    *file = NULL;
    if (on_stderr(report))
        return 0;
    char *here = report[0] == '/' ? NULL : getcwd(NULL, 0);
    if (report[0] != '/' && !here)
        return errno;
    if (asprintf(file, "%s%s%s", here ? here : "", here ? "/" : "", report) < 0)
        *file = NULL;
    free(here);
    const int error = *file ? pat_file_check(*file) : ENOMEM;
    if (error) {
        free(*file);
        *file = NULL;
    }
    return error;
}

static void look_around(pat_report *r)
{
    const time_t now = time(NULL);
    struct tm utc;
    pat_about_mpi(r->mpi, sizeof(r->mpi));
    pat_about_host(r->host, sizeof(r->host));
    if (!gmtime_r(&now, &utc) || strftime(r->date, sizeof(r->date), "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        r->date[0] = '\0';
    r->command = pat_about_command(&r->command_bytes);
}

static bool write_json(const pat_report *r, FILE *to)
{
    json_t *root = pat_report_json(r);
    const bool good =
        root && json_dumpf(root, to, JSON_INDENT(2) | JSON_REAL_PRECISION(12)) == 0 && fputc('\n', to) != EOF;
    json_decref(root);
    return good;
}

int pat_report_put(pat_report *r, const char *file)
{
    const char *report = pat_rt.config.report;
    const size_t length = strlen(report);
    const bool as_json =
        strcasecmp(report, "json") == 0 || (length > 5 && strcmp(report + length - 5, ".json") == 0);
    char *text = NULL;
    size_t num_bytes = 0;
    FILE *memory = open_memstream(&text, &num_bytes);
    bool good = memory != NULL;
    look_around(r);
    if (good && as_json)
        good = write_json(r, memory);
    else if (good)
        pat_report_text(r, memory);
    good = memory && fclose(memory) == 0 && good;
    int error = 0;
    if (good && file)
        error = pat_file_write(file, text, num_bytes);
    else if (good && fwrite(text, 1, num_bytes, stderr) != num_bytes)
        error = errno ? errno : EIO;
    free(text);
    free(r->command);
    return good && !error ? MPI_SUCCESS
                          : pat_error(MPI_ERR_OTHER, "PAT_REPORT=\"%s\": cannot be written: %s", report,
                                      error ? strerror(error) : "no memory");
}
