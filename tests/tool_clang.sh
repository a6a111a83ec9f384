#!/usr/bin/env bash
# tool_clang.sh — the whole project also passes clang, without a warning.
set -eu
if ! command -v clang >/dev/null; then
    echo "skipped: no clang here"
    exit 77
fi
command -v jq >/dev/null || { echo "skipped: no jq here"; exit 77; }
if grep -q '^PAT_SANITIZE:STRING=..*' "$PAT_BUILD/CMakeCache.txt"; then
    echo "skipped: a build with sanitizers tests something else"
    exit 77
fi
build=$(mktemp -d)
trap 'rm -rf "$build"' EXIT
generator=()
if command -v ninja >/dev/null; then
    generator=(-G Ninja)
fi
run() {
    "$@" >"$build/log" 2>&1 || {
        cat "$build/log"
        exit 1
    }
}
# The point is clang's eye on the text, not its code: of every file that would be compiled only the warnings.
run cmake -S "$PAT_SOURCE" -B "$build/out" "${generator[@]}" -DCMAKE_C_COMPILER=clang -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DPAT_WERROR=ON
files=$(jq length "$build/out/compile_commands.json")
[ "$files" -ge 300 ] || { echo "FAIL: only $files files would be compiled"; exit 1; }
jq -r '.[] | "cd \(.directory | @sh) && \(.command) -fsyntax-only"' "$build/out/compile_commands.json" >"$build/commands"
run xargs -d '\n' -P 2 -n 1 bash -c <"$build/commands"
echo "clean with $(clang --version | head -n 1)"
