#!/bin/sh
# Runs deps.py over every BUILD file and source among the runfiles.
set -e
cd "$TEST_SRCDIR/openset"
python3 tools/checks/deps.py .
