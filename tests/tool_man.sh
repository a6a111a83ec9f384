#!/usr/bin/env bash
# tool_man.sh — the man pages are whole and in step: no formatting error, every function and option is there, and nothing is
# there that the program does not know. Those of the compiled tools and of the functions are made from --help and pat.h.
set -eu

broken=0
complain() {
    echo "FAIL: $*" >&2
    broken=1
}
pages=$PAT_SOURCE/docs/man
version=$(sed -n 's/^project(pat VERSION \([0-9.]*\).*/\1/p' "$PAT_SOURCE/CMakeLists.txt")

shopt -s nullglob
made=("$PAT_BUILD"/man/man1/*.1 "$PAT_BUILD"/man/man3/*.3)
for page in "$pages"/*.[0-9] "${made[@]}"; do
    name=$(basename "$page")
    if ! grep -q '^\.so ' "$page"; then
        grep -q "^\.TH .*\"PAT $version\"" "$page" || complain "$name is not of version $version"
    fi
    if command -v groff >/dev/null; then
        warnings=$(groff -man -Tutf8 -ww -K utf8 -z -I "$PAT_BUILD/man" "$page" 2>&1)
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
same "options in pat-lab.1" "$(page_options pat-lab.1)" "$(help_options "$PAT_SOURCE/bench/lab")"
same "options in pat-run.1" "$(page_options pat-run.1)" "$(help_options "$PAT_SOURCE/src/dropin/pat-run")"
functions=$(sed -n 's/^PAT_PUBLIC .*[ *]\(PAT_[A-Za-z_]*\)(.*/\1/p' "$PAT_SOURCE/include/pat.h")
same "functions with a page of section 3" "$(cd "$PAT_BUILD/man/man3" && printf '%s\n' *.3 | sed 's/\.3$//')" "$functions"
for function in $functions; do
    page=$PAT_BUILD/man/man3/$function.3
    [ ! -e "$page" ] || ! grep -q '^\.so ' "$page" || page=$PAT_BUILD/man/$(sed 's/^\.so //' "$page")
    if ! grep -q "^\.SS $function\$" "$page" || ! grep -A2 '^\.SH NAME' "$page" | grep -qw "$function"; then
        complain "$function is not described in $(basename "$page")"
    fi
done
# What the header says of a function is in its page, to the end.
grep -q 'variable is malformed' "$PAT_BUILD/man/man3/PAT_Init.3" || complain "PAT_Init.3 lacks its errors"
if [ -x "$PAT_BUILD/bench/pat-bench" ] && command -v help2man >/dev/null; then
    read -ra tools <<<"$(sed -n 's/^set(PAT_TOOLS \(.*\))/\1/p' "$PAT_SOURCE/cmake/man.cmake")"
    for tool in "${tools[@]}"; do
        page=$PAT_BUILD/man/man1/$tool.1
        if grep -q '^PAT_SANITIZE:STRING=..*' "$PAT_BUILD/CMakeCache.txt"; then break; fi
        [ -s "$page" ] || complain "$tool has no page"
        grep -q "^$tool \\\\- " "$page" || complain "$tool.1 does not say in a line what $tool is"
        for part in SYNOPSIS DESCRIPTION OPTIONS "SEE ALSO"; do
            grep -qE "^\.SH \"?$part" "$page" || complain "$tool.1 lacks $part"
        done
        grep -q 'Exit status: 0' "$page" || complain "$tool.1 does not say how it ends"
    done
fi
[ $broken -eq 0 ] || exit 1
echo "the man pages are in step"
