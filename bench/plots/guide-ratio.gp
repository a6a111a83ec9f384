# guide-ratio.gp — a collective over its fastest mock-up, some lines of it: what guide-lines.gp and guide-ranks.gp have in common. They have set before
#     name, which picture it is; line, place and tic, the columns with what a line is called, where its points are and what these are called; axis, what that is called; margin, beside the outer ones
paints = '#D55E00 #0072B2 #009E73 #CC79A7 #E69F00 #56B4E9 #000000 #8C6D31'
paint(i) = word(paints, 1 + int(i) % words(paints))
dashed(i) = 1 + int(i) / words(paints)

along = ''
titles = ''
numbers = ''
stats csv using (mpi = strcol('collective'), along = tics(along, sprintf('"%s" %d', strcol(tic), column(place))), \
    number = sprintf('%d', column('number')), titles = listed(numbers, number) ? titles : titles.(numbers eq '' ? '' : '; ').strcol(line), \
    numbers = with(numbers, number), column(place)) name 'x' nooutput
stats csv using (column('ratio')) name 'ratio' nooutput
# The title of the i-th of these numbers, whether or not another has the same.
title_of(i) = (rest = titles, (sum [k=2:i] (rest = rest[strstrt(rest, '; ') + 2:*], 0)), strstrt(rest, '; ') ? rest[1:strstrt(rest, '; ') - 1] : rest)
number_of(i) = int(word(numbers, i))

set title mpi.": its median over that of the fastest mock-up. Above 1 (red) the mock-up is faster; filled: significantly" noenhanced
set xlabel axis
set ylabel 'ratio'
set logscale x 2
set logscale y
set xrange [x_min / margin:x_max * margin]
low = ratio_min < 0.9 ? ratio_min / 1.1 : 0.8
high = ratio_max > 1.1 ? ratio_max * 1.1 : 1.25
set yrange [low:high]
set ytics (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)
set ytics add (0.8, 1.25, 1.5)
set key outside bottom center horizontal noenhanced
if (strlen(along) < 600) { eval 'set xtics ('.along.') noenhanced rotate by -45' }
set object 1 rectangle from graph 0, first low to graph 1, first 1 fc rgb '#E8F5EE' fs solid noborder behind
set object 2 rectangle from graph 0, first 1 to graph 1, first high fc rgb '#FBE9E0' fs solid noborder behind
set arrow 1 from graph 0, first 1 to graph 1, first 1 nohead lc rgb '#444444' lw 1.2 back

do for [kind = 1:2] {
    if (kind == 1) { eval svg } else { eval png }
    set output name.(kind == 1 ? '.svg' : '.png')
    plot for [i = 1:words(numbers)] csv using (column('number') == number_of(i) ? column(place) : NaN):(column('ratio')) \
            with lines lw 1.8 dt dashed(number_of(i)) lc rgb paint(number_of(i)) notitle, \
        for [i = 1:words(numbers)] csv using (column('number') == number_of(i) ? column(place) : NaN):(column('ratio')):\
            (6 + column('violated')) with points pt variable ps 1.2 lw 1.6 lc rgb paint(number_of(i)) notitle, \
        for [i = 1:words(numbers)] NaN with linespoints lw 1.8 dt dashed(number_of(i)) pt 7 lc rgb paint(number_of(i)) title title_of(i)
    unset output
}
