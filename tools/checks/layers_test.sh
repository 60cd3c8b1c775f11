#!/bin/sh
# Runs layers.py over every source among the runfiles.
set -e
cd "$TEST_SRCDIR/openset"
python3 tools/checks/layers.py $(find -L . -type f \( -name '*.h' -o -name '*.cc' -o -name '*.cu' -o -name '*.proto' \
  -o -name BUILD -o -name CONTRIBUTING.md \) | sed 's|^\./||' | sort)
