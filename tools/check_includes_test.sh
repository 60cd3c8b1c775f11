#!/bin/sh
# Runs check_includes.py over every source among the runfiles.
set -e
cd "$TEST_SRCDIR/openset"
python3 tools/check_includes.py $(find -L . -type f \( -name '*.h' -o -name '*.cc' \) | sed 's|^\./||' | sort)
