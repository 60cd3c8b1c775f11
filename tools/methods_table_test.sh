#!/bin/bash
# Checks that the table of docs/methods.md is that of methods_table.py, and that another table is detected.
set -e
cd "$TEST_SRCDIR/openset"
python3 tools/methods_table.py

mkdir -p "$TEST_TMPDIR/tree"
cp -rL docs experiments eval tools "$TEST_TMPDIR/tree"
cd "$TEST_TMPDIR/tree"
chmod -R u+w docs tools
sed -i 's/^| `vim` | Wang/| `vim` | Wong/' docs/methods.md
if python3 tools/methods_table.py 2> error; then
  echo "another table was taken for the right one" >&2
  exit 1
fi
grep -q "docs/methods.md: its table is not that of tools/methods_table.py" error
python3 tools/methods_table.py --fix
python3 tools/methods_table.py
diff docs/methods.md "$TEST_SRCDIR/openset/docs/methods.md"
sed -i '/^vim\t/d' tools/methods_table.tsv
if python3 tools/methods_table.py 2> error; then
  echo "a table without vim was taken for the right one" >&2
  exit 1
fi
grep -q "tools/methods_table.tsv: .*'vim'" error
