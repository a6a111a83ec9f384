/*
 * trace_html.c — see trace_out.h. The page is part of the program: cmake has put style and scripts into it (page.cmake).
 */
#include "trace_html.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "trace_out.h"

#if PAT_HAS_PAGE

__asm__(".pushsection .rodata\n"
        "pat_page:\n"
        ".incbin \"" PAT_PAGE "\"\n"
        "pat_page_end:\n"
        ".byte 0\n"
        ".popsection\n");
extern const char pat_page[], pat_page_end[];

/* Where the data go. */
static const char MARK[] = "@data@";

bool pat_trace_has_html(void)
{
    return true;
}

/* No text of the program's may end the data, or begin what does not end: "<" is never written. */
static int put_text(const char *text, size_t size, void *file)
{
    FILE *to = file;
    for (const char *end = text + size; text < end; text++)
        if (*text == '<')
            fputs("\\u003c", to);
        else
            fputc(*text, to);
    return 0;
}

bool pat_trace_html(const pat_log *log, const trace_sums *sums, FILE *to)
{
    const char *mark = strstr(pat_page, MARK);
    json_t *o =
        json_pack("{s:o, s:o, s:o, s:o}", "summary", pat_trace_summary(log, sums), "maps",
                  trace_maps(log, sums), "timeline", trace_timeline(log, sums), "whom", trace_whom(log));
    fwrite(pat_page, 1, (size_t)(mark - pat_page), to);
    const bool good = o && json_dump_callback(o, put_text, to, JSON_COMPACT | JSON_REAL_PRECISION(9)) == 0;
    fwrite(mark + sizeof(MARK) - 1, 1, (size_t)(pat_page_end - mark) - (sizeof(MARK) - 1), to);
    json_decref(o);
    return good && !ferror(to);
}

#else

bool pat_trace_has_html(void)
{
    return false;
}

bool pat_trace_html(const pat_log *log, const trace_sums *sums, FILE *to)
{
    (void)log;
    (void)sums;
    (void)to;
    return false;
}

#endif
