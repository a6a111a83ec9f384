/*
 * guide_report.h — campaigns side by side: totals, collectives, slow-downs cell by cell and by the number of ranks, the largest of them; and pictures. Needs no MPI.
 */
#ifndef GUIDE_REPORT_H
#define GUIDE_REPORT_H

#include <stdio.h>

#include "guide_views.h"

/* For people. */
void guide_report_print(const guide_views *v, FILE *to);

/*
 * report.txt, slow-downs.csv and the pictures with their data into a directory, which is made where it is missing. *pictures: how many, or -1 where there is no gnuplot: then
 * `why` says so. 0, or an errno value with a text in `why`.
 */
int guide_report_write(const guide_views *v, const char *dir, int *pictures, char *why, size_t why_size);

#endif
