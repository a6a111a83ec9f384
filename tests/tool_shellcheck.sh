#!/usr/bin/env bash
# tool_shellcheck.sh — shellcheck finds nothing in our scripts.
set -eu
if ! command -v shellcheck >/dev/null; then
    echo "skipped: no shellcheck here"
    exit 77
fi
cd "$PAT_SOURCE"
mapfile -t scripts < <(grep -rlIE --include='*' '^#!.*\b(ba)?sh\b' bench src tests packaging .ci | sort)
[ ${#scripts[@]} -gt 0 ]
shellcheck -x "${scripts[@]}"
echo "${#scripts[@]} scripts are clean"
