#!/bin/sh
# Runs includes.py over every source among the runfiles.
set -e
cd "$TEST_SRCDIR/openset"
python3 tools/checks/includes.py $(find -L . -type f \( -name '*.h' -o -name '*.cc' \) | sed 's|^\./||' | sort)
