/*
 * guide_sync.c — see guide_sync.h. Must never take a start for a common one that a rank has missed.
 */
#include "guide_sync.h"

#include "bench_must.h"
#include "bench_wait.h"

enum { ROUNDS = 20, BROADCASTS = 10 };
static const int64_t most_lead_ns = 100000000, second_ns = 1000000000;
static const int64_t awake_ns =
    200000; /* so long before its end a wait keeps the processor, or it would end late */
/*
 * So much after its moment a rank still begins in time. One that has the processor has looked at the clock once or twice since, which takes far less than a
 * microsecond, or a few where the machine's clock is slow; one that it was taken from has it back after many more.
 */
static const int64_t prompt_ns = 5000;

static void measure_clock(guide_sync *s)
{
    MUST(bench_clock_sync(&s->clock, s->comm, ROUNDS, &s->same_machine));
    s->measured_ns = pat_clock_local_ns();
}

static void measure_lead(guide_sync *s)
{
    int64_t told = 0, took_ns, most_ns;
    MUST(PMPI_Barrier(s->comm));
    const int64_t start_ns = pat_clock_local_ns();
    for (int i = 0; i < BROADCASTS; i++)
        MUST(PMPI_Bcast(&told, 1, MPI_INT64_T, 0, s->comm));
    took_ns = (pat_clock_local_ns() - start_ns) / BROADCASTS;
    MUST(PMPI_Allreduce(&took_ns, &most_ns, 1, MPI_INT64_T, MPI_MAX, s->comm));
    s->lead_ns = 3 * most_ns < most_lead_ns ? 3 * most_ns : most_lead_ns;
}

void guide_sync_make(guide_sync *s, MPI_Comm comm)
{
    *s = (guide_sync){.comm = comm};
    measure_clock(s);
    measure_lead(s);
}

void guide_sync_again(guide_sync *s)
{
    int is_old = pat_clock_local_ns() - s->measured_ns > second_ns;
    if (s->same_machine)
        return;
    MUST(PMPI_Bcast(&is_old, 1, MPI_INT, 0, s->comm));
    if (is_old)
        measure_clock(s);
}

static void wait_until(int64_t local_ns)
{
    if (local_ns - pat_clock_local_ns() > 2 * awake_ns)
        bench_sleep_until(local_ns - awake_ns);
    while (pat_clock_local_ns() < local_ns)
        ;
}

enum guide_start guide_sync_begin(const guide_sync *s, bool round_time, int64_t delay_ns)
{
    MUST(PMPI_Barrier(s->comm));
    if (!round_time) {
        if (delay_ns > 0)
            wait_until(pat_clock_local_ns() + delay_ns);
        return GUIDE_IN_TIME;
    }
    int64_t start_ns = pat_clock_now_ns(&s->clock) + s->lead_ns;
    MUST(PMPI_Bcast(&start_ns, 1, MPI_INT64_T, 0, s->comm));
    const bool heard_in_time = pat_clock_now_ns(&s->clock) < start_ns;
    const int64_t local_ns = start_ns - s->clock.offset_ns + delay_ns;
    wait_until(local_ns);
    if (!heard_in_time)
        return GUIDE_HEARD_LATE;
    return pat_clock_local_ns() - local_ns <= prompt_ns ? GUIDE_IN_TIME : GUIDE_OVERSLEPT;
}

void guide_sync_widen(guide_sync *s)
{
    s->lead_ns = s->lead_ns + s->lead_ns / 2 < most_lead_ns ? s->lead_ns + s->lead_ns / 2 : most_lead_ns;
}
