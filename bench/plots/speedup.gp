# speedup.gp — the best regular over the best arrival-aware algorithm, as pat-bench --plot writes it into NAME.csv:
#     gnuplot -c speedup.gp NAME        draws NAME.svg and NAME.png
reset
here = ARG0[1:strlen(ARG0) - strlen('speedup.gp')]
load here.'style.gp'
csv = ARG1.'.csv'

along = ''
upward = ''
doubt = ''
sure = 0
extreme = 1.15
stats csv using (sure = sure + (column('doubtful') == 0), \
    ranks = column('procs'), ppn = column('ppn'), pattern = strcol('pattern'), doubt = column('doubtful') > 0 \
    ? noted(doubt, sprintf('%g KiB, %g ms', column('segment_kib'), column('max_delay_ms'))) : doubt, \
    ratio = column('speedup') > 1 ? column('speedup') : 1 / column('speedup'), \
    extreme = ratio > extreme ? ratio : extreme, along = tics(along, sprintf('"%.3g" %d', column('max_delay_ms'), column('across'))), \
    upward = tics(upward, sprintf('"%.6g" %d', column('total_kfloats'), column('up'))), \
    column('across')) name 'across' nooutput
stats csv using (column('up')) name 'up' nooutput

set title sprintf("Best regular over best arrival-aware algorithm, mean elapsed time: %s, delays %s\n", nodes(ranks, ppn), \
    pattern)."in the box: fastest algorithm, ratio (* beyond the 95 % confidence interval), imbalance factor" noenhanced
set xlabel 'largest delay [ms]'
set ylabel 'gathered data [K floats]'
set xrange [-0.5:across_max + 0.5]
set yrange [-0.5:up_max + 0.5]
unset grid
unset key
set border 0
set tics scale 0
# Blue: regular is faster; orange: arrival-aware is. Both light enough for black text, which says the same.
set palette defined (-1 '#7FB8D8', 0 '#FFFFFF', 1 '#EA9F66')
set logscale cb
set cbrange [1 / extreme:extreme]
set cblabel 'speed-up' offset 1,0
set format cb '%.2f'
set cbtics (1 / extreme, 1 / sqrt(extreme), 1, sqrt(extreme), extreme)
box(clear) = sprintf("%s\n%.2f%s\n(%.3g)", strcol('fastest'), column('speedup'), clear > 0 ? '*' : '', column('imbalance_factor'))
eval 'set xtics ('.along.')'
eval 'set ytics ('.upward.')'
# What is not to be drawn lies beside the picture.
shown(by)  = column('across') + by - (column('doubtful') > 0 ? 1000 : 0)
hollow(by) = column('across') + by - (column('doubtful') > 0 ? 0 : 1000)
room = 5
load here.'doubts.gp'

do for [kind = 1:2] {
    if (kind == 1) { eval svg } else { eval png }
    set output ARG1.(kind == 1 ? '.svg' : '.png')
    plot csv using (shown(0)):(column('up')):(shown(-0.5)):(shown(0.5)):(column('up') - 0.5):(column('up') + 0.5):\
            (column('speedup')) with boxxyerror fs solid border lc rgb 'white' fc palette, \
        csv using (hollow(0)):(column('up')):(hollow(-0.47)):(hollow(0.47)):(column('up') - 0.46):(column('up') + 0.46) \
            with boxxyerror lc rgb '#555555' dt 2 fs empty border rgb '#555555', \
        csv using (column('across')):(column('up')):(box(column('beyond_doubt'))) with labels offset 0,0.7 noenhanced
    unset output
}
