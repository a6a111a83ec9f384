# guide-totals.gp — how many guidelines are violated, campaign by campaign: all, those whose gain is above a barrier, and those that are certain; as
# pat-guidelines --report writes it into NAME.csv:
#     gnuplot -c guide-totals.gp NAME        draws NAME.svg and NAME.png
reset
here = ARG0[1:strlen(ARG0) - strlen('guide-totals.gp')]
load here.'style.gp'
csv = ARG1.'.csv'

along = ''
most = 1
stats csv using (along = tics(along, sprintf('"%s" %d', strcol('view'), column('number'))), \
    most = column('brave') > most ? column('brave') : most, column('number')) name 'number' nooutput
set title 'Violated guidelines'
set ylabel 'cells'
set xrange [-0.5:number_max + 0.5]
set yrange [0:1.15 * most]
set key outside bottom center horizontal
set style fill solid 0.9 border rgb 'white'
eval 'set xtics ('.along.') noenhanced'
kinds = 'brave cautious certain'
paints = '#56B4E9 #0072B2 #D55E00'
left(k) = column('number') - 0.4 + 0.27 * (k - 1)

do for [kind = 1:2] {
    if (kind == 1) { eval svg } else { eval png }
    set output ARG1.(kind == 1 ? '.svg' : '.png')
    plot for [k = 1:3] csv using (column('number')):(0):(left(k)):(left(k) + 0.25):(0):(column(word(kinds, k))) with boxxyerror \
            lc rgb word(paints, k) title word(kinds, k), \
        csv using (column('number')):(column('brave')):(sprintf('of %d, score %.1f', column('cells'), column('score'))) with labels \
            offset 0,0.8 notitle
    unset output
}
