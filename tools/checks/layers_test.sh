#!/bin/sh
# Runs layers.py over every source among the runfiles, then over one more that makes a circle of folders.
set -e
cd "$TEST_SRCDIR/openset"
sources=$(find -L . -type f \( -name '*.h' -o -name '*.cc' -o -name '*.cu' -o -name '*.inc' -o -name '*.proto' \
  -o -name BUILD -o -name CONTRIBUTING.md \) | sed 's|^\./||' | sort)
# shellcheck disable=SC2086
python3 tools/checks/layers.py $sources

# eval/statistics includes eval/metrics, so this file closes a circle.
circle=eval/metrics/circle_of_folders.h
echo '#include "eval/statistics/bootstrap.h"' > "$circle"
# shellcheck disable=SC2086
if python3 tools/checks/layers.py $sources "$circle" > "$TEST_TMPDIR/problems"; then
  echo "layers.py accepts a circle of folders" >&2
  exit 1
fi
rm "$circle"
grep -q "^folders include each other: .*$circle includes eval/statistics/bootstrap.h" "$TEST_TMPDIR/problems"
