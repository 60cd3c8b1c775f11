#!/bin/sh
# What Bazel stamps into the binaries: the commit, with "-dirty" where the tree differs from it.
commit=$(git rev-parse HEAD 2>/dev/null) || commit=unknown
[ -z "$(git status --porcelain 2>/dev/null)" ] || commit="$commit-dirty"
echo "STABLE_OPENSET_COMMIT $commit"
