#!/bin/bash
# The stamp is the commit and, if the tree differs from it, a digest of the differences.
set -eu
status=$TEST_SRCDIR/openset/tools/build_defs/workspace_status.sh
command -v git >/dev/null || { echo "skipped: this machine has no git"; exit 0; }
export HOME=$TEST_TMPDIR GIT_CONFIG_NOSYSTEM=1
cd "$TEST_TMPDIR"
[ "$("$status")" = "STABLE_OPENSET_COMMIT unknown" ] || { echo "outside of a clone: $("$status")"; exit 1; }

mkdir clone && cd clone && git init -q
echo ignored >.gitignore
echo one >file
git add . && git -c user.name=me -c user.email=me@here commit -q -m "a file"
commit=$(git rev-parse HEAD)
seen=
expect() { # WHAT SUFFIX_PATTERN
  local stamp
  stamp=$("$status")
  [[ $stamp =~ ^"STABLE_OPENSET_COMMIT $commit"$2$ ]] || { echo "$1: $stamp"; exit 1; }
  [[ $seen != *" $stamp;"* ]] || { echo "$1: the same as another tree: $stamp"; exit 1; }
  [ "$stamp" = "$("$status")" ] || { echo "$1: another one each time"; exit 1; }
  seen+=" $stamp;"
}
expect "as committed" ""
touch ignored && seen= && expect "with an ignored file" ""
echo two >file && expect "with a change" "-dirty-[0-9a-f]{64}"
git add file && seen= && expect "with the same change staged" "-dirty-[0-9a-f]{64}"
echo three >file && expect "with another change" "-dirty-[0-9a-f]{64}"
echo new >other && expect "with a new file" "-dirty-[0-9a-f]{64}"
echo newer >other && expect "with another new file" "-dirty-[0-9a-f]{64}"
