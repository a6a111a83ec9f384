/*
 * pat_guidelines.c — pat-guidelines: does the MPI library keep the performance guidelines of its collectives? Main program: what is to be done, and how it
 * ends.
 */
#include <stdio.h>
#include <string.h>

#include "guide_campaign.h"
#include "guide_judge.h"
#include "guide_medians.h"
#include "guide_options.h"
#include "guide_report.h"
#include "tool_options.h"

static int complain(const char *why)
{
    fprintf(stderr, "pat-guidelines: %s\n", why);
    return TOOL_BAD_INPUT;
}

/* Medians that others have printed. */
static int replay(const guide_options *o)
{
    guide_results r;
    char why[1024];
    guide_results_make(&r, o->left);
    r.test = o->test;
    r.complete = true;
    snprintf(r.score, sizeof(r.score), "printed medians");
    int status = 0;
    if (guide_medians_read(&r, o->replay, why, sizeof(why)) != 0)
        status = complain(why);
    if (!status) {
        guide_judge(&r);
        if (o->outdir && guide_output_write(&r, &o->shape, o->outdir, why, sizeof(why)) != 0)
            status = complain(why);
        else if (o->verbose)
            guide_output_print(&r, &o->shape, stdout);
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
    return o.replay ? replay(&o) : guide_campaign_write_list(&o);
}
