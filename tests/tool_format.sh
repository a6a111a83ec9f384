#!/usr/bin/env bash
# tool_format.sh — our sources are formatted with clang-format and the project's .clang-format.
# Other releases of clang-format lay some lines out differently, so only the one of Debian 12 has a say.
set -eu
release=14
if ! command -v clang-format >/dev/null || ! clang-format --version | grep -q "version $release\."; then
    echo "skipped: no clang-format $release here"
    exit 77
fi
cd "$PAT_SOURCE"
mapfile -t sources < <(find include src pat algorithms bench tests -name '*.[ch]' | sort)
[ ${#sources[@]} -gt 0 ]
clang-format --dry-run --Werror "${sources[@]}"
echo "${#sources[@]} files are formatted"
