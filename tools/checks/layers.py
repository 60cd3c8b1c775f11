"""Checks the dependency order of the folders, using the includes and imports of the given sources.

core < {data, models, losses, eval} < experiments < tools. The four middle folders never include each other, only
core/tensor/torch*.h include LibTorch, only core/logging.h includes glog, only core/text/json_text.h writes JSON, and
eval never sees LibTorch. Below these, folders side by side have an order too: no two include each other, directly or by
others (a folder and its own subfolders may). Files are opened for reading by core/files/input_file.h only.
"""

import collections
import re
import sys

MAY_INCLUDE = {
    "core": {"core"},
    "data": {"core", "data"},
    "models": {"core", "models"},
    "losses": {"core", "losses"},
    "eval": {"core", "eval"},
    "experiments": {"core", "data", "models", "losses", "eval", "experiments"},
    "tools": {"core", "data", "models", "losses", "eval", "experiments", "tools"},
}
# The folders of experiments that each folder may include, in addition to itself.
ROOMS = {
    "published": set(),
    "spec": {"published"},
    "store": {"spec"},
    "worker": {"spec", "store"},
    "action": {"spec", "store", "worker"},
    "plan": {"spec", "store", "worker", "action"},
    "arrays": {"spec", "store", "worker"},
    "evaluate": {"spec", "store"},
    "report": {"published", "spec", "store"},
    "train": {"spec", "store", "worker"},
    "infer": {"spec", "store", "worker"},
    "learning_curve": {"spec", "store", "worker", "infer", "evaluate"},
    "engine": {"spec", "store", "worker", "action", "plan"},
    "study": {"published", "spec", "store", "worker", "action", "plan", "arrays", "evaluate", "report", "engine"},
    "figures": set(),
}
# These may include every folder.
OPEN_ROOMS = {"methods", "presets", "specs", "testing"}
LIBTORCH = re.compile(r"^(torch|ATen|c10)/")
# Files that may include LibTorch's own headers.
LIBTORCH_FILES = {f"core/tensor/torch{part}.h" for part in (
    "", "_autograd", "_device", "_dict", "_generator", "_hooks", "_library", "_memory", "_nn", "_precision", "_runtime", "_script",
    "_stream", "_tensor_base")}
# Headers of core that bring LibTorch.
LIBTORCH_HEADERS = LIBTORCH_FILES | {"core/tensor/batch.h", "core/tensor/device_memory.h", "core/tensor/open_set.h"}
# Schemas that change with a new score, loss or model: each has a light header (tools/build_defs/cc_proto.bzl).
HEAVY = {f"experiments/{schema}.pb.h" for schema in (
    "spec/method", "spec/trial", "spec/action", "spec/experiment", "store/record", "worker/worker")}
# "copy `losses/energy_margin.*`" in CONTRIBUTING.md.
RECIPE = re.compile(r"copy `([\w/]+)\.\*`")
# Calls that open a file for reading, and would block if the file is a pipe.
READS = re.compile(r"\bifstream\b|\bfopen(64)?\(|\bunzOpen(64)?\(|\bO_RDONLY\b")
# Files that may use them, because they read their own files, folders, or the system's files.
OWN_READERS = {"core/files/input_file.cc", "core/files/files.cc", "core/files/formats/npz.cc", "core/machine/machine.cc"}
FOLDER_OR_NULL = re.compile(r"O_DIRECTORY|/dev/null")
INCLUDE = re.compile(r'^\s*(?:#include|import)\s+["<]([^">]+)[">]')


def problems_of(path, lines):
    folder = path.split("/")[0]
    for_tests = re.search(r"test|benchmark|golden|_scene", path)
    for number, line in enumerate(lines, 1):
        if ".dump(" in line and path != "core/text/json_text.h" and "test" not in path:
            yield f"{path}:{number}: write JSON by JsonText() (core/text/json_text.h): dump() throws where text is not UTF-8"
        if READS.search(line) and not (for_tests or path in OWN_READERS or FOLDER_OR_NULL.search(line) or "#include" in line):
            yield f"{path}:{number}: open files by OpenRegularFile() or ReadFile(), which wait for no pipe"
        match = INCLUDE.match(line)
        if not match:
            continue
        included = match.group(1)
        top = included.split("/")[0]
        if top in MAY_INCLUDE and top not in MAY_INCLUDE[folder]:
            yield f"{path}:{number}: {folder} must not include {included}"
        if path.startswith("experiments/") and included.startswith("experiments/"):
            room, other = path.split("/")[1], included.split("/")[1]
            # Tests of a folder may also use folders above it.
            if room not in OPEN_ROOMS and other != room and not is_for_tests(path) and other not in ROOMS[room]:
                yield f"{path}:{number}: experiments/{room} must not include {included}"
        if LIBTORCH.match(included) and path not in LIBTORCH_FILES:
            yield f"{path}:{number}: include core/tensor/torch.h instead of {included}"
        if included in HEAVY and "test" not in path:
            yield f"{path}:{number}: include {included[:-5]}.proto.h instead, and the .pb.h of what it imports and you read"
        if included.startswith("glog/") and path != "core/logging.h":
            yield f"{path}:{number}: include core/logging.h instead of {included}"
        if folder == "eval" and included in LIBTORCH_HEADERS:
            yield f"{path}:{number}: eval does without LibTorch"
        if included == "core/logging.h" and path.endswith(".h"):
            yield f"{path}:{number}: a header must not include core/logging.h (LibTorch defines the same macros)"


def is_for_tests(path):
    return path.endswith(("_test.cc", "_benchmark.cc")) or "/testing/" in path


def side_by_side(path, included):
    """The two folders, in the same folder, that hold a file and what it includes; None if one holds the other."""
    mine, theirs = path.split("/")[:-1], included.split("/")[:-1]
    for depth, (a, b) in enumerate(zip(mine, theirs), 1):
        if a != b:
            return "/".join(mine[:depth]), "/".join(theirs[:depth])
    return None


def circles(edges):
    """The problems of folders that reach themselves; `edges` has an include for each pair of folders side by side."""
    order = collections.defaultdict(set)
    for mine, theirs in edges:
        order[mine].add(theirs)
    for start in sorted(order):
        came_from = {}
        open_folders = [start]
        while open_folders:
            folder = open_folders.pop()
            for other in sorted(order[folder]):
                if other not in came_from:
                    came_from[other] = folder
                    open_folders.append(other)
        if start in came_from:
            circle = [start]
            while circle[-1] != start or len(circle) == 1:
                circle.append(came_from[circle[-1]])
            circle.reverse()
            yield ("folders include each other: " +
                   "; ".join(f"{path} includes {included}" for path, included in map(edges.get, zip(circle, circle[1:]))))


def main(paths):
    sources = [p for p in paths if p.split("/")[0] in MAY_INCLUDE and p.endswith((".h", ".cc", ".cu", ".inc", ".proto"))]
    folders = {p.split("/")[0] for p in sources}
    problems = [f"no sources of {folder}: list its packages in //tools/checks:all_sources"
                for folder in MAY_INCLUDE if folder not in folders]
    known = set(sources)
    edges = {}
    for path in sources:
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
        problems += problems_of(path, lines)
        for line in lines:
            match = INCLUDE.match(line)
            pair = side_by_side(path, match.group(1)) if match else None
            if pair and pair[1].split("/")[0] in MAY_INCLUDE and not is_for_tests(path):
                edges.setdefault(pair, (path, match.group(1)))
            if match and match.group(1).split("/")[0] in MAY_INCLUDE and not match.group(1).endswith((".pb.h", ".proto.h", "_members.h")):
                if match.group(1) not in known:
                    problems.append(f"{path}: includes {match.group(1)}, whose package is not listed in "
                                    "//tools/checks:all_sources")
    problems += circles(edges)
    for path in paths:
        if not path.endswith(".md"):
            continue
        with open(path, encoding="utf-8") as file:
            recipes = RECIPE.findall(file.read())
        for copied in recipes:
            problems += [f"{path}: who copies {copied}.* finds no {copied}{end}" for end in (".cc", "_test.cc")
                         if copied + end not in known]
        if not recipes:
            problems.append(f"{path}: no recipe names files to copy")
    for problem in problems:
        print(problem)
    print(f"{len(sources)} sources, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
