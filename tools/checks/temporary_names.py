"""Checks that nothing makes a file with a predictable name in a folder that all users share.

    python3 tools/checks/temporary_names.py [FOLDER]     the folder of the repository, by default the current one

If a user can predict a name in /tmp, they can make a link with that name first, and the program writes to the link's
target. C++ must use core/files/temporary_folder.h, tests testing::TempDir(), shell scripts `mktemp -d`, and Python
`tempfile` with random names.
"""

import os
import re
import sys

ENDS = (".h", ".cc", ".cu", ".py", ".sh", ".bzl", ".proto", ".textproto", "BUILD", "bazelw")
# Expressions that give a shared folder, or a predictable name in it.
GUESSABLE = re.compile(r"""(?<![\w$}.*-])/(?:var/)?tmp(?![\w-])|/dev/shm|P_tmpdir|\btmpnam\b|\btempnam\b|\btmpfile\s*\(
                           |temp_directory_path|gettempdir|tempfile\.mktemp\b|\bmktemp\s*\((?!.*XXXXXX)""", re.X)
# The folder tmp/ of a store.
ROOM = re.compile(r'(?:Store\(\)|folder\(\)|folder_?|store\(\))\s*[+,]\s*"/tmp(?=["/])')
# Exceptions: files with their allowed lines, and the reasons.
ALLOWED = {
    "core/files/temporary_folder.h": ["below TMPDIR, else /tmp"],  # the one place
    "core/files/temporary_folder.cc": ["temp_directory_path(error)"],
    # A socket's path has at most 107 bytes; mkdtemp() makes a random name.
    "tools/testing/slurm/slurm_test.py": ['mkdtemp(prefix="openset-slurm-", dir="/tmp")'],
    # A folder in memory; `tempfile` makes a random name in it.
    "tools/python/openset/_arrays.py": ['shared = "/dev/shm"'],
    # Used without HOME. Files there are compared with their SHA-256 whenever they are used.
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
