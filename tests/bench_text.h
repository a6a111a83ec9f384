/*
 * bench_text.h — what the mini-benchmark prints, as a string, for unit_bench_*.c. After cmocka.h.
 */
#ifndef BENCH_TEXT_H
#define BENCH_TEXT_H

#include <stdio.h>

#include "bench_table.h"

/* What `print` writes about the table. The caller frees it. */
static inline char *text_of(const bench_table *t, void (*print)(const bench_table *, FILE *))
{
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    assert_non_null(to);
    print(t, to);
    fclose(to);
    assert_non_null(text);
    return text;
}

#endif
