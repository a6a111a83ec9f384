/*
 * about.h — what a report and a trace say of the run that they are of.
 */
#ifndef PAT_ABOUT_H
#define PAT_ABOUT_H

#include <stddef.h>

/* The host of this rank, "?" where it has no name; shortened to `size` bytes with its '\0'. */
void pat_about_host(char *text, size_t size);

/* The MPI library's name and version, without what follows; shortened likewise. */
void pat_about_mpi(char *text, size_t size);

/* The command line as the kernel has it, each word ended by '\0', to be freed; *bytes 0 where it cannot be read. */
char *pat_about_command(size_t *bytes);

#endif
