#!/bin/bash
# `bazel run //tools:format [-- FILE...]`: formats these files, or all that git knows, with the pinned clang-format and
# buildifier.
clang_format=$PWD/../clang_format/clang_format/data/bin/clang-format
buildifier=$PWD/../buildifier/buildifier-linux_amd64
cd "$BUILD_WORKSPACE_DIRECTORY" || exit 1
files=("$@")
[ $# -gt 0 ] || mapfile -t files < <(git ls-files --cached --others --exclude-standard)
for file in "${files[@]}"; do
  case "$file" in
    *.h | *.cc) sources+=("$file") ;;
    BUILD | */BUILD | WORKSPACE | *.BUILD | *.bzl) build_files+=("$file") ;;
  esac
done
status=0
[ ${#sources[@]} = 0 ] || "$clang_format" --style=file -i "${sources[@]}" || status=1
[ ${#build_files[@]} = 0 ] || "$buildifier" -lint=off "${build_files[@]}" || status=1
exit $status
