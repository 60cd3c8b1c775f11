#!/bin/sh
# `bazel run //experiments/specs:NAME -- FLAGS`: openset run NAME FLAGS.
exec "${RUNFILES_DIR:-$0.runfiles}/openset/tools/openset" run "$@"
