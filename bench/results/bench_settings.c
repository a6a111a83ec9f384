/*
 * bench_settings.c — see bench_settings.h. Must never keep a key without its value.
 */
#include "bench_settings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

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
