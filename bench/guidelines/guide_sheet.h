/*
 * guide_sheet.h — a table of words, as CSV and with its columns below one another for people. No word has a comma.
 */
#ifndef GUIDE_SHEET_H
#define GUIDE_SHEET_H

#include <stdbool.h>
#include <stdio.h>

typedef struct guide_sheet {
    char **rows; /* as CSV; the first one is the header */
    int num;
} guide_sheet;

void guide_sheet_make(guide_sheet *s, const char *header);
void guide_sheet_free(guide_sheet *s);

/* Begin a row, or go on with the one that was begun last: "MPI_Bcast,1024". */
void guide_sheet_row(guide_sheet *s, const char *format, ...) __attribute__((format(printf, 2, 3)));
void guide_sheet_more(guide_sheet *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

void guide_sheet_print(const guide_sheet *s, bool as_csv, FILE *to);

#endif
