/*
 * source.h — from call sites to lines of the program's source, by the debugging information of the files that are loaded here, where they have
 * some (a program compiled with -g) and elfutils' libdw.so.1 is installed. It is opened when a report is written and not before, so that
 * programs do not load it for nothing.
 */
#ifndef PAT_SOURCE_H
#define PAT_SOURCE_H

#include <stdint.h>

typedef struct pat_sources pat_sources;

/* NULL: there is nothing to find them with. */
pat_sources *pat_sources_open(void);

/*
 * The line of a call site, as "jacobi.c:41", in at most `size` bytes; "" where it is not known. name, offset: as from pat_sites_name, of any
 * process that runs the same files.
 */
void pat_sources_line(pat_sources *sources, const char *name, int64_t offset, char *text, int size);

void pat_sources_close(pat_sources *sources);

#endif
