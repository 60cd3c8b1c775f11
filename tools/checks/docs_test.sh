#!/bin/bash
# Runs docs.py on the documents among the runfiles, and on one that names missing things.
set -e
cd "$TEST_SRCDIR/openset"
python3 tools/checks/docs.py .

tree="$TEST_TMPDIR/tree"
mkdir -p "$tree/core/text" "$tree/tools/cli"
echo 'openset_member(name = "table")' > "$tree/core/text/BUILD"
echo '["faults_" + form for form in ["test", "long"]]' > "$tree/core/BUILD"
echo 'OPENSET_FLAG(std::vector<std::string>, store, {}, "The store.")' > "$tree/tools/cli/flag_list.inc"
echo 'command.name = "run";' > "$tree/tools/cli/run_command.cc"
cat > "$tree/good.md" <<'END'
# The table's top: `good`, at last

[above](#the-tables-top-good-at-last), [here](good.md#the-tables-top-good-at-last)
`//core/text:table`, `//core/text:table_test`, //core:faults_long, `//core/...`, `core/BUILD`, `core/*`, `core/NAME.h`, [it](good.md)

    openset run SPEC --store=DIR --nostore
    ./bazelw run //core/text:table -- --help
END
python3 tools/checks/docs.py "$tree"
cat > "$tree/bad.md" <<'END'
`//core:chair`, `//cellar:table`, `//cellar/...`, `core/chair.h`, [it](chair.md), `--stare`, `openset walk`, [x](#y)

    openset run SPEC --stair=DIR
END
if out=$(python3 tools/checks/docs.py "$tree"); then
  echo "nothing was found in what names nothing that is there: $out" >&2
  exit 1
fi
for problem in "1: there is no target //core:chair" "1: there is no package //cellar" \
  "1: there is no package below //cellar" "1: there is no core/chair.h" "1: there is no chair.md" \
  "1: there is no flag --stare" "1: there is no command 'openset walk'" "1: there is no heading #y in bad.md" "3: there is no flag --stair"; do
  grep -qx "bad.md:$problem" <<< "$out" || { echo "not found: $problem in $out" >&2; exit 1; }
done
grep -q " 9 problems" <<< "$out" || { echo "more than that is found: $out" >&2; exit 1; }

# The README, the index of docs/ and its list of commands.
rm "$tree/bad.md"
mkdir "$tree/docs"
echo '[run](commands.md)' > "$tree/docs/README.md"
echo '`openset run`' > "$tree/docs/commands.md"
yes | head -90 > "$tree/README.md"
python3 tools/checks/docs.py "$tree"
yes | head -91 > "$tree/README.md"
echo '`openset walks`' > "$tree/docs/commands.md"
echo 'Data.' > "$tree/docs/data.md"
if out=$(python3 tools/checks/docs.py "$tree"); then
  echo "nothing was found in documents that lack something: $out" >&2
  exit 1
fi
for problem in "README.md: has 91 lines, more than 90: move details to docs/" \
  "docs/README.md: has no link to data.md" "docs/commands.md: does not describe 'openset run'"; do
  grep -qx "$problem" <<< "$out" || { echo "not found: $problem in $out" >&2; exit 1; }
done

# The version is the same in the files that have it.
mkdir -p "$tree/tools/build_defs"
echo 'OPENSET_VERSION = "1.2.0"' > "$tree/tools/build_defs/version.bzl"
echo 'version: 1.2.0' > "$tree/CITATION.cff"
printf '# Changes\n\n## 1.1.0\n' > "$tree/CHANGELOG.md"
if out=$(python3 tools/checks/docs.py "$tree"); then
  echo "another version is not found: $out" >&2
  exit 1
fi
grep -qx "CHANGELOG.md: has version 1.1.0, and OPENSET_VERSION is 1.2.0" <<< "$out" || { echo "not found in $out" >&2; exit 1; }
