# timeline.gp — one round of several algorithms, a panel each, as bench/timeline writes it into NAME.csv:
#     gnuplot -c timeline.gp NAME        draws NAME.svg and NAME.png
# kind call: from a rank's call to its return; piece: a piece of `block`, as long as it was on the link.
reset
load ARG0[1:strlen(ARG0) - strlen('timeline.gp')].'style.gp'
csv = ARG1.'.csv'
# A block's colour is its owner's; neighbours differ in grey too.
shades = '0x0072B2 0xF0E442 0xD55E00 0x56B4E9 0x009E73 0xE69F00 0xCC79A7 0x999999'
shade(block) = int(word(shades, int(block) % 8 + 1))

algs = ''
stats csv using (algs = with(algs, strcol('alg')), column('end_ms')) name 'time' nooutput
stats csv using (column('rank')) name 'rank' nooutput
left = -0.06 * time_max
is(alg, kind) = strcol('alg') eq alg && strcol('kind') eq kind
array last[words(algs)]
array elapsed[words(algs)]
array past[words(algs)]
do for [i = 1:words(algs)] {
    stats csv using (is(word(algs, i), 'call') ? column('begin_ms') : NaN) name 'call' nooutput
    stats csv using (is(word(algs, i), 'call') ? column('end_ms') : NaN) name 'return' nooutput
    last[i] = call_max
    elapsed[i] = return_mean - call_mean
    past[i] = return_max - call_max
}

unset key
unset grid
set style fill solid noborder
set yrange [rank_max + 0.6:-0.6]
set ytics 1
set xrange [left:1.03 * time_max]
set ylabel 'rank'
size(kind) = sprintf('size 1000,%d', 60 + 250 * words(algs))
do for [kind = 1:2] {
    if (kind == 1) {
        eval "set terminal svg ".size(1)." font 'DejaVu Sans,13' background 'white'"
    } else {
        eval "set terminal pngcairo ".size(2)." font 'DejaVu Sans,11' background 'white'"
    }
    set output ARG1.(kind == 1 ? '.svg' : '.png')
    set multiplot layout words(algs), 1
    do for [i = 1:words(algs)] {
        a = word(algs, i)
        set title sprintf('%s: mean elapsed %.1f ms, past the last arrival %.1f ms', a, elapsed[i], past[i]) noenhanced
        unset arrow
        set arrow from last[i], graph 0 to last[i], graph 1 nohead front dt 2 lc rgb '#555555'
        if (i == words(algs)) {
            set xlabel 'ms since the first rank called; grey: computes, boxed: waits in the call; colours: blocks as they come in; dashed: the last call'
        } else { set xlabel '' }
        plot csv using (is(a, 'call') ? left : NaN):(column('rank')):(left):(column('begin_ms')):(column('rank') - 0.4):\
                (column('rank') + 0.4) with boxxyerror fc rgb '#DDDDDD', \
            csv using (is(a, 'piece') ? column('begin_ms') : NaN):(column('rank')):(column('begin_ms')):(column('end_ms')):\
                (column('rank') - 0.3):(column('rank') + 0.3):(shade(column('block'))) with boxxyerror fc rgb variable, \
            csv using (is(a, 'call') ? column('begin_ms') : NaN):(column('rank')):(column('begin_ms')):(column('end_ms')):\
                (column('rank') - 0.4):(column('rank') + 0.4) with boxxyerror fs empty border lw 1.2 lc rgb '#222222', \
            csv using (is(a, 'call') ? 0.8 * left : NaN):(column('rank')):(0.9 * left):(0.6 * left):(column('rank') - 0.4):\
                (column('rank') + 0.4):(shade(column('rank'))) with boxxyerror fc rgb variable
    }
    unset multiplot
    unset output
}
