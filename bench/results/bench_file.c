/*
 * bench_file.c — see bench_file.h. Must never leave half a file.
 */
#include "bench_file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench_csv.h"
#include "bench_json.h"
#include "file.h"

static int fail(int code, char *why, size_t why_size, const char *what, const char *path)
{
    snprintf(why, why_size, "%s '%s': %s", what, path, strerror(code));
    return code;
}

int bench_file_check(const char *path, char *why, size_t why_size)
{
    const int error = pat_file_check(path);
    return error ? fail(error, why, why_size, "cannot write", path) : 0;
}

int bench_dir_check(const char *path, char *why, size_t why_size)
{
    struct stat st;
    if (stat(path, &st) == 0) {
        if (!S_ISDIR(st.st_mode))
            return fail(ENOTDIR, why, why_size, "cannot put figures into", path);
        return access(path, W_OK | X_OK) == 0 ? 0
                                              : fail(errno, why, why_size, "cannot put figures into", path);
    }
    if (mkdir(path, 0777) != 0)
        return fail(errno, why, why_size, "cannot make the directory", path);
    rmdir(path);
    return 0;
}

int bench_file_write(const char *path, const char *text, size_t length, char *why, size_t why_size)
{
    const int error = pat_file_write(path, text, length);
    return error ? fail(error, why, why_size, "cannot write", path) : 0;
}

int bench_results_read(bench_table *table, const char *path, char *why, size_t why_size)
{
    FILE *from = fopen(path, "r");
    if (!from)
        return fail(errno, why, why_size, "cannot read", path);
    const char *dot = strrchr(path, '.');
    int rc = dot && strcmp(dot, ".json") == 0 ? bench_json_parse(table, path, from, why, why_size)
                                              : bench_csv_parse(table, path, from, why, why_size);
    fclose(from);
    return rc;
}
