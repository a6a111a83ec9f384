/*
 * bench_settings.h — what describes a run, as a list of keys and values.
 */
#ifndef BENCH_SETTINGS_H
#define BENCH_SETTINGS_H

#include <stdio.h>

/* key=value pairs that describe a run: printed as #@key=value, kept in the JSON. */
typedef struct bench_settings {
    char **keys, **values;
    int num, cap;
} bench_settings;

int bench_settings_add(bench_settings *s, const char *key, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void bench_settings_print(const bench_settings *s, FILE *to);
void bench_settings_free(bench_settings *s);

#endif
