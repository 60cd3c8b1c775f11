#!/bin/bash
# Every C++ file among the runfiles is as the pinned clang-format writes it.
cd "$TEST_SRCDIR/openset" || exit 1
clang_format=../clang_format/clang_format/data/bin/clang-format
find -L . -type f \( -name '*.h' -o -name '*.cc' \) -print0 | xargs -0 "$clang_format" --style=file --dry-run -Werror || {
  echo "'bazel run //tools:clang_format' mends them" >&2
  exit 1
}
