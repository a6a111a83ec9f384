/*
 * guide_plan.c — see guide_plan.h.
 */
#include "guide_plan.h"

#include <stdlib.h>
#include <string.h>

#include "bench_file.h"
#include "guide_need.h"
#include "tool_options.h"

guide_side *guide_plan_sides(const guide_plan *p, const char *mpi, int *num)
{
    char why[1024];
    guide_side *sides = guide_need_array((size_t)p->list.num + 1, sizeof(*sides));
    int found = guide_side_find(&sides[0], mpi, p->o->left, why, sizeof(why));
    for (int i = 0; i < p->list.num && found > 0; i++)
        if (strcmp(p->list.entries[i].mpi, mpi) == 0 && strcmp(p->list.entries[i].alg, p->o->left) != 0)
            found += guide_side_find(&sides[found], mpi, p->list.entries[i].alg, why, sizeof(why));
    *num = found;
    return sides;
}

int guide_plan_read(guide_plan *p, const guide_options *o, char *why, size_t why_size)
{
    *p = (guide_plan){.o = o};
    guide_list known;
    int error = guide_input_read(&p->input, o->input, why, why_size);
    if (error)
        return TOOL_BAD_INPUT;
    guide_known(&known, true, true);
    if (o->algorithms)
        error = guide_list_read(&p->list, &known, o->left, o->algorithms, why, why_size);
    guide_list_free(&known);
    if (!o->algorithms)
        guide_known(&p->list, o->own, false);
    for (int i = 0; i < p->input.num && !error; i++) {
        const char *mpi = p->input.lines[i].mpi;
        char wrong[2048];
        guide_side left;
        int num = 0;
        error = !guide_side_find(&left, mpi, o->left, wrong, sizeof(wrong));
        if (error) {
            snprintf(why, why_size, "%s%s", left.native ? "--left " : "", wrong);
            break;
        }
        guide_side *sides = guide_plan_sides(p, mpi, &num);
        for (int k = 0; k < num; k++)
            p->needs_pat = p->needs_pat || sides[k].kind == GUIDE_PAT;
        free(sides);
        error = num < 2;
        if (error)
            snprintf(why, why_size, "%s: the list has no algorithm to hold %s against", mpi, o->left);
    }
    if (!error && p->needs_pat && o->ranks.num > 0) { /* PAT_UseAlg is called by all ranks together */
        snprintf(
            why, why_size,
            "--ranks: accepted where no side is PAT's (--left default or mpi, without --own); with PAT: an "
            "mpirun for each number of ranks, each with an --output of its own");
        error = TOOL_BAD_INPUT;
    }
    return error ? TOOL_BAD_INPUT : 0;
}

void guide_plan_free(guide_plan *p)
{
    guide_input_free(&p->input);
    guide_list_free(&p->list);
}

double guide_plan_ms(const guide_plan *p)
{
    double total = 0;
    for (int i = 0; i < p->input.num; i++) {
        int num;
        free(guide_plan_sides(p, p->input.lines[i].mpi, &num));
        total += num * p->input.lines[i].num_bytes * p->input.lines[i].time_ms;
    }
    return total;
}

int guide_plan_write_list(const guide_options *o)
{
    guide_list list;
    char why[1024];
    size_t length;
    guide_known(&list, o->own, false);
    char *text = guide_list_text(&list, &length);
    const int error = bench_file_write(o->write_algorithms, text, length, why, sizeof(why));
    if (error)
        fprintf(stderr, "pat-guidelines: %s\n", why);
    free(text);
    guide_list_free(&list);
    return error ? TOOL_FAILED : 0;
}
