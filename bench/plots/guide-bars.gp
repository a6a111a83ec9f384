# guide-bars.gp — the largest slow-down of all collectives at each size, bars beside one another for campaigns, as pat-guidelines --report writes it into
# NAME.csv:
#     gnuplot -c guide-bars.gp NAME        draws NAME.svg and NAME.png
reset
here = ARG0[1:strlen(ARG0) - strlen('guide-bars.gp')]
load here.'style.gp'
csv = ARG1.'.csv'
paints = '#D55E00 #0072B2 #009E73 #CC79A7 #E69F00 #56B4E9 #000000 #8C6D31'
paint(i) = word(paints, 1 + int(i) % words(paints))

along = ''
titles = ''
numbers = ''
stats csv using (num = column('views'), along = tics(along, sprintf('"%s" %d', strcol('size'), column('across'))), \
    numbers = with(numbers, sprintf('%d', column('number'))), titles = noted(titles, strcol('view')), column('across')) name 'across' nooutput
stats csv using (column('slowdown')) name 'slowdown' nooutput
# The i-th of what noted() has joined.
title_of(i) = (rest = titles, (sum [k=2:i] (rest = rest[strstrt(rest, '; ') + 2:*], 0)), strstrt(rest, '; ') ? rest[1:strstrt(rest, '; ') - 1] : rest)
number_of(i) = int(word(numbers, i)) # a view without a judged cell has no rows

set title 'The largest slow-down of a violated guideline by size; at 1 none is violated'
set xlabel 'bytes'
set ylabel 'slow-down'
set xrange [-0.5:across_max + 0.5]
set yrange [1:(slowdown_max > 1.1 ? 1.05 * slowdown_max : 1.2)]
set key outside bottom center horizontal noenhanced
set style fill solid 0.9 border rgb 'white'
eval 'set xtics ('.along.') noenhanced'
wide = 0.8 / num
left(i) = column('across') - 0.4 + wide * i

do for [kind = 1:2] {
    if (kind == 1) { eval svg } else { eval png }
    set output ARG1.(kind == 1 ? '.svg' : '.png')
    plot for [k = 1:words(numbers)] csv using (column('number') == number_of(k) ? column('across') : NaN):(1):(left(number_of(k))):\
            (left(number_of(k)) + wide):(1):(column('slowdown')) with boxxyerror lc rgb paint(number_of(k)) title title_of(k)
    unset output
}
