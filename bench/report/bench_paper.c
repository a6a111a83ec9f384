/*
 * bench_paper.c — our cells beside the paper's (bench_paper.h). What carries over between networks is the
 * imbalance factor, not the milliseconds, so cells are matched by it. The paper states factors of none of its
 * cells: they follow from its delays and the rate of its network.
 */
#include "bench_paper.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_doubt.h"

static const double paper_bits_per_second = 1e9;

double bench_paper_factor(const bench_paper_cell *cell)
{
    const double segment_bytes = 4.0 * 1024 * cell->size_k / cell->procs;
    const double tau_ms = segment_bytes * 8 / paper_bits_per_second * 1e3;
    return cell->max_delay_ms * (cell->procs - 1) / (cell->procs + 1) / tau_ms;
}

const bench_paper_cell *bench_paper_match(const bench_cell *cell)
{
    const bench_paper_cell *all, *same = NULL, *near = NULL;
    const int num = bench_paper_cells(&all);
    double same_off = INFINITY, near_off = INFINITY;
    const bool delayed = cell->max_delay_ms > 0;
    for (int i = 0; i < num; i++) {
        const bench_paper_cell *p = &all[i];
        if (p->procs != cell->procs || (p->max_delay_ms > 0) != delayed)
            continue;
        const double size_off = fabs(log((double)cell->count / 1024 / p->size_k));
        double off = delayed ? fabs(log(cell->factor / bench_paper_factor(p))) : size_off;
        if (isnan(off))
            continue;
        if (size_off < 0.01 && off < same_off) {
            same_off = off;
            same = p;
        }
        if (off < near_off) {
            near_off = off;
            near = p;
        }
    }
    return same_off <= log(1.5) ? same : near;
}

typedef struct tally {
    int cells, ours_aware, paper_aware;
    double ours, paper;
} tally;

static void print_cell(const bench_table *table, const bench_cell *c, const bench_paper_cell *p, FILE *to)
{
    const bool aware = c->best >= 0 && c->best == c->best_aware;
    char size[32] = "-", delay[32] = "-", factor[32] = "-", speedup[32] = "-";
    if (p) {
        snprintf(size, sizeof(size), "%d", p->size_k);
        snprintf(delay, sizeof(delay), "%g", p->max_delay_ms);
        snprintf(factor, sizeof(factor), "%.2f", bench_paper_factor(p));
        if (p->speedup > 1 || bench_is_aware(p->best))
            snprintf(speedup, sizeof(speedup), "%.2f", p->speedup);
    }
    fprintf(to, "%5d %9.6g %8.6g %8.6g %8.2f | %8s %6.2f%s %10.4g %10.4g | %8s %7s %8s %7s %6s\n", c->procs,
            round((double)c->count / 1024 * 100) / 100, (double)c->segment_bytes / 1024, c->max_delay_ms,
            c->factor, c->best >= 0 ? table->rows[c->best].alg : "-", c->speedup, c->beyond_doubt ? "*" : " ",
            c->best_regular >= 0 ? table->rows[c->best_regular].elapsed_ms : NAN, c->ideal_ring_ms, size,
            delay, factor, p ? p->best : "-", aware || p ? speedup : "-");
}

void bench_paper_print(const bench_table *table, FILE *to)
{
    bench_cell *cells;
    const int num = bench_table_cells(table, &cells);
    tally t = {0};
    fprintf(
        to,
        "\n# Beside the paper (Proficz, ACM TACO 2021, Tables 3 and 4: 1 Gbit/s Ethernet), by imbalance "
        "factor.\n"
        "# Its factors: mean range of P uniform delays, MD (P-1)/(P+1), over the time of a segment at 1 "
        "Gbit/s.\n"
        "# speed: best regular over best arrival-aware; below 1 the regular one is faster. *: beyond the 95 "
        "%% "
        "confidence\n# interval. regular: mean elapsed of our best regular algorithm, ideal ring beside it, "
        "in ms.\n");
    bench_warn_if_doubtful(table, to);
    fprintf(to, "%5s %9s %8s %8s %8s | %8s %6s  %10s %10s | %8s %7s %8s %7s %6s\n", "procs", "K floats",
            "seg KiB", "MD [ms]", "factor", "best", "speed", "regular", "ideal ring", "K floats", "MD [ms]",
            "factor", "best", "speed");
    for (int i = 0; i < num; i++) {
        const bench_cell *c = &cells[i];
        if (c->op != PAT_OP_ALLGATHER) /* the paper has none of the others */
            continue;
        const bench_paper_cell *p = bench_paper_match(c);
        print_cell(table, c, p, to);
        if (!p || isnan(c->speedup) || c->factor < 2 || c->factor > 4.0 * c->procs)
            continue;
        t.cells++;
        t.ours += log(c->speedup);
        t.paper += log(p->speedup);
        t.ours_aware += c->speedup > 1;
        t.paper_aware += bench_is_aware(p->best);
    }
    if (t.cells)
        fprintf(to,
                "\nOver the %d cells with 2 <= factor <= 4 P: arrival-aware fastest in %d here, %d in the "
                "paper; speed-up, "
                "geometric mean, %.3f here, %.3f in the paper\n(the paper gives none below 1: there it "
                "counts as 1).\n",
                t.cells, t.ours_aware, t.paper_aware, exp(t.ours / t.cells), exp(t.paper / t.cells));
    free(cells);
}
