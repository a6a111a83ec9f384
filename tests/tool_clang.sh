#!/usr/bin/env bash
# tool_clang.sh — the whole project also compiles with clang, without a warning.
set -eu
if ! command -v clang >/dev/null; then
    echo "skipped: no clang here"
    exit 77
fi
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
# Unoptimised: the point is clang's eye on the text, not its code.
run cmake -S "$PAT_SOURCE" -B "$build/out" "${generator[@]}" -DCMAKE_C_COMPILER=clang -DCMAKE_BUILD_TYPE=Debug \
    -DPAT_WERROR=ON
run cmake --build "$build/out" --parallel
echo "clean with $(clang --version | head -n 1)"
