#!/bin/bash
# Every C++ and BUILD file among the runfiles is as the pinned clang-format and buildifier write it.
cd "$TEST_SRCDIR/openset" || exit 1
status=0
find -L . -type f \( -name '*.h' -o -name '*.cc' \) -print0 |
  xargs -0 ../clang_format/clang_format/data/bin/clang-format --style=file --dry-run -Werror || status=1
# With their package in the path: it decides the order of labels.
find -L . -type f -name BUILD -print0 | xargs -0 ../buildifier/buildifier-linux_amd64 -mode=check -lint=off || status=1
[ $status = 0 ] || echo "'bazel run //tools:format' mends them" >&2
exit $status
