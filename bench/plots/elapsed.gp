# elapsed.gp — mean elapsed time by size, by delay or by ranks, as pat-bench --plot writes it into NAME.csv:
#     gnuplot -c elapsed.gp NAME        draws NAME.svg and NAME.png
# The grey area is below the bound: no algorithm can be there.
reset
here = ARG0[1:strlen(ARG0) - strlen('elapsed.gp')]
load here.'style.gp'
csv = ARG1.'.csv'

algs = ''
places = ''
doubt = ''
sure = 0
has_bound = 0
has_ideal = 0
at(axis) = axis eq 'size' ? column('total_kfloats') : axis eq 'delay' ? column('max_delay_ms') : column('procs')
stats csv using (sure = sure + (column('doubtful') == 0), \
    axis = strcol('axis'), algs = with(algs, strcol('alg')), ranks = column('procs'), ppn = column('ppn'), \
    kib = column('segment_kib'), kfloats = column('total_kfloats'), delay = column('max_delay_ms'), \
    pattern = strcol('pattern'), doubt = column('doubtful') > 0 \
        ? noted(doubt, sprintf('%d ranks, %g KiB, %g ms', ranks, kib, delay)) : doubt, \
    places = tics(places, sprintf('"%.3g\n(%.3g)" %d', at(axis), column('imbalance_factor'), column('place'))), \
    has_bound = has_bound || known('bound_ms'), has_ideal = has_ideal || known('ideal_ring_ms'), \
    column('place')) name 'place' nooutput
stats csv using (column('elapsed_ms')) name 'elapsed' nooutput
algs = in_order(algs)
alg(i) = word(algs, words(algs) + 1 - i)

if (axis eq 'size') {
    set title sprintf('All-gather by size: %s, delays up to %g ms (%s)', nodes(ranks, ppn), delay, pattern) noenhanced
    set xlabel 'gathered data [K floats]; imbalance factor below' offset 0,-1
}
if (axis eq 'delay') {
    set title sprintf('All-gather by delay: %s, %g KiB per rank, delays %s', nodes(ranks, ppn), kib, pattern) noenhanced
    set xlabel 'largest delay [ms]; imbalance factor below' offset 0,-1
}
if (axis eq 'ranks') {
    set title sprintf('All-gather by ranks: %gK floats in all, %d per node, delays up to %g ms (%s)', kfloats, ppn, delay, \
        pattern) noenhanced
    set xlabel 'ranks; imbalance factor below' offset 0,-1
}
eval 'set xtics ('.places.')'
aside(alg) = 0.07 * ((sum [i=1:words(algs)] (word(algs, i) eq alg ? i : 0)) - (words(algs) + 1) / 2.0)

set ylabel 'mean elapsed time [ms], bars: 95 % confidence'
set xrange [-0.5:place_max + 0.5]
# An axis from 0 is honest about ratios; where it would flatten the small ones, a logarithmic one.
if (elapsed_min > 0 && elapsed_max / elapsed_min > 20) { set logscale y } else { set yrange [0:*] }
room = 6
load here.'doubts.gp'

do for [kind = 1:2] {
    if (kind == 1) { eval svg } else { eval png }
    set output ARG1.(kind == 1 ? '.svg' : '.png')
    plot for [b = 1:has_bound] csv using (column('place')):(or_zero('bound_ms')):(0.96) with boxes fs solid noborder \
            lc rgb '#E4E4E4' title 'below the bound', \
        for [b = 1:has_ideal] csv using (column('place') - 0.48):(or_zero('ideal_ring_ms')):(0.96):(0) \
            with vectors nohead lw 1.4 dt 3 lc rgb colour('ring') title 'ideal ring', \
        for [i = 1:words(algs)] csv using (strcol('alg') eq alg(i) ? column('place') + aside(alg(i)) : NaN):\
            (column('elapsed_ms')) with lines lw width(alg(i)) dt dash(alg(i)) lc rgb colour(alg(i)) notitle, \
        csv using (column('place') + aside(strcol('alg'))):(column('elapsed_ms')):(or_zero('elapsed_ci_ms')):\
            (rgb(strcol('alg'))) with yerrorbars lw 1.4 pt 0 lc rgb variable notitle, \
        for [i = 1:words(algs)] csv using (strcol('alg') eq alg(i) ? column('place') + aside(alg(i)) : NaN):\
            (column('elapsed_ms')):(shape(alg(i)) - column('doubtful')) with points ps size(alg(i)) pt variable \
            lw 1.6 lc rgb colour(alg(i)) notitle, \
        for [a in algs] NaN with linespoints lw width(a) dt dash(a) pt shape(a) ps size(a) lc rgb colour(a) title a
    unset output
}
