/*
 * pat_guidelines.c — pat-guidelines: does the MPI library keep the performance guidelines of its collectives? Main program: what is to be done, and how it
 * ends.
 */
#include <stdio.h>
#include <string.h>

#include "guide_beyond.h"
#include "guide_campaign.h"
#include "guide_json.h"
#include "guide_judge.h"
#include "guide_medians.h"
#include "guide_need.h"
#include "guide_options.h"
#include "guide_plan.h"
#include "guide_profile.h"
#include "guide_raw.h"
#include "guide_report.h"
#include "tool_options.h"

static int complain(const char *why)
{
    fprintf(stderr, "pat-guidelines: %s\n", why);
    return TOOL_BAD_INPUT;
}

/* Samples do not say whether there were to be more. */
static bool was_cut_short(const char *dir)
{
    guide_results r;
    char *path = NULL, why[1024];
    if (asprintf(&path, "%s/guidelines.json", dir) < 0)
        path = NULL;
    const bool is_read = guide_json_read(&r, guide_need(path), why, sizeof(why)) == 0;
    const bool cut_short = is_read && !r.complete;
    if (is_read)
        guide_results_free(&r);
    free(path);
    return cut_short;
}

/* The raw data of a campaign. 0, or an error. */
static int read_raw(guide_results *r, const guide_options *o, char *why, size_t why_size)
{
    char *dir = NULL;
    if (asprintf(&dir, "%s/data", o->judge) < 0)
        dir = NULL;
    int error = guide_raw_read_all(r, guide_need(dir), why, why_size);
    r->complete = !was_cut_short(o->judge);
    free(dir);
    if (!error && o->profile_dir && strcmp(r->left, "default") != 0) {
        snprintf(
            why, why_size,
            "--profile: '%s' has the left side '%s'; accepted: default, since a profile replaces the MPI "
            "library's own call",
            o->judge, r->left);
        error = 1;
    }
    return error;
}

static int write_profiles(const guide_results *r, const guide_options *o, char *why, size_t why_size)
{
    int num;
    return guide_dir_make(o->profile_dir, why, why_size)
               ? 1
               : guide_profile_write(r, o->profile_dir, &num, why, why_size);
}

static int judge_beyond(const guide_results *r, const guide_options *o, char *why, size_t why_size)
{
    guide_results beyond;
    char *dir = NULL;
    int error = 0;
    if (o->outdir && asprintf(&dir, "%s/beyond", o->outdir) < 0)
        dir = NULL;
    guide_beyond(r, &beyond);
    if (o->outdir)
        error = guide_output_write(&beyond, &o->shape, guide_need(dir), why, why_size);
    if (o->verbose && !error)
        guide_output_print(&beyond, &o->shape, stdout);
    guide_results_free(&beyond);
    free(dir);
    return error;
}

/* Medians that others have printed, or what a campaign has measured. */
static int judge(const guide_options *o)
{
    guide_results r;
    char why[4096];
    guide_results_make(&r, o->left);
    r.complete = true;
    r.test = o->test;
    if (o->replay)
        snprintf(r.score, sizeof(r.score), "printed medians");
    int status = 0;
    if (o->replay ? guide_medians_read(&r, o->replay, why, sizeof(why)) : read_raw(&r, o, why, sizeof(why)))
        status = complain(why);
    if (!status) {
        guide_judge(&r);
        if ((o->outdir && guide_output_write(&r, &o->shape, o->outdir, why, sizeof(why)) != 0) ||
            (o->profile_dir && write_profiles(&r, o, why, sizeof(why)) != 0))
            status = complain(why);
        else if (o->verbose)
            guide_output_print(&r, &o->shape, stdout);
        if (!status && o->beyond && judge_beyond(&r, o, why, sizeof(why)) != 0)
            status = complain(why);
    }
    guide_results_free(&r);
    return status;
}

/* Campaigns side by side. */
static int report(const guide_options *o)
{
    guide_views v;
    char why[4096];
    int pictures = 0, status = 0;
    if (guide_views_read(&v, o->dirs, o->num_dirs, why, sizeof(why)) != 0)
        return complain(why);
    if (o->outdir && guide_report_write(&v, o->outdir, &pictures, why, sizeof(why)) != 0)
        status = complain(why);
    if (!status && pictures < 0) { /* the tables are there all the same */
        complain(why);
        status = TOOL_FAILED;
    }
    if (o->verbose)
        guide_report_print(&v, stdout);
    guide_views_free(&v);
    return status;
}

int main(int argc, char **argv)
{
    guide_options o;
    guide_options_read(&o, argc, argv);
    if (!o.input && tool_launcher_rank() > 0) /* one is enough */
        return 0;
    if (o.input)
        return guide_campaign(&o, argc, argv);
    if (o.report)
        return report(&o);
    return o.replay || o.judge ? judge(&o) : guide_plan_write_list(&o);
}
