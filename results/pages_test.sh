#!/bin/bash
# Makes each page of results/ from its bundle and compares it; also checks that a number changed by hand is found.
set -e
cd "$TEST_SRCDIR/openset"
export RUNFILES_DIR=$TEST_SRCDIR HOME=$TEST_TMPDIR TMPDIR=$TEST_TMPDIR
openset=$PWD/tools/openset_unstamped
python3 results/pages.py "$openset" --check

# The commands that the pages print, as they are, but for a trial of the study and for files, which go elsewhere.
count=0
while IFS= read -r line; do
  page=${line%%:*} command=${line#*:    openset }
  study=$(basename "$(dirname "$page")")
  if [[ $command == *TRIAL* ]]; then
    trial=$("$openset" records ls "results/$study" --format=csv | sed -n 2p | cut -d, -f1)
    command=${command/TRIAL/$trial}
  fi
  command=${command/--out=/--out=$TEST_TMPDIR/}
  if ! eval "$openset $command" > "$TEST_TMPDIR/out" 2> "$TEST_TMPDIR/err"; then
    echo "$page: openset $command: $(cat "$TEST_TMPDIR/err")" >&2
    exit 1
  fi
  count=$((count + 1))
done < <(grep -E '^    openset (report|compare|figure|records (ls|show|diff|spec)) ' results/*/README.md)
echo "$count commands of pages"
((count >= 40)) || { echo "too few commands were found" >&2; exit 1; }

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
