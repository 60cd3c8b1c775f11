"""Checks that nothing makes a file of a guessable name in a folder that all users share.

    python3 tools/checks/temporary_names.py [FOLDER]     the folder of the repository, by default the current one

Whoever knows a name in /tmp can put a link there first, and the program writes where it leads. C++ takes
core/files/temporary_folder.h, tests take testing::TempDir(), shell scripts `mktemp -d`, Python `tempfile` with drawn
names.
"""

import os
import re
import sys

ENDS = (".h", ".cc", ".cu", ".py", ".sh", ".bzl", ".proto", ".textproto", "BUILD", "bazelw")
# What gives the shared folder, or a name in it that others can know.
GUESSABLE = re.compile(r"""(?<![\w$}.*-])/(?:var/)?tmp(?![\w-])|/dev/shm|P_tmpdir|\btmpnam\b|\btempnam\b|\btmpfile\s*\(
                           |temp_directory_path|gettempdir|tempfile\.mktemp\b|\bmktemp\s*\((?!.*XXXXXX)""", re.X)
# The room tmp/ of a store.
ROOM = re.compile(r'(?:Store\(\)|folder\(\)|folder_?|store\(\))\s*[+,]\s*"/tmp(?=["/])')
# Files with the lines in which they may, and why.
ALLOWED = {
    "core/files/temporary_folder.h": ["below TMPDIR, else /tmp"],  # the one place
    "core/files/temporary_folder.cc": ["temp_directory_path(error)"],
    # A socket's path has 107 bytes at most; mkdtemp() draws the name.
    "tools/testing/slurm/real_slurm.cc": ["/tmp/openset-slurm-XXXXXX", "no folder can be made in /tmp"],
    # Where memory is a folder; `tempfile` draws the name below it.
    "tools/python/openset/_arrays.py": ['shared = "/dev/shm"'],
    # Where there is no HOME. What lies there is compared with its SHA-256 whenever it is taken.
    "third_party/fetch.sh": ["${HOME:-/tmp}/.cache/openset/downloads"],
    "third_party/archives.bzl": ['environ.get("HOME", "/tmp")'],
}


def problems_of(path, text):
    if path == "tools/checks/temporary_names.py" or path.startswith("tools/checks/temporary_names_test"):
        return
    for number, line in enumerate(text.split("\n"), 1):
        rest = ROOM.sub('"', line)
        for allowed in ALLOWED.get(path, []):
            rest = rest.replace(allowed, "")
        found = GUESSABLE.search(rest)
        if found:
            yield (f"{path}:{number}: '{found.group(0).strip()}': a name that others can know; see the head of "
                   "tools/checks/temporary_names.py")


def main(arguments):
    root = arguments[0] if arguments else "."
    problems, count = [], 0
    for folder, below, files in os.walk(root, followlinks=True):
        below[:] = [b for b in below if not b.startswith((".", "bazel-")) and not b.endswith(".runfiles") and b != "testdata"]
        for name in files:
            if not name.endswith(ENDS):
                continue
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8", errors="replace") as file:
                problems += problems_of(os.path.relpath(path, root), file.read())
            count += 1
    for problem in sorted(problems):
        print(problem)
    print(f"{count} files, {len(problems)} problems")
    return 1 if problems or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
