# style.gp — what all pictures share: one colour, mark and dash type for each algorithm, wherever it is drawn. The colours are
# Okabe and Ito's, which the colour-blind tell apart; marks and dash types do so in grey. relay and auto are the strongest.
# Cells in which the emulated cluster failed its own check have hollow marks, and a note names them.
names   = 'auto relay native direct bruck ring nex lnbc bdr bslb bound'
colours = '#000000 #D55E00 #0072B2 #F0E442 #8C6D31 #56B4E9 #009E73 #999999 #CC79A7 #E69F00 #555555'
shapes  = '7 13 5 4 6 9 11 15 5 7 0'
dashes  = '1 1 2 5 5 3 4 5 2 4 1'
widths  = '1.8 3.4 1.4 1.4 1.4 1.4 1.4 1.4 1.4 1.4 1.6'
sizes   = '1.0 1.6 1.0 1.0 1.0 1.1 1.1 1.1 1.0 1.0 0'
unknown = '#7F7F7F'

# What is not in the table is grey.
number(alg)  = sum [i=1:words(names)] (word(names, i) eq alg ? i : 0)
colour(alg)  = number(alg) ? word(colours, number(alg)) : unknown
shape(alg)   = number(alg) ? int(word(shapes, number(alg))) : 5
dash(alg)    = number(alg) ? int(word(dashes, number(alg))) : 3
width(alg)   = number(alg) ? real(word(widths, number(alg))) : 1.4
size(alg)    = number(alg) ? real(word(sizes, number(alg))) : 1.0
rgb(alg)     = int('0x'.substr(colour(alg), 2, 7))
# The algorithms of a list as they come in a legend; a picture is drawn the other way round, the strongest last and on top.
in_order(algs) = (found = '', (sum [i=1:words(names)] (listed(algs, word(names, i)) ? (found = with(found, word(names, i)), 0) : 0)), \
    (sum [i=1:words(algs)] (found = with(found, word(algs, i)), 0)), found)
# A number that may not be known.
known(name)  = strcol(name) ne 'nan'
or_zero(name) = known(name) ? real(strcol(name)) : 0

# Words of a column, each once, in the order in which they come.
listed(list, item) = strstrt(' '.list.' ', ' '.item.' ') > 0
with(list, item)   = listed(list, item) ? list : (list eq '' ? item : list.' '.item)
# The same for notes, with semicolons between them, and for tics, with commas.
noted(list, item)  = strstrt('; '.list.'; ', '; '.item.'; ') > 0 ? list : (list eq '' ? item : list.'; '.item)
tics(list, item)   = strstrt(', '.list.', ', ', '.item.', ') > 0 ? list : (list eq '' ? item : list.', '.item)
nodes(ranks, ppn)  = sprintf('%d ranks', ranks).(ppn == 1 ? ', one per node' : sprintf(', %d per node', ppn))

set datafile separator comma
set datafile missing NaN
set encoding utf8
set tics nomirror
set border 3 lc rgb '#444444'
set grid ytics back lt 1 lw 1 lc rgb '#DDDDDD'
set key outside right top vertical noenhanced samplen 3 spacing 1.2
svg = "set terminal svg size 1000,600 font 'DejaVu Sans,13' background 'white'"
png = "set terminal pngcairo size 1000,600 font 'DejaVu Sans,11' background 'white'"
