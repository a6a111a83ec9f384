# choices.gp — by message length: the fastest algorithm, the one chosen by calibration, and the MPI library's own. From what
# pat-calibrate --check prints, saved as NAME.txt:
#     gnuplot -c choices.gp NAME        draws NAME-OPERATION.svg and NAME-OPERATION.png for each operation
reset
here = ARG0[1:strlen(ARG0) - strlen('choices.gp')]
load here.'style.gp'
text = ARG1.'.txt'
set datafile separator whitespace

# "broadcast:8" for each table, and the lines of one of them.
tables = system("sed -n 's/^# \\([a-z-]*\\), \\([0-9]*\\) ranks (measured.*/\\1:\\2/p' '".text."'")
lines(i) = sprintf("< awk '/ ranks \\(measured / { table++ } table == %d && $1 + 0 > 0' '%s'", i, text)
op(i) = word(tables, i)[1:strstrt(word(tables, i), ':') - 1]
ranks(i) = word(tables, i)[strstrt(word(tables, i), ':') + 1:*]

set xlabel 'bytes: of the message, or of each rank'
set ylabel 'time [ms], all ranks calling at once'
set logscale x 2
set logscale y
set format x '%.0b %BB'
set key inside left top
do for [i = 1:words(tables)] {
    set title sprintf('%s, %s ranks', op(i), ranks(i)) noenhanced
    do for [kind = 1:2] {
        if (kind == 1) { eval svg } else { eval png }
        set output ARG1.'-'.op(i).(kind == 1 ? '.svg' : '.png')
        plot lines(i) using 1:($7 / 1000) with linespoints lw 1.4 pt 5 lc rgb colour('native') title "the MPI library's own", \
            lines(i) using 1:($3 * (1 + $5 / 100) / 1000) with linespoints lw 3.4 pt 13 lc rgb colour('relay') title 'chosen', \
            lines(i) using 1:($3 / 1000) with lines lw 1.4 dt 2 lc rgb colour('auto') title 'the fastest'
        unset output
    }
}
