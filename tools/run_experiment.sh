#!/bin/sh
# `bazel run //experiments/specs:NAME -- FLAGS`: openset run NAME FLAGS, after fetching the data that the target names.
# This script's runfiles contain the program and the files that it reads.
RUNFILES_DIR=$(cd "${RUNFILES_DIR:-$0.runfiles}" && pwd) || exit 1
export RUNFILES_DIR
for fetch in "$RUNFILES_DIR"/openset/data/packaged/fetch_*; do
  case $fetch in *.sh) continue ;; esac
  [ ! -x "$fetch" ] || "$fetch" || exit 1
done
exec "$RUNFILES_DIR/openset/tools/openset" run "$@"
