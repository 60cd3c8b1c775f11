"""Checks the dependency order of the folders, by the includes and imports of the sources it is given.

core < {data, models, losses, eval} < experiments < tools. The four middle folders never include each other, only
the core/torch*.h include LibTorch, only core/logging.h includes glog, and eval never sees LibTorch.
"""

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
LIBTORCH = re.compile(r"^(torch|ATen|c10)/")
# Files that may include LibTorch's own headers.
LIBTORCH_FILES = {"core/torch.h", "core/torch_nn.h", "core/torch_runtime.h", "core/torch_script.h"}
# Headers of core that bring LibTorch.
LIBTORCH_HEADERS = LIBTORCH_FILES | {"core/batch.h", "core/open_set.h"}
INCLUDE = re.compile(r'^\s*(?:#include|import)\s+["<]([^">]+)[">]')


def problems_of(path, lines):
    folder = path.split("/")[0]
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if not match:
            continue
        included = match.group(1)
        top = included.split("/")[0]
        if top in MAY_INCLUDE and top not in MAY_INCLUDE[folder]:
            yield f"{path}:{number}: {folder} must not include {included}"
        if LIBTORCH.match(included) and path not in LIBTORCH_FILES:
            yield f"{path}:{number}: include core/torch.h instead of {included}"
        if included.startswith("glog/") and path != "core/logging.h":
            yield f"{path}:{number}: include core/logging.h instead of {included}"
        if folder == "eval" and included in LIBTORCH_HEADERS:
            yield f"{path}:{number}: eval does without LibTorch"
        if included == "core/logging.h" and path.endswith(".h"):
            yield f"{path}:{number}: a header must not include core/logging.h (LibTorch defines the same macros)"


def main(paths):
    sources = [p for p in paths if p.split("/")[0] in MAY_INCLUDE and p.endswith((".h", ".cc", ".cu", ".proto"))]
    folders = {p.split("/")[0] for p in sources}
    problems = [f"no sources of {folder}: list its packages in //tools:check_layers_test"
                for folder in MAY_INCLUDE if folder not in folders]
    known = set(sources)
    for path in sources:
        with open(path, encoding="utf-8") as file:
            lines = file.readlines()
        problems += problems_of(path, lines)
        for line in lines:
            match = INCLUDE.match(line)
            if match and match.group(1).split("/")[0] in MAY_INCLUDE and not match.group(1).endswith(".pb.h"):
                if match.group(1) not in known:
                    problems.append(f"{path}: includes {match.group(1)}, whose package is not listed in "
                                    "//tools:check_layers_test")
    for problem in problems:
        print(problem)
    print(f"{len(sources)} sources, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
