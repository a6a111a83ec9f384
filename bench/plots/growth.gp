# growth.gp — does the time past the last arrival grow with the ranks? As pat-bench --plot writes it into NAME.csv:
#     gnuplot -c growth.gp NAME        draws NAME.svg and NAME.png
reset
here = ARG0[1:strlen(ARG0) - strlen('growth.gp')]
load here.'style.gp'
csv = ARG1.'.csv'

algs = ''
places = ''
doubt = ''
sure = 0
stats csv using (sure = sure + (column('doubtful') == 0), \
    algs = with(algs, strcol('alg')), kib = column('segment_kib'), gap = column('gap_in_segments'), \
    ppn = column('ppn'), doubt = column('doubtful') > 0 \
        ? noted(doubt, sprintf('%d ranks, %g KiB', column('procs'), kib)) : doubt, \
    places = tics(places, sprintf('"%d" %d', column('procs'), column('procs'))), column('procs')) name 'ranks' nooutput
stats csv using (column('past_last_in_segments')) name 'past' nooutput
algs = in_order(algs)
alg(i) = word(algs, words(algs) + 1 - i)

set title sprintf("Ranks that arrive one after the other, %.2g segments' time apart: %g KiB per rank, %s", gap, kib, \
    ppn == 1 ? 'one per node' : sprintf('%d per node', ppn)) noenhanced
set xlabel 'ranks'
set ylabel 'time past the last arrival [times of a segment]'
set logscale x 2
set xrange [ranks_min / 1.15:ranks_max * 1.15]
if (past_min > 0 && past_max / past_min > 10) {
    set logscale y
    set ytics add (0.2, 0.5, 2, 5, 20, 50)
    set yrange [past_min / 1.3:past_max * 1.3]
} else { set yrange [0:*] }
eval 'set xtics ('.places.')'
room = 5
load here.'doubts.gp'

do for [kind = 1:2] {
    if (kind == 1) { eval svg } else { eval png }
    set output ARG1.(kind == 1 ? '.svg' : '.png')
    plot for [i = 1:words(algs)] csv using (strcol('alg') eq alg(i) ? column('procs') : NaN):\
            (column('past_last_in_segments')) with lines lw width(alg(i)) dt dash(alg(i)) lc rgb colour(alg(i)) notitle, \
        for [i = 1:words(algs)] csv using (strcol('alg') eq alg(i) ? column('procs') : NaN):\
            (column('past_last_in_segments')):(shape(alg(i)) - (shape(alg(i)) > 0 ? column('doubtful') : 0)) with points \
            ps size(alg(i)) pt variable lw 1.6 lc rgb colour(alg(i)) notitle, \
        for [a in algs] NaN with linespoints lw width(a) dt dash(a) pt shape(a) ps size(a) lc rgb colour(a) title a
    unset output
}
