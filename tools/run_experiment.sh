#!/bin/sh
# `bazel run //experiments/specs:NAME -- FLAGS`: openset run NAME FLAGS.
# This script's runfiles hold the program and what it reads; the program's own are not made by building the script.
RUNFILES_DIR=$(cd "${RUNFILES_DIR:-$0.runfiles}" && pwd) || exit 1
export RUNFILES_DIR
exec "$RUNFILES_DIR/openset/tools/openset" run "$@"
