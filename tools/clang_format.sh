#!/bin/bash
# `bazel run //tools:clang_format [-- FILE...]`: formats these files, or all that git knows, with the pinned clang-format.
clang_format=$PWD/../clang_format/clang_format/data/bin/clang-format
cd "$BUILD_WORKSPACE_DIRECTORY" || exit 1
[ $# -gt 0 ] || mapfile -t files < <(git ls-files --cached --others --exclude-standard '*.h' '*.cc')
exec "$clang_format" --style=file -i "$@" "${files[@]}"
