#!/usr/bin/env bash
# tool_settings.sh — what docs/settings.md and pat(7) say of each setting in short is what the table in src/choose/config.c says.
# By hand, after a change of that table: PAT_SOURCE=. PAT_BUILD=build tests/tool_settings.sh --write writes both anew.
set -eu

info=$PAT_BUILD/bench/pat-info
if ! [ -x "$info" ] || ! command -v jq >/dev/null; then
    echo "skipped: no pat-info or no jq here"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
(
    for name in $(compgen -e PAT_); do unset "$name"; done
    "$info" --json >"$work/facts.json"
)

cat >"$work/md.jq" <<'JQ'
def text: gsub("<"; "&lt;") | gsub("\\|"; "\\|");
def code: "`" + . + "`";
"| variable | meaning | accepted | default |", "|---|---|---|---|",
(.settings[] | "| [" + (.name | code) + "](#" + (.name | ascii_downcase) + ") | " + (.description | text) + " | " +
    (.accepted | text) + " | " + (if .default | IN("nothing", "measured", "found") then .default else .default | code end) + " |")
JQ
cat >"$work/man.jq" <<'JQ'
def text: gsub("\\\\"; "\\e") | gsub("-"; "\\-");
.settings[] | ".TP", ".B " + .name, (.description | text), "Accepted: " + (.accepted | text) + "; default: " + (.default | text) + "."
JQ

# part FILE PROGRAM BEGIN END: what stands between the lines BEGIN and END of FILE is what the program makes of the table.
broken=0
part() {
    local file=$PAT_SOURCE/$1 difference
    jq -r -f "$work/$2" "$work/facts.json" >"$work/part"
    begin=$3 end=$4 part=$work/part awk ' # not by -v, which takes backslashes out
        BEGIN { begin = ENVIRON["begin"]; end = ENVIRON["end"]; part = ENVIRON["part"] }
        $0 == end { inside = 0; ended++ }
        !inside { print }
        $0 == begin { inside = 1; begun++; while ((getline line < part) > 0) print line }
        END { exit begun != 1 || ended != 1 }' "$file" >"$work/new" || {
        echo "FAIL: $1 lacks the lines '$3' and '$4'" >&2
        exit 1
    }
    if [ "$write" = yes ]; then
        cat "$work/new" >"$file"
    elif ! difference=$(diff "$file" "$work/new"); then
        echo "FAIL: $1 (<) and src/choose/config.c (>) differ; tests/tool_settings.sh --write mends it: $difference" >&2
        broken=1
    fi
}
write=no
[ "${1-}" != --write ] || write=yes
part docs/settings.md md.jq '<!-- settings of src/choose/config.c, written by tests/tool_settings.sh -->' '<!-- end of settings -->'
part docs/man/pat.7 man.jq '.\" settings of src/choose/config.c, written by tests/tool_settings.sh' '.\" end of settings'

# Each has a section or a place of its own to be found at.
while read -r name; do
    if ! grep -qE "^## $name\$|<a id=\"${name,,}\">" "$PAT_SOURCE/docs/settings.md"; then
        echo "FAIL: docs/settings.md has no section on $name" >&2
        broken=1
    fi
done < <(jq -r '.settings[].name' "$work/facts.json")
[ $broken -eq 0 ] || exit 1
echo "the settings are described alike"
