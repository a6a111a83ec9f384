/*
 * stand_in_files.c — see stand_in_files.h.
 */
#include "stand_in_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "error.h"

/* A profile has at most some thousand short lines. */
enum { MOST_BYTES = 1 << 20, MOST_FILES = 1000 };

typedef void teller(const char *what, const char *why);

/* ---- Rank 0 ----------------------------------------------------------------------------------------------- */

static int is_profile(const struct dirent *entry)
{
    return strstr(entry->d_name, "prf") != NULL;
}

/* The file's text, behind its name and its length. Returns NULL, or why it cannot be read. */
static const char *append(FILE *to, const char *path)
{
    struct stat about;
    const int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe would not open otherwise */
    const char *why = NULL;
    if (file < 0)
        return strerror(errno);
    char *text = malloc(MOST_BYTES + 1);
    int64_t length = 0, got = 1;
    if (!text)
        why = strerror(ENOMEM);
    else if (fstat(file, &about) != 0)
        why = strerror(errno);
    else if (!S_ISREG(about.st_mode))
        why = "not a regular file";
    while (!why && got > 0 && length <= MOST_BYTES) {
        got = read(file, text + length, (size_t)(MOST_BYTES + 1 - length));
        why = got < 0 ? strerror(errno) : NULL;
        length += got > 0 ? got : 0;
    }
    if (!why && length > MOST_BYTES)
        why = "more than 1048576 bytes, which no profile has";
    if (!why) {
        fwrite(path, 1, strlen(path) + 1, to);
        fwrite(&length, sizeof(length), 1, to);
        fwrite(text, 1, (size_t)length, to);
    }
    free(text);
    close(file);
    return why;
}

/* All files one after the other; NULL without memory. */
static char *read_all(const char *directory, teller *tell, size_t *bytes)
{
    char *text = NULL, what[400];
    struct dirent **names = NULL;
    const int num = scandir(directory, &names, is_profile, alphasort);
    FILE *to = open_memstream(&text, bytes);
    snprintf(what, sizeof(what), "PAT_MOCKUPS=\"%s\"", directory);
    if (num < 0)
        tell(what, strerror(errno));
    else if (num == 0)
        tell(what, "no file there has a name with prf in it");
    for (int i = 0; i < num; i++) {
        char *path = NULL;
        const char *why = i < MOST_FILES ? NULL : "there are more than 1000 profiles";
        if (asprintf(&path, "%s/%s", directory, names[i]->d_name) < 0)
            path = NULL;
        if (!why)
            why = path && to ? append(to, path) : strerror(ENOMEM);
        if (why)
            tell(path ? path : what, why);
        free(path);
        free(names[i]);
    }
    free(names);
    if (to && fclose(to) == 0)
        return text;
    free(text);
    return NULL;
}

/* ---- All ranks -------------------------------------------------------------------------------------------- */

static int share(pat_stand_in_files *all, int64_t *bytes, int rank, MPI_Comm comm)
{
    const int64_t failed = -1;
    if (rank == 0 && !all->text)
        *bytes = failed;
    int rc = PMPI_Bcast(bytes, 1, MPI_INT64_T, 0, comm);
    if (rc != MPI_SUCCESS)
        return rc;
    if (*bytes == failed)
        return pat_error(MPI_ERR_NO_MEM, "no memory for the profiles of mock-ups");
    if (rank != 0)
        all->text = malloc((size_t)*bytes + 1);
    all->files = calloc(MOST_FILES, sizeof(*all->files));
    const int have = all->text && all->files;
    int all_have = 0;
    rc = PMPI_Allreduce(&have, &all_have, 1, MPI_INT, MPI_MIN, comm);
    if (rc == MPI_SUCCESS && !all_have)
        rc = pat_error(MPI_ERR_NO_MEM, "no memory for the profiles of mock-ups");
    return rc == MPI_SUCCESS ? PMPI_Bcast(all->text, (int)*bytes, MPI_BYTE, 0, comm) : rc;
}

/* The one before that is about the same. */
static const pat_stand_in_file *find_alike(const pat_stand_in_file *files, int num,
                                           const pat_mockup_profile *profile)
{
    for (int i = 0; i < num; i++) {
        const pat_mockup_profile *p = &files[i].profile;
        if (p->ranges && p->ranks == profile->ranks && strcmp(p->collective, profile->collective) == 0)
            return &files[i];
    }
    return NULL;
}

static void tell_alike(teller *tell, const pat_stand_in_file *file, const pat_stand_in_file *other)
{
    char why[400];
    snprintf(why, sizeof(why), "%s of %d ranks is told of by %s already; accepted: one profile for each",
             file->profile.collective, file->profile.ranks, other->path);
    tell(file->path, why);
}

/* Returns how many files there are. Those that are left out have no ranges. */
static int parse(pat_stand_in_files *all, int64_t bytes, pat_mockup_knows *knows, teller *tell, int rank)
{
    int num = 0;
    for (int64_t at = 0; at < bytes; num++) {
        pat_stand_in_file *file = &all->files[num];
        char why[400];
        int64_t length;
        file->path = all->text + at;
        at += (int64_t)strlen(file->path) + 1;
        memcpy(&length, all->text + at, sizeof(length));
        at += (int64_t)sizeof(length);
        const bool good =
            pat_mockup_profile_read(&file->profile, all->text + at, (size_t)length, knows, why, sizeof(why));
        const pat_stand_in_file *other = good ? find_alike(all->files, num, &file->profile) : NULL;
        at += length;
        if (!good && rank == 0)
            tell(file->path, why);
        if (other && rank == 0)
            tell_alike(tell, file, other);
        if (other)
            pat_mockup_profile_free(&file->profile);
    }
    return num;
}

/* A rank may have had no memory for a profile that the others have: all go by those that all have. */
static int agree(pat_stand_in_files *all, int num, teller *tell, int rank, MPI_Comm comm)
{
    unsigned char mine[MOST_FILES] = {0}, everybody[MOST_FILES];
    for (int i = 0; i < num; i++)
        mine[i] = all->files[i].profile.ranges != NULL;
    const int rc = PMPI_Allreduce(mine, everybody, num, MPI_UNSIGNED_CHAR, MPI_MIN, comm);
    for (int i = 0; i < num; i++) {
        if (rc == MPI_SUCCESS && everybody[i]) {
            all->files[all->num++] = all->files[i];
            continue;
        }
        if (rc == MPI_SUCCESS && mine[i] && rank == 0)
            tell(all->files[i].path, "no memory on some rank");
        pat_mockup_profile_free(&all->files[i].profile);
    }
    return rc;
}

int pat_stand_in_files_read(pat_stand_in_files *all, const char *directory, pat_mockup_knows *knows,
                            teller *tell, MPI_Comm comm)
{
    int rank;
    size_t length = 0;
    *all = (pat_stand_in_files){0};
    PMPI_Comm_rank(comm, &rank);
    if (rank == 0)
        all->text = read_all(directory, tell, &length);
    int64_t bytes = (int64_t)length;
    int rc = share(all, &bytes, rank, comm);
    if (rc == MPI_SUCCESS)
        rc = agree(all, parse(all, bytes, knows, tell, rank), tell, rank, comm);
    if (rc != MPI_SUCCESS)
        pat_stand_in_files_free(all);
    return rc;
}

void pat_stand_in_files_free(pat_stand_in_files *all)
{
    for (int i = 0; i < all->num; i++)
        pat_mockup_profile_free(&all->files[i].profile);
    free(all->files);
    free(all->text);
    *all = (pat_stand_in_files){0};
}
