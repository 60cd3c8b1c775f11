#!/bin/sh
# The stamp that Bazel puts into the binaries: the commit and, if the tree differs from it, "-dirty-" and a SHA-256 of
# the diff and of the files that git neither tracks nor ignores.
commit=$(git rev-parse HEAD 2>/dev/null) || commit=unknown
if [ -n "$(git status --porcelain 2>/dev/null)" ]; then
  changes=$( (git diff --binary --no-ext-diff --no-textconv HEAD && git ls-files -oz --exclude-standard | xargs -0r sha256sum) | sha256sum)
  commit="$commit-dirty-${changes%% *}"
fi
echo "STABLE_OPENSET_COMMIT $commit"
