/*
 * about.c — see about.h.
 */
#include "about.h"

#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

void pat_about_host(char *text, size_t size)
{
    if (gethostname(text, size) != 0)
        snprintf(text, size, "?");
    text[size - 1] = '\0';
}

void pat_about_mpi(char *text, size_t size)
{
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    if (PMPI_Get_library_version(library, &length) != MPI_SUCCESS)
        strcpy(library, "unknown MPI library");
    snprintf(text, size, "%.*s", (int)strcspn(library, ",\n"), library);
    for (char *c = text; *c; c++) /* MPICH has a tab in it */
        *c = *c == '\t' ? ' ' : *c;
}

char *pat_about_command(size_t *bytes)
{
    FILE *from = fopen("/proc/self/cmdline", "r");
    char *command = NULL;
    size_t room = 0;
    ssize_t length;
    *bytes = 0;
    while (from && (length = getdelim(&command, &room, EOF, from)) > 0)
        *bytes = (size_t)length; /* ends with '\0', and getdelim adds another */
    if (from)
        fclose(from);
    return command;
}
