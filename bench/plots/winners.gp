# winners.gp — in how many cells each algorithm is the fastest, by largest delay and by size, as pat-bench --plot writes it into NAME.csv:
#     gnuplot -c winners.gp NAME        draws NAME.svg and NAME.png
reset
here = ARG0[1:strlen(ARG0) - strlen('winners.gp')]
load here.'style.gp'
csv = ARG1.'.csv'

algs = ''
doubt = ''
sure = 0
at_delay = ''
at_size = ''
stats csv using (sure = sure + (column('doubtful') == 0), algs = with(algs, strcol('alg')), \
    doubt = strcol('axis') eq 'delay' && column('doubtful') > 0 \
        ? noted(doubt, sprintf('%g ms: %d', column('value'), column('doubtful'))) : doubt, \
    at_delay = strcol('axis') eq 'delay' ? tics(at_delay, sprintf('"%.6g" %d', column('value'), column('place'))) : at_delay, \
    at_size = strcol('axis') eq 'size' ? tics(at_size, sprintf('"%.6g" %d', column('value'), column('place'))) : at_size, \
    column('place')) name 'place' nooutput
algs = in_order(algs)

# The note of doubts.gp is of hollow marks; bars have none.
room = 5
if (doubt ne '') {
    set label 99 'cells in which the emulated cluster failed its own check: '.doubt at screen 0.01, screen 0.025 left noenhanced font ',10'
}
set yrange [0:*]
set style fill solid 0.9 border rgb 'white'
set bmargin room
do for [kind = 1:2] {
    if (kind == 1) { eval svg } else { eval png }
    set output ARG1.(kind == 1 ? '.svg' : '.png')
    set multiplot layout 1,2 title 'Cells in which each algorithm is the fastest by mean elapsed time'
    do for [axis in 'delay size'] {
        set xlabel axis eq 'delay' ? 'largest delay [ms]' : 'gathered data [K floats]'
        set ylabel axis eq 'delay' ? 'cells' : ''
        if (axis eq 'delay') { unset key } else { set key outside right top vertical noenhanced samplen 1 spacing 1.2 }
        eval 'set xtics ('.(axis eq 'delay' ? at_delay : at_size).')'
        plot for [a in algs] csv using (strcol('alg') eq a && strcol('axis') eq axis && column('won') > 0 \
                ? column('place') : NaN):(column('below')):(column('place') - 0.38):(column('place') + 0.38):\
                (column('below')):(column('below') + column('won')) with boxxyerror lc rgb colour(a) title a
    }
    unset multiplot
    unset output
}
