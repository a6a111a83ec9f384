# demo.awk — three lines that say what a measurement showed, from pat-bench's CSV and nothing else.
# Variables: where (text), ranks. Best regular = the fastest of native, direct, bruck, ring, nex, lnbc; the others are arrival-aware.
BEGIN { FS = "," }

NR == 1 {
    for (i = 1; i <= NF; i++)
        column[$i] = i
    if (!("alg" in column && "elapsed_ms" in column && "bound_ms" in column)) {
        print "demo: this is not pat-bench's CSV: " FILENAME > "/dev/stderr"
        failed = 1
        exit 1
    }
    next
}

{
    if ($column["iters"] > asked)
        asked = $column["iters"]
    if ($column["iters"] < 0.8 * asked)
        short_rows++
    if ($column["iters"] == 0)
        next
    cell = $column["count"] " " $column["max_delay_ms"] " " $column["pattern"]
    if (!(cell in seen)) {
        seen[cell] = ++cells
        name[cells] = cell
    }
    c = seen[cell]
    alg = $column["alg"]
    elapsed = $column["elapsed_ms"] + 0
    ci = $column["elapsed_ci_ms"] + 0
    kind = alg ~ /^(native|direct|bruck|ring|nex|lnbc)$/ ? "regular" : "aware"
    if (!((kind, c) in best) || elapsed < best[kind, c]) {
        best[kind, c] = elapsed
        half[kind, c] = ci
        who[kind, c] = alg
        past[kind, c] = $column["past_last_ms"] + 0
        bound[c] = $column["bound_ms"] + 0
    }
    factor[c] += $column["imbalance_factor"]
    rows[c]++
    segment[c] = $column["segment_bytes"]
    delay[c] = $column["max_delay_ms"]
}

function mean(sum, n) { return n ? exp(sum / n) : 0 }
function cells_text(n) { return n " cell" (n == 1 ? "" : "s") }

END {
    if (failed)
        exit 1
    for (c = 1; c <= cells; c++) {
        if (!(("regular", c) in best) || !(("aware", c) in best) || best["aware", c] <= 0)
            continue
        f = factor[c] / rows[c]
        speedup = best["regular", c] / best["aware", c]
        if (f < 2) {
            flat++
            flat_log += log(speedup)
        } else if (f <= 4 * ranks) {
            late++
            late_log += log(speedup)
            past_regular += past["regular", c]
            past_aware += past["aware", c]
            if (bound[c] > 0) {
                bounded++
                over_regular += log(best["regular", c] / bound[c])
                over_aware += log(best["aware", c] / bound[c])
            }
            if (speedup > 1)
                wins++
            if (best["aware", c] + half["aware", c] < best["regular", c] - half["regular", c])
                sure++
            if (!top || speedup > top) {
                top = speedup
                at = c
            }
        } else
            far++
    }

    printf "Late ranks (imbalance factor 2 to %d), %s: ", 4 * ranks, where
    if (late)
        printf "an arrival-aware algorithm was fastest in %d of %s, the 95 %% intervals of the two means apart in %d;" \
            " geometric mean of its speed-up over the best regular one %.2f, at most %.2f (%s, %d KiB, delays up to %g ms).\n",
            wins, cells_text(late), sure, mean(late_log, late), top, who["aware", at], segment[at] / 1024, delay[at]
    else
        print "no cell of this run falls into that range."

    printf "Balanced ranks (factor below 2): "
    if (flat)
        printf "over %s the best arrival-aware algorithm ran at %.2f times the speed of the best regular one.",
            cells_text(flat), mean(flat_log, flat)
    else
        printf "no such cell."
    if (far)
        printf " (What lies beyond factor %d, %s, decides nothing: there the wait for the last rank is all.)", 4 * ranks, cells_text(far)
    print ""

    if (bounded)
        printf "What is left: where ranks were late, the best regular algorithm took %.2f times the physical bound, the best" \
            " arrival-aware one %.2f times; past the last arrival they took %.1f and %.1f ms.\n",
            mean(over_regular, bounded), mean(over_aware, bounded), past_regular / late, past_aware / late
    else
        print "What is left: no physical bound in this run's cells with late ranks."
    if (short_rows)
        printf "Caution: %d of %d rows lack a fifth or more of their %d iterations, since ranks began late: a busy machine.\n",
            short_rows, NR - 1, asked
}
