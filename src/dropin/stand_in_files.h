/*
 * stand_in_files.h — the profiles of a directory, the same on all ranks: rank 0 reads the files and the others get their text.
 */
#ifndef PAT_STAND_IN_FILES_H
#define PAT_STAND_IN_FILES_H

#include <mpi.h>

#include "mockup_profile.h"

typedef struct pat_stand_in_file {
    const char *path; /* in `text` */
    pat_mockup_profile profile;
} pat_stand_in_file;

typedef struct pat_stand_in_files {
    char *text;
    pat_stand_in_file *files;
    int num;
} pat_stand_in_files;

/*
 * Collective over comm: those in the files of the directory whose names contain "prf". What cannot be read, or is wrong, rank 0 tells by
 * `tell`, and it is left out on all ranks; so is what one rank alone has no memory for. Returns an error code of MPI; then there is nothing to free.
 */
int pat_stand_in_files_read(pat_stand_in_files *all, const char *directory, pat_mockup_knows *knows,
                            void (*tell)(const char *what, const char *why), MPI_Comm comm);
void pat_stand_in_files_free(pat_stand_in_files *all);

#endif
