#!/bin/bash
# Runs temporary_names.py on the sources among the runfiles, and on lines that it must report or accept.
set -e
cd "$TEST_SRCDIR/openset"
python3 tools/checks/temporary_names.py .

tree=$TEST_TMPDIR/tree
mkdir -p "$tree"
cat > "$tree/good.sh" <<'END'
folder=$(mktemp -d)
echo x > "$TEST_TMPDIR/x" "$store/tmp/x" "${store}/tmp/y" bazel-out/tmp/z
END
cat > "$tree/good.cc" <<'END'
const std::string path = store.folder() + "/tmp/x", other = absl::StrCat(folder_, "/tmp/", key), room = "x/tmp";
END
python3 tools/checks/temporary_names.py "$tree"
number=0
while read -r line; do
  number=$((number + 1))
  rm -f "$tree"/bad.*
  printf '%s\n' "$line" > "$tree/bad.cc"
  if python3 tools/checks/temporary_names.py "$tree" > /dev/null; then
    echo "not found: $line"
    exit 1
  fi
done <<'END'
std::ofstream file("/tmp/openset.log");
const char* path = "/tmp/openset_XXXX.1";
const std::string path = absl::StrCat("/tmp/benchmark.", getpid());
open(f"/var/tmp/x-{os.getpid()}")
folder=/var/tmp/openset
shm = "/dev/shm/openset";
std::filesystem::temp_directory_path() / "openset"
os.path.join(tempfile.gettempdir(), "openset")
tempfile.mktemp()
char* name = tmpnam(nullptr);
END
echo "$number lines found"
