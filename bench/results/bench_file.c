/*
 * bench_file.c — results into files and back, and what describes a run (bench_output.h).
 */
#include "bench_output.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

int bench_settings_add(bench_settings *s, const char *key, const char *format, ...)
{
    if (s->num == s->cap) {
        const int cap = s->cap ? 2 * s->cap : 32;
        char **keys = realloc(s->keys, (size_t)cap * sizeof(*keys));
        if (keys)
            s->keys = keys;
        char **values = realloc(s->values, (size_t)cap * sizeof(*values));
        if (values)
            s->values = values;
        if (!keys || !values)
            return ENOMEM;
        s->cap = cap;
    }
    va_list args;
    char *value = NULL, *copy = strdup(key);
    va_start(args, format);
    const int length = vasprintf(&value, format, args);
    va_end(args);
    if (length < 0 || !copy) {
        free(copy);
        return ENOMEM;
    }
    s->keys[s->num] = copy;
    s->values[s->num++] = value;
    return 0;
}

void bench_settings_print(const bench_settings *s, FILE *to)
{
    for (int i = 0; i < s->num; i++)
        fprintf(to, "#@%s=%s\n", s->keys[i], s->values[i]);
}

void bench_settings_free(bench_settings *s)
{
    for (int i = 0; i < s->num; i++) {
        free(s->keys[i]);
        free(s->values[i]);
    }
    free(s->keys);
    free(s->values);
    *s = (bench_settings){0};
}
