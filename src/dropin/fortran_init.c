/*
 * fortran_init.c — MPI_Init, MPI_Init_thread and MPI_Finalize from Fortran, where the error code may be left out in `use
 * mpi_f08`. They are run in C, for whatever MPI library: nothing of them is Fortran's, and some Fortran libraries go on to
 * PMPI_ themselves, past everybody.
 */
#include "dropin.h"

static void init_in_fortran(pat_gate_any *next, const void *site, MPI_Fint *ierror)
{
    (void)site;
    (void)next;
    int argc = 0;
    char **argv = NULL;
    pat_fortran_answer(ierror, pat_dropin_init(&argc, &argv));
}

static void init_thread_in_fortran(pat_gate_any *next, const void *site, MPI_Fint *required,
                                   MPI_Fint *provided, MPI_Fint *ierror)
{
    (void)site;
    (void)next;
    int argc = 0, level = MPI_THREAD_SINGLE;
    char **argv = NULL;
    pat_fortran_answer(ierror, pat_dropin_init_thread(&argc, &argv, *required, &level));
    *provided = level;
}

static void finalize_in_fortran(pat_gate_any *next, const void *site, MPI_Fint *ierror)
{
    (void)site;
    (void)next;
    pat_fortran_answer(ierror, pat_dropin_finalize());
}

void pat_dropin_enter_fortran(void)
{
    pat_dropin_set(PAT_WAY_FORTRAN, PAT_CALL_Init, (pat_gate_any *)init_in_fortran);
    pat_dropin_set(PAT_WAY_FORTRAN, PAT_CALL_Init_thread, (pat_gate_any *)init_thread_in_fortran);
    pat_dropin_set(PAT_WAY_FORTRAN, PAT_CALL_Finalize, (pat_gate_any *)finalize_in_fortran);
}
