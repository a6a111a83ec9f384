/*
 * explain.c — see explain.h. The one place where the library prints, and only where PAT_EXPLAIN asks for it.
 */
#include "explain.h"

#include <stdio.h>
#include <unistd.h>

#include "collective.h"
#include "config.h"

void pat_explain(const pat_calibration *c, enum pat_op op, int ranks, int64_t bytes,
                 const pat_algorithm *choice)
{
    const pat_job job = {.num_ranks = ranks, .block_bytes = bytes, .segment_bytes = pat_segment_bytes(bytes)};
    fprintf(stderr, "PAT: %d ranks, %lld bytes:", ranks, (long long)bytes);
    for (int a = 0; a < pat_algorithm_count(); a++) {
        const pat_algorithm *alg = pat_algorithm_at(a);
        const double us = alg->op == op ? pat_calibration_us(c, alg, ranks, bytes) : -1;
        const pat_algorithm *as = us >= 0 ? pat_algorithm_runs_as(alg, &job) : alg;
        if (us >= 0)
            fprintf(stderr, " %s%s%s %.1f us%s,", alg->name, as != alg ? " as " : "",
                    as != alg ? as->name : "", us, alg == choice ? " (least)" : "");
    }
    fprintf(stderr, " so %s\n", choice->name);
}

void pat_explain_falls_back(const pat_algorithm *alg, const pat_algorithm *on, const pat_job *job)
{
    fprintf(stderr, "PAT: %d ranks, %lld bytes: %s falls back on %s\n", job->num_ranks,
            (long long)job->block_bytes, alg->name, on->name);
}

void pat_explain_waits(int ranks, int64_t segment_bytes, int limit_bytes)
{
    fprintf(
        stderr,
        "PAT: %d ranks: segments of %lld bytes wait for their receivers inside a node, where the MPI library "
        "sends up to %d without asking\n",
        ranks, (long long)segment_bytes, limit_bytes);
}

void pat_explain_not_taken(void *to, const char *path, const char *why)
{
    const int *ranks = to;
    char whose[32] = "";
    if (ranks)
        snprintf(whose, sizeof(whose), "%d ranks: ", *ranks);
    fprintf(stderr, "PAT: %sno calibration from %s: %s\n", whose, path, why);
}

void pat_explain_taken(int ranks, const char *path)
{
    fprintf(stderr, "PAT: %d ranks: the calibration from %s\n", ranks, path);
}

void pat_explain_ucx(const char *setting)
{
    fprintf(stderr, "PAT: UCX spins while the background thread has its lock; it sleeps with %s=y\n",
            setting);
}

void pat_explain_strays(void)
{
    char name[64];
    const char *nearest;
    for (int i = 0; pat_config_stray(environ, i, name, sizeof(name), &nearest); i++)
        fprintf(stderr, "PAT: %s is set, but it is no setting%s%s%s\n", name, nearest ? "; is " : "",
                nearest ? nearest : "", nearest ? " meant?" : "");
}

void pat_explain_arrivals(const pat_outlook *together, const pat_contest *contest, int64_t bytes,
                          enum pat_verdict verdict)
{
    const char *const name = together->contender->name;
    const bool early = pat_algorithm_is_early(together->contender),
               ahead = together->relay_us < together->native_us; /* when all call at once */
    fprintf(stderr, "PAT: %d ranks, %lld bytes, all at once: native %.1f us", contest->ranks,
            (long long)bytes, together->native_us);
    for (int i = 0; i < contest->num; i++)
        fprintf(stderr, ", %s %.1f us", contest->of[i].alg->name, contest->of[i].us);
    if (verdict == PAT_RELAY_BY_ARRIVALS)
        fprintf(stderr, "%s, so %s, and %s when they come apart\n",
                ahead && early ? ", which is no clear lead" : "", ahead && !early ? name : "native",
                early ? name : pat_contest_early(contest, together->contender->op)->name);
    else
        fprintf(stderr, ", so %s\n", verdict == PAT_RELAY_ALWAYS ? name : "native");
}

void pat_explain_arrival(const pat_algorithm *alg, int ranks, bool by_last_calls)
{
    fprintf(stderr, "PAT: %d ranks: %s goes by %s\n", ranks, alg->name,
            by_last_calls ? "when ranks came to the last calls, since none gives milestones" : "milestones");
}

void pat_explain_listens(enum pat_op op, int ranks, bool by_estimates, const char *why)
{
    fprintf(stderr, "PAT: %d ranks: %ss are chosen by %s, since %s\n", ranks, pat_collective_of(op)->title,
            by_estimates ? "milestones, call by call" : "the last calls", why);
}

void pat_explain_left(int ranks, enum pat_why why, bool but_long)
{
    fprintf(stderr, "PAT: %d ranks: %s are left to the MPI library (%s)\n", ranks,
            why == PAT_WHY_NO_THREAD              ? "all-gathers"
            : why == PAT_WHY_ORDER                ? "reductions of floating-point numbers"
            : why == PAT_WHY_ONE_NODE && but_long ? "collectives other than long all-gathers"
                                                  : "collectives",
            pat_why_text(why));
}

void pat_explain_change(const pat_profile *p, const pat_terms *terms, const pat_algorithm *contender,
                        int ranks)
{
    const char *const names[PAT_NUM_RUNNERS] = {[PAT_BY_MPI] = "native", [PAT_BY_RELAY] = contender->name};
    fprintf(stderr, "PAT: %d ranks, %lld bytes:", ranks, (long long)p->bytes);
    for (int runner = PAT_BY_MPI; runner <= PAT_BY_RELAY; runner++)
        if (p->num_past[runner] > 0)
            fprintf(stderr, " %s was measured to take %.1f us after the last rank called,", names[runner],
                    1e-3 * (double)pat_profile_past_ns(p, (enum pat_runner)runner));
    fprintf(stderr, " so %s from now on (%s)\n", names[p->in_use],
            pat_why_text(pat_profile_plain(p, terms).why));
}

void pat_explain_rival(const pat_rival *rival, const pat_algorithm *const by[], int ranks)
{
    fprintf(stderr, "PAT: %d ranks, %lld bytes, non-blocking:", ranks, (long long)rival->bytes);
    for (int who = 0; who < PAT_NUM_RIVALS; who++)
        fprintf(stderr, " %s was measured to take %.1f us after the last rank called,", by[who]->name,
                1e-3 * (double)rival->past_ns[who]);
    fprintf(stderr, " so %s from now on\n", by[rival->in_use]->name);
}
