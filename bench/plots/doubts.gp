# doubts.gp — the note below a picture that names the cells in which the emulated cluster failed its own check: `doubt`, and `sure`, the
# number of rows that are not concerned; `room` is the bottom margin without a note. At most three lines; all of it is in the data.
note = doubt eq '' ? '' : sure == 0 ? 'hollow: the emulated cluster failed its own check in all of these cells' : \
    'hollow: the emulated cluster failed its own check ('.doubt.')'
lines = 1
used = 0
below = ''
do for [part in note] {
    if (used > 0 && used + 1 + strlen(part) > 135) {
        lines = lines + 1
        used = 0
        if (lines == 4) { below = below.' ...' }
        if (lines < 4) { below = below."\n" }
    }
    if (lines < 4) { below = below.(used > 0 ? ' ' : '').part }
    used = used + 1 + strlen(part)
}
set label 99 below at screen 0.01, screen 0.025 + 0.025 * ((lines > 3 ? 3 : lines) - 1) left noenhanced font ',10'
set bmargin room + 1.3 * ((lines > 3 ? 3 : lines) - 1)
