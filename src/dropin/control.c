/*
 * control.c — MPI_Pcontrol, by which a program says which part of it a report is to be of: level 0 switches counting off, 1 and 2 switch it on. Any other level
 * is another tool's, and so are arguments after it, which are passed on. Where a program switches, it must do so on all ranks
 * between the same calls, or they cannot be held against each other.
 */
#include "dropin.h"

static void control(int level)
{
    pat_dropin *d = pat_rt.dropin;
    if (d && level >= 0 && level <= 2)
        atomic_store_explicit(&d->off, level == 0, memory_order_relaxed);
}

typedef int pcontrol(intptr_t, intptr_t, intptr_t, intptr_t, intptr_t, intptr_t);

static int watch_pcontrol(pcontrol *next, const void *site, intptr_t level, intptr_t a, intptr_t b,
                          intptr_t c, intptr_t d, intptr_t e)
{
    (void)site;
    control((int)level);
    return next(level, a, b, c, d, e);
}

/* Only of a library whose interface for Fortran does not call that for C. There is no error code. */
static void watch_pcontrol_fortran(void (*next)(const MPI_Fint *), const void *site, const MPI_Fint *level)
{
    (void)site;
    if (!PAT_FORTRAN_CALLS_MPI)
        control(*level);
    next(level);
}

void pat_dropin_watch_control(bool on)
{
    pat_dropin_set(PAT_WAY_C, PAT_CALL_Pcontrol, on ? (pat_gate_any *)watch_pcontrol : NULL);
    pat_dropin_set(PAT_WAY_FORTRAN, PAT_CALL_Pcontrol, on ? (pat_gate_any *)watch_pcontrol_fortran : NULL);
}
