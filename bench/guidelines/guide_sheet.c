/*
 * guide_sheet.c — see guide_sheet.h.
 */
#include "guide_sheet.h"

#include <stdarg.h>
#include <string.h>

#include "guide_need.h"

void guide_sheet_make(guide_sheet *s, const char *header)
{
    *s = (guide_sheet){.num = 0};
    guide_sheet_row(s, "%s", header);
}

void guide_sheet_free(guide_sheet *s)
{
    for (int i = 0; i < s->num; i++)
        free(s->rows[i]);
    free(s->rows);
    *s = (guide_sheet){.num = 0};
}

static char *text_of(const char *format, va_list list)
{
    char *text = NULL;
    if (vasprintf(&text, format, list) < 0)
        text = NULL;
    return guide_need(text);
}

void guide_sheet_row(guide_sheet *s, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    s->rows = guide_need(realloc(s->rows, (size_t)(s->num + 1) * sizeof(*s->rows)));
    s->rows[s->num++] = text_of(format, list);
    va_end(list);
}

void guide_sheet_more(guide_sheet *s, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    char *more = text_of(format, list), **row = &s->rows[s->num - 1];
    const size_t length = strlen(*row);
    *row = guide_need(realloc(*row, length + strlen(more) + 1));
    strcpy(*row + length, more);
    free(more);
    va_end(list);
}

/* Each word of a row in turn: how long it is, and where. *left begins as the row. NULL after the last. */
static const char *next_word(const char **left, int *length)
{
    const char *word = *left;
    if (!word)
        return NULL;
    *length = (int)strcspn(word, ",");
    *left = word[*length] ? word + *length + 1 : NULL;
    return word;
}

static int columns_of(const char *row)
{
    int num = 1;
    for (; *row; row++)
        num += *row == ',';
    return num;
}

static bool is_number(const char *word, int length)
{
    return length == 0 || (int)strspn(word, "+-.0123456789einfa") >= length;
}

void guide_sheet_print(const guide_sheet *s, bool as_csv, FILE *to)
{
    int columns = 0, length;
    for (int i = 0; i < s->num; i++) {
        const int num = columns_of(s->rows[i]);
        columns = num > columns ? num : columns;
    }
    int *width = guide_need_array((size_t)columns, sizeof(*width));
    bool *is_text = guide_need_array((size_t)columns, sizeof(*is_text));
    for (int i = 0; i < s->num; i++) {
        const char *left = s->rows[i];
        int column = 0;
        for (const char *word; (word = next_word(&left, &length)); column++) {
            width[column] = length > width[column] ? length : width[column];
            is_text[column] = is_text[column] || (i > 0 && !is_number(word, length));
        }
    }
    for (int i = 0; i < s->num; i++) {
        const char *left = s->rows[i];
        int column = 0, blanks = 0; /* none at a line's end */
        if (as_csv)
            fprintf(to, "%s\n", s->rows[i]);
        for (const char *word; !as_csv && (word = next_word(&left, &length)); column++) {
            const int fill = width[column] - length;
            blanks += is_text[column] ? 0 : fill;
            if (length > 0) {
                fprintf(to, "%*s%.*s", blanks, "", length, word);
                blanks = 0;
            }
            blanks += (is_text[column] ? fill : 0) + 2;
        }
        if (!as_csv)
            fputc('\n', to);
    }
    free(width);
    free(is_text);
}
