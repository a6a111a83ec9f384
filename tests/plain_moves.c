/*
 * plain_moves.c DIRECTORY — goes to another directory after MPI_Init, and says on the standard error which files are in DIRECTORY
 * before it calls MPI_Finalize, and how long they are.
 */
#include <dirent.h>
#include <mpi.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void say_files(const char *directory)
{
    DIR *d = opendir(directory);
    char text[4096] = "";
    int used = 0;
    for (struct dirent *e; d && (e = readdir(d)) && used < 3000;) {
        struct stat st;
        if (fstatat(dirfd(d), e->d_name, &st, 0) == 0 && S_ISREG(st.st_mode))
            used += sprintf(text + used, " %s with %lld bytes", e->d_name, (long long)st.st_size);
    }
    if (d)
        closedir(d);
    fprintf(stderr, "plain_moves: before MPI_Finalize:%s\n", text);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    const int rc = chdir("/");
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0 && argc > 1)
        say_files(argv[1]);
    MPI_Finalize();
    if (rank == 0)
        fprintf(stderr, "plain_moves: done\n");
    return rc != 0 || argc != 2;
}
