#!/bin/bash
# Makes each page of results/ from its bundle and compares it; also checks that a number changed by hand is found.
set -e
cd "$TEST_SRCDIR/openset"
export RUNFILES_DIR=$TEST_SRCDIR HOME=$TEST_TMPDIR TMPDIR=$TEST_TMPDIR
openset=$PWD/tools/openset_unstamped
python3 results/pages.py "$openset" --check

copy=$TEST_TMPDIR/copy
mkdir "$copy"
cp -rL results "$copy/"
chmod -R u+w "$copy"
ls results/*/*.zip > "$TEST_TMPDIR/bundles" 2>/dev/null || exit 0  # nothing to change yet
page=$(grep -lE '[0-9]\.[0-9]' "$copy"/results/*/README.md | head -1)
sed -i '0,/[0-9]\.[0-9]/s/\([0-9]\)\.[0-9]/\1.x/' "$page"
if out=$(python3 "$copy/results/pages.py" "$openset" --check); then
  echo "a number that was changed is not found: $out" >&2
  exit 1
fi
grep -q "$(basename "$(dirname "$page")")/README.md:" <<< "$out" || { echo "not found in $page: $out" >&2; exit 1; }
