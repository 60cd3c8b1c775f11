#!/bin/bash
# `bazel run //tools:clang_tidy [-- FILE.cc...]`: runs the checks of .clang-tidy on these files, or on all (hours). A
# file takes 10 s or more, or 40 s with LibTorch. Needs a build, for the generated headers.
clang_tidy=$PWD/../clang_tidy/clang_tidy/data/bin/clang-tidy
cd "$BUILD_WORKSPACE_DIRECTORY" || exit 1
tools/compile_commands.py || exit 1
[ $# -gt 0 ] || set -- $(git ls-files '*.cc')
# The wheel has no compiler headers (stddef.h ...), so those of g++ are used.
printf '%s\0' "$@" | xargs -0 -n 1 -P "$(nproc)" "$clang_tidy" --quiet -p . \
  --extra-arg=-isystem"$(g++ -print-file-name=include)"
