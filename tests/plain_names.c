/*
 * plain_names.c — calls collectives from functions with long names that differ only in the middle, as those of C++ are: a report
 * must tell them apart.
 */
#include <mpi.h>

#define LONG_NAME(middle)                                                                                    \
    a_function_with_a_name_as_long_as_compilers_of_other_languages_make_them_for_templates_of_templates##middle##_and_which_therefore_fits_into_no_column_of_any_report_that_a_person_could_want_to_read

int LONG_NAME(_of_one)(void);
int LONG_NAME(_of_two)(void);

int LONG_NAME(_of_one)(void)
{
    const int rc = MPI_Barrier(MPI_COMM_WORLD);
    return rc + MPI_Barrier(MPI_COMM_WORLD);
}

int LONG_NAME(_of_two)(void)
{
    const int rc = MPI_Barrier(MPI_COMM_WORLD);
    return rc | MPI_Barrier(MPI_COMM_WORLD); /* unlike the other, or compilers make one of both */
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    const int rc = LONG_NAME(_of_one)() + LONG_NAME(_of_two)();
    MPI_Finalize();
    return rc;
}
