# guide-heat.gp — by how much each collective is slower than its fastest mock-up, size by size, as pat-guidelines --report writes it into NAME.csv:
#     gnuplot -c guide-heat.gp NAME        draws NAME.svg and NAME.png
reset
here = ARG0[1:strlen(ARG0) - strlen('guide-heat.gp')]
load here.'style.gp'
csv = ARG1.'.csv'

along = ''
upward = ''
most = 1.15
stats csv using (view = strcol('view'), along = tics(along, sprintf('"%s" %d', strcol('size'), column('across'))), \
    upward = tics(upward, sprintf('"%s" %d', strcol('collective'), column('up'))), \
    most = column('slowdown') > most ? column('slowdown') : most, column('across')) name 'across' nooutput
stats csv using (column('up')) name 'up' nooutput

set title "Violated guidelines: how much slower than the fastest mock-up, ".view."\n* a gain below a barrier, ! certain; below 1.00 the test says so, but not the medians" noenhanced
set xlabel 'bytes'
set xrange [-0.5:across_max + 0.5]
set yrange [-0.5:up_max + 0.5]
unset grid
unset key
set border 0
set tics scale 0
set palette defined (0 '#F4F4F4', 1 '#D55E00')
set logscale cb
set cbrange [1:most]
set cblabel 'slow-down' offset 1,0
set format cb '%.2f'
set cbtics (1, sqrt(most), most)
eval 'set xtics ('.along.') noenhanced'
eval 'set ytics ('.upward.') noenhanced'
# The test may find faster what has the higher median: that is a violation, too, and is told.
figure(slowdown) = column('violated') > 0 ? sprintf('%.2f', slowdown).(column('starred') > 0 ? '*' : column('certain') > 0 ? '!' : '') : ''

do for [kind = 1:2] {
    if (kind == 1) { eval svg } else { eval png }
    set output ARG1.(kind == 1 ? '.svg' : '.png')
    plot csv using (column('across')):(column('up')):(column('across') - 0.5):(column('across') + 0.5):(column('up') - 0.5):\
            (column('up') + 0.5):(column('slowdown')) with boxxyerror fs solid border lc rgb 'white' fc palette, \
        csv using (column('across')):(column('up')):(figure(column('slowdown'))) with labels noenhanced font ',10'
    unset output
}
