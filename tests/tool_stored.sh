#!/usr/bin/env bash
# tool_stored.sh — from pat-calibrate to a program without a word of the user's: what it keeps is found by the library, pat-info says
# which file is taken and why another one is not, and the drop-in's report names it.
set -eu

command -v jq >/dev/null || exit 77
if ! [ -x "$PAT_BUILD/bench/pat-calibrate" ]; then
    echo "skipped: no pat-calibrate in this build"
    exit 77
fi
here=$PAT_SOURCE/tests
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for name in $(compgen -e PAT_ | grep -vE '^PAT_(TEST_|BUILD$|SOURCE$)'); do unset "$name"; done
export XDG_CACHE_HOME=$work/cache PAT_LINK=1,10000
# Ranks that end with an error are not waited for: they do so after MPI_Finalize, when all is written.
export OMPI_MCA_odls_base_sigkill_timeout=0
umask 022
store=$XDG_CACHE_HOME/pat

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

calibrate() { # OPTION...: by two ranks
    "$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-calibrate" --quick --precision 1 --longest 0.001 --progress off "$@"
}

refused() { # TEXT COMMAND...: status 2, and the text
    local text=$1 status=0
    shift
    "$@" >out 2>err || status=$?
    if [ $status -ne 2 ] || ! grep -qF -- "$text" err; then fail "$*: status $status, and no '$text' in: $(cat err)"; fi
}

info() { # the calibration, as JSON
    "$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-info" --json | jq -c .calibration
}

run() { # NAME=VALUE...: what a program under the drop-in says
    PAT_TEST_WRAP="env ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0:verify_asan_link_order=0 LD_PRELOAD=$("$here/preload.sh") $*" \
        "$here/mpirun.sh" 2 "$PAT_BUILD/bench/examples/jacobi" 5000 12 0 0 2>&1
}

interrupted() { # OPTION...: longer measurements, ended once something of them is kept
    local part
    OMPI_MCA_odls_base_sigkill_timeout=1 "$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-calibrate" --quick --progress off "$@" >interrupted 2>&1 &
    local job=$!
    for ((i = 0; i < 1000; i++)); do
        part=$(find "$store" -name '*.json.part' 2>/dev/null || true)
        [ -z "$part" ] || break
        sleep 0.05
    done
    kill "$job" || fail "it was over before it could be interrupted: $(cat interrupted)"
    wait "$job" || true
    [ -s "$part" ] || fail "nothing is kept of what was measured: $(cat interrupted)"
    ! grep -q '^# written to' interrupted || fail "it was over: $(cat interrupted)"
}

# What is interrupted is found by nobody but pat-calibrate, which goes on with it.
interrupted
[ -z "$(find "$store" -name '*.json')" ] || fail "an unfinished calibration has its name: $(ls "$store")"
info | jq -e '.file == null and .note == "there is no calibration in it"' >/dev/null || fail "an unfinished calibration: $(info)"
run PAT_EXPLAIN=1 >out || fail "$(cat out)"
! grep -q 'calibration from' out || fail "an unfinished calibration is looked at: $(cat out)"
(umask 002 && calibrate) >first || fail "pat-calibrate: $(cat first)"
grep -qE "^# going on with $store/[^ ]*\.json\.part\$" first || fail "it does not go on: $(cat first)"

# It is kept where nobody else may look, and said where; started again it goes on there, and has nothing to do.
file=$(sed -n 's/^# written to //p' first)
[[ $file == "$store"/*-2ranks-10000000kbit.json ]] || fail "written to '$file'"
[ "$(stat -c %a "$file")" = 644 ] || fail "$(ls -l "$file")"
[ "$(stat -c %a "$XDG_CACHE_HOME" "$store" | paste -sd' ')" = '700 700' ] || fail "$(ls -la "$XDG_CACHE_HOME")"
[ "$(find "$work" -name '*.json*')" = "$file" ] || fail "not one file: $(find "$work")"
# Short broadcasts may be lost in noise, all of them: with a time for each algorithm there is nothing left to do.
jq '(.points | map(.algorithm)) as $there | .points += [((.algorithms | keys[]), "bcast_native") | select(IN($there[]) | not) |
    {algorithm: ., ranks: 2, bytes: 1000, us: 100}]' "$file" >all.txt
cat all.txt >"$file"
calibrate >again || fail "pat-calibrate again: $(cat again)"
grep -qxF "# going on with $file" again || fail "it does not go on: $(cat again)"
grep -q "^# nothing was measured: $file has everything already,.*--again measures anew\$" again || fail "it does not say that it does nothing: $(cat again)"
! grep -q '^# written to' again || fail "it says that it writes: $(cat again)"
# A file that is there stays until all of the new one is.
cp "$file" before.json
interrupted --again
cmp "$file" before.json || fail "--again spoils a file before it has another"
info | jq -e --arg file "$file" '.file == $file' >/dev/null || fail "it is not found meanwhile: $(info)"
calibrate --again >anew || fail "--again: $(cat anew)"
grep -qxF "# written to $file" anew || fail "--again: $(cat anew)"
[ "$(find "$work/cache" -name '*.json*')" = "$file" ] || fail "not one file: $(find "$work/cache")"
if cmp -s "$file" before.json; then fail "--again measures nothing"; fi
# One collective is enough to see which file is checked.
calibrate --check --op gather >check || fail "--check: $(cat check)"
grep -qxF "# checking $file" check || fail "--check is not of it: $(cat check)"
refused "no calibration of this machine and network" env PAT_LINK=1,10 "$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-calibrate" --check
grep -qF "$file: not taken: it is of a network of 1e+04 Mbit/s, this one has 10" err || fail "no reason: $(cat err)"
refused "--rules without --out" "$PAT_BUILD/bench/pat-calibrate" --rules rules.txt
# Where XDG_CACHE_HOME is no absolute path it is below HOME, and where that is none either nowhere.
mkdir -p home/.cache/pat
chmod 700 home/.cache/pat
echo '{}' >"home/.cache/pat/${file##*/}" # a broken file stays as it is
refused "home/.cache/pat/${file##*/} cannot be gone on with" env XDG_CACHE_HOME=relative HOME="$work/home" \
    "$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-calibrate"
refused "accepted: --out FILE" env XDG_CACHE_HOME=relative HOME= "$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-calibrate"

# pat-info says what is taken, and why not the others.
jq '.machine.ranks_per_node = 7' "$file" >"$store/0000abcd-7ranks.json"
head -c 300 "$file" >"$store/$(basename "$file" | cut -c 1-9)cut.json"
jq '.points |= map(select(.algorithm != "gather_native"))' "$file" >"$store/$(basename "$file" | cut -c 1-9)begun.json"
cp "$file" "$store/$(basename "$file" | cut -c 1-9)open.json"
chmod g+w "$store/$(basename "$file" | cut -c 1-9)open.json"
jq '.link.mbit = 10' "$file" >"$store/$(basename "$file" | cut -c 1-9)slow.json"
info | jq -e --arg file "$file" --arg store "$store" '.file == $file and .directory == $store and (.files | length) == 6 and
    [.files[] | select(.taken).file] == [$file] and
    any(.files[]; (.file | endswith("-7ranks.json")) and .why == "it is of 7 ranks a node, here are 2") and
    any(.files[]; (.file | endswith("-cut.json")) and (.why | startswith("line "))) and
    any(.files[]; (.file | endswith("-begun.json")) and .why == "it has no time of gather_native, so it was not measured to its end") and
    any(.files[]; (.file | endswith("-open.json")) and .why == "other users may write to the file") and
    any(.files[]; (.file | endswith("-slow.json")) and .why == "it is of a network of 10 Mbit/s, this one has 1e+04")' >/dev/null ||
    fail "pat-info says $(info)"
"$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-info" >text
grep -qxF "  $file: taken" text || fail "pat-info: $(cat text)"
grep -qE '^  [^ ]*-7ranks.json: not taken: it is of 7 ranks a node, here are 2$' text || fail "pat-info: $(cat text)"
grep -q 'as PAT_LINK says), by the calibration$' text || fail "pat-info: $(cat text)"
[ "$(PAT_CALIBRATION=none info)" = '{"file":null,"note":"PAT_CALIBRATION=none: none is looked for"}' ] || fail "none: $(PAT_CALIBRATION=none info)"
[ "$(PAT_CALIBRATION=$file info)" = "{\"file\":\"$file\"}" ] || fail "by its name: $(PAT_CALIBRATION=$file info)"
env -u PAT_LINK "$here/mpirun.sh" 2 "$PAT_BUILD/bench/pat-info" | grep -q '^  none is looked at, because auto does not choose here$' ||
    fail "pat-info on one node"
chmod g+w "$store"
info | jq -e '.file == null and .note == "other users may write to the directory"' >/dev/null || fail "a store that is open to others: $(info)"
refused "other users may write to the directory; accepted: --out FILE" calibrate
chmod g-w "$store"

# A program under the drop-in: the report names the file, and the rest does not disturb it.
run PAT_REPORT=text PAT_EXPLAIN=1 >report || fail "$(cat report)"
grep -qxF "# calibration: $file" report || fail "the report does not name it: $(cat report)"
grep -qxF "PAT: 2 ranks: the calibration from $file" report || fail "nobody says what is taken: $(cat report)"
run "PAT_REPORT=$work/report.json" >out || fail "$(cat out)"
jq -e --arg file "$file" '.calibrations == [$file] and .program.estimated_by == "measured calls, calibration"' report.json >/dev/null ||
    fail "the report as JSON: $(cat report.json)"
run "PAT_REPORT=$work/report.json" PAT_CALIBRATION=none >out || fail "$(cat out)"
jq -e '.calibrations == [] and .program.estimated_by == "measured calls, least time of the link"' report.json >/dev/null ||
    fail "the report without: $(cat report.json)"

# What is measured for figures goes by no calibration that nobody has named.
scripts() { # what the scripts' environment says
    bash -c 'name=scripts && . "$1" && env | sed -n "s/^PAT_CALIBRATION=//p"' - "$PAT_SOURCE/bench/scripts/options.sh"
}
[ "$(scripts)" = none ] || fail "the scripts look for a calibration: '$(scripts)'"
[ "$(PAT_CALIBRATION=here.json scripts)" = here.json ] || fail "the scripts take no calibration"
echo "what pat-calibrate keeps is found"
