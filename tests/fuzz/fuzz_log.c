/*
 * fuzz_log.c — traces that a fuzzer makes up: the input is the file of rank 0 beside a good one of rank 1. All that pat-report makes of them is
 * made. libFuzzer calls this; tests/fuzz/run builds it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "log_format.h"
#include "log_read.h"
#include "trace_models.h"
#include "trace_out.h"

/* Of the large header only what is used is made up, so that a short input reaches the records. */
enum { USED = sizeof(pat_log_header), MOST_RANKS = 2000 };
_Static_assert(USED == 1248, "tests/fuzz/run makes the first input, and has this number too");

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void put_file(const char *dir, const uint8_t *data, size_t size)
{
    static const char zeros[PAT_LOG_HEADER_BYTES - USED];
    char path[1000];
    snprintf(path, sizeof(path), "%s/calls-0.pat", dir);
    FILE *to = fopen(path, "w");
    if (!to)
        abort();
    fwrite(data, 1, size < USED ? size : USED, to);
    if (size >= USED) {
        fwrite(zeros, 1, sizeof(zeros), to);
        fwrite(data + USED, 1, size - USED, to);
    }
    fclose(to);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static bool (*const writers[])(const pat_log *, const trace_sums *, FILE *) = {
        pat_trace_text, pat_trace_json, pat_trace_csv, pat_trace_chrome, pat_trace_html};
    trace_sums sums;
    const char *dir = getenv("FUZZ_DIR");
    char why[1000];
    put_file(dir, data, size);
    pat_log *log = pat_log_read(dir, why, sizeof(why));
    /* Tables of a hundred thousand ranks without files are right, and slow. */
    FILE *to = log && log->num_ranks <= MOST_RANKS ? fopen("/dev/null", "w") : NULL;
    if (to) {
        if (trace_sums_make(&sums, log))
            trace_models_make(&sums, log);
        for (size_t i = 0; i < sizeof(writers) / sizeof(writers[0]); i++)
            writers[i](log, &sums, to);
        trace_sums_free(&sums);
        fclose(to);
    }
    if (log)
        pat_log_free(log);
    return 0;
}
