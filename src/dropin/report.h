/*
 * report.h — what PAT_REPORT asks for: a line for every place in the program that calls a collective.
 */
#ifndef PAT_REPORT_H
#define PAT_REPORT_H

/*
 * Collective over all ranks: from here on calls are counted. Returns 0, or on all ranks what errno says of it: rank 0 cannot
 * write where it is to go, or one has no memory. Nothing is counted then, and there is nothing to write.
 */
int pat_report_begin(void);

/*
 * Collective over all ranks: rank 0 collects what they have counted and writes it. Returns MPI_SUCCESS, or on rank 0 an
 * error code with its text by PAT_Error_string where it cannot be written. Nothing is counted any more.
 */
int pat_report_write(void);

#endif
