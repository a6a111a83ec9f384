# over-bound.gp — an algorithm's mean elapsed time over the bound, as pat-bench --plot --versus ALG writes it into NAME.csv:
#     gnuplot -c over-bound.gp NAME        draws NAME.svg and NAME.png
reset
here = ARG0[1:strlen(ARG0) - strlen('over-bound.gp')]
load here.'style.gp'
csv = ARG1.'.csv'

row(ppn) = sprintf('%d ranks, %g KiB', column('procs'), column('segment_kib')).(ppn == 1 ? '' : sprintf(', %d per node', ppn))
along = ''
upward = ''
doubt = ''
sure = 0
stats csv using (sure = sure + (column('doubtful') == 0), \
    alg = strcol('alg'), pattern = strcol('pattern'), doubt = column('doubtful') > 0 \
    ? noted(doubt, sprintf('%d ranks, %g KiB, %g segments', column('procs'), column('segment_kib'), column('delay_in_segments'))) \
    : doubt, along = tics(along, sprintf('"%g" %d', column('delay_in_segments'), column('across'))), \
    upward = tics(upward, sprintf('"%s" %d', row(column('ppn')), column('up'))), \
    column('across')) name 'across' nooutput
stats csv using (column('up')) name 'up' nooutput
stats csv using (column('over_bound')) name 'over' nooutput

set title sprintf('%s over the bound, mean elapsed time (1: no algorithm can be faster), delays %s', alg, pattern) noenhanced
set xlabel "largest delay [times of a segment, to the nearest power of two]"
set xrange [-0.5:across_max + 0.5]
set yrange [-0.5:up_max + 0.5]
unset grid
unset key
set border 0
set tics scale 0
# Darker is further away, in grey too; the scale ends with the data.
most = over_max > 1.1 ? over_max : 1.1
set cbrange [1:most]
set palette defined (0 '#FFFFFF', 1 '#0072B2')
set cblabel 'over the bound' offset 1,0
set format cb '%.2f'
text(value) = value > 1 + 0.6 * (most - 1) ? 0xFFFFFF : 0x000000
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
            (column('over_bound')) with boxxyerror fs solid border lc rgb 'white' fc palette, \
        csv using (hollow(0)):(column('up')):(hollow(-0.47)):(hollow(0.47)):(column('up') - 0.46):(column('up') + 0.46) \
            with boxxyerror lc rgb '#555555' dt 2 fs empty border rgb '#555555', \
        csv using (column('across')):(column('up')):(sprintf('%.2f', column('over_bound'))):\
            (column('doubtful') > 0 ? 0 : text(column('over_bound'))) with labels textcolor rgb variable noenhanced
    unset output
}
