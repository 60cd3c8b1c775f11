#!/bin/bash
# Checks that every C++ and BUILD file among the runfiles is formatted as by the pinned clang-format and buildifier.
cd "$TEST_SRCDIR/openset" || exit 1
status=0
find -L . -type f \( -name '*.h' -o -name '*.cc' \) -print0 |
  xargs -0 ../clang_format/clang_format/data/bin/clang-format --style=file --dry-run -Werror || status=1
# The path must contain the package, which determines the order of labels.
find -L . -type f -name BUILD -print0 | xargs -0 ../buildifier/buildifier-linux_amd64 -mode=check -lint=off || status=1
[ $status = 0 ] || echo "'bazel run //tools:format' mends them" >&2
exit $status
