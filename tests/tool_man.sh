#!/usr/bin/env bash
# tool_man.sh — the man pages are whole and in step: no formatting error, every function, setting and option is there,
# and nothing is there that the program does not know.
set -eu

broken=0
complain() {
    echo "FAIL: $*" >&2
    broken=1
}
pages=$PAT_SOURCE/docs/man
version=$(sed -n 's/^project(pat VERSION \([0-9.]*\).*/\1/p' "$PAT_SOURCE/CMakeLists.txt")

for page in "$pages"/*.[0-9]; do
    name=$(basename "$page")
    grep -q "^\.TH .*\"PAT $version\"" "$page" || complain "$name is not of version $version"
    if command -v groff >/dev/null; then
        warnings=$(groff -man -Tutf8 -ww -K utf8 -z "$page" 2>&1)
        [ -z "$warnings" ] || complain "$name: $warnings"
    fi
done

# same WHAT IN-PAGE IN-PROGRAM: two lists, one entry a line.
same() {
    local difference
    [ -n "$3" ] || complain "$1: nothing found to compare with"
    difference=$(diff <(sort -u <<<"$2") <(sort -u <<<"$3")) ||
        complain "$1: man page (<) and program (>) differ: $difference"
}
# Options of a page, and of a help text: what begins with -- where an option is described.
page_options() {
    sed -n '/^\.SH OPTIONS/,/^\.SH [^O]/p' "$pages/$1" | grep -A1 '^\.TP' | sed 's/\\-/-/g' | grep -oE -- '--[a-z-]+'
}
help_options() {
    "$@" --help | grep -oE -- '^ +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+'
}

same "functions in pat.7" "$(sed -n '/^\.SH SYNOPSIS/,/^\.SH DESC/p' "$pages/pat.7" | grep -oE 'PAT_[A-Za-z_]+\(' | tr -d '(')" \
    "$(sed -n 's/^PAT_PUBLIC .*[ *]\(PAT_[A-Za-z_]*\)(.*/\1/p' "$PAT_SOURCE/include/pat.h")"
same "settings in pat.7" "$(sed -n '/^\.SH ENVIRONMENT/,/^\.SH EX/p' "$pages/pat.7" | grep -A1 '^\.TP' | grep -oE 'PAT_[A-Z_]+')" \
    "$(grep -oE '"PAT_[A-Z_]+"' "$PAT_SOURCE/src/config.c" | tr -d '"')"
same "options in pat-lab.1" "$(page_options pat-lab.1)" "$(help_options "$PAT_SOURCE/bench/lab")"
same "options in pat-run.1" "$(page_options pat-run.1)" "$(help_options "$PAT_SOURCE/src/dropin/pat-run")"
bench=$(find "$PAT_BUILD" -type f -name pat-bench -perm -u+x | head -n 1)
if [ -n "$bench" ]; then
    same "options in pat-bench.1" "$(page_options pat-bench.1)" "$(help_options "$bench")"
    for tool in calibrate model info; do
        same "options in pat-$tool.1" "$(page_options pat-$tool.1)" "$(help_options "${bench%bench}$tool")"
    done
fi
[ $broken -eq 0 ] || exit 1
echo "the man pages are in step"
