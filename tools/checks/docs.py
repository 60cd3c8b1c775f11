"""Checks the Markdown files of a tree.

Everything that they name must exist: targets, files, headings that links point to, commands of openset and their flags.
The README must stay short, docs/README.md must link every document in docs/, and docs/commands.md must describe every
command.

    python3 tools/checks/docs.py [ROOT]
"""

import fnmatch
import os
import re
import sys

TARGET = re.compile(r"(?<![\w:/])//([\w/]*)(?::([\w.\-]+))?(/?\.\.\.)?")
CODE = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\]\(([^)#:]*)(?:#([^)]*))?\)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
FLAG = re.compile(r"(?<![\w-])--(\w+)")
DEFINED = re.compile(r'(?:ABSL_FLAG|OPENSET_\w+)\(\s*[^,()]*(?:<[^()]*>)?,\s*(\w+?)_?,|add_argument\("--(\w+)')
COMMAND = re.compile(r"(?:^|:)openset (?:-- )?([a-z][a-z-]*)")
COMMAND_NAME = re.compile(r'\.name = "([\w-]+)"')
# Placeholders of names: LIBRARY, NAME, KEY.N ...
PLACEHOLDER = re.compile(r"\b[A-Z]+\b")
# Flags of other programs: Bazel, Slurm, protoc, timeout, our scripts.
OTHERS = {"yes", "config", "dependency", "exclude", "fix", "force_pic", "foreground", "help", "preserve", "python_out",
          "requeue", "signal", "test_env", "test_output", "test_tag_filters", "test_timeout", "version"}
# The README fits one screen and a half.
MOST_README_LINES = 90


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def anchor_of(heading):
    """The name that GitHub gives a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


class Tree:
    """The files below a folder, and what they define."""

    def __init__(self, root):
        self.root = root
        self.files = set()
        for folder, folders, names in os.walk(root, followlinks=True):
            folders[:] = [name for name in folders if not name.startswith("bazel-")]  # Bazel's links
            self.files.update(os.path.relpath(os.path.join(folder, name), root) for name in names)
        self.folders = {file[:i] for file in self.files for i, c in enumerate(file) if c == "/"}
        self.tops = {folder for folder in self.folders if "/" not in folder}
        builds = [file for file in self.files if os.path.basename(file) == "BUILD"]
        self.builds = {os.path.dirname(file): read(os.path.join(root, file)) for file in builds}
        sources = [read(os.path.join(root, f)) for f in sorted(self.files) if f.endswith((".cc", ".inc", ".py"))]
        self.flags = {flag for text in sources for either in DEFINED.findall(text) for flag in either if flag}
        commands = [read(os.path.join(root, file)) for file in self.files
                    if file.startswith("tools/cli/") and file.endswith("_command.cc")]
        self.commands = {name for text in commands for name in COMMAND_NAME.findall(text)}
        hidden = [text for text in commands if ".hidden = true" in text]
        self.hidden_commands = {name for text in hidden for name in COMMAND_NAME.findall(text)}

    def has_target(self, package, name):
        build = self.builds[package]
        # "X_" + form makes X_test and X_long of a list; a member has a test next to it; a study, or a test of a folder or
        # a family, is a file.
        made = any(f'"{name[:i + 1]}" +' in build for i, c in enumerate(name) if c == "_")
        return (f'"{name}"' in build or made or name == "all" or f'"{name.removesuffix("_test")}"' in build
                or f"{package}/{name}.textproto" in self.files or f"{package}/{name}.cc" in self.files)

    def has_file(self, path):
        path = path.rstrip("/")
        return path in self.files or path in self.folders or any(fnmatch.fnmatch(file, path) for file in self.files)

    def has_heading(self, document, anchor):
        return anchor in {anchor_of(heading) for heading in HEADING.findall(read(os.path.join(self.root, document)))}


def problems_of_line(tree, document, line, is_command):
    for package, name, below in TARGET.findall(line):
        package = package.rstrip("/")
        if PLACEHOLDER.search(name) or PLACEHOLDER.search(package):
            continue
        if below:
            if not any(f == package or f.startswith(package + "/") for f in tree.builds) and package:
                yield f"there is no package below //{package}"
        elif package not in tree.builds:
            yield f"there is no package //{package}"
        elif name and not tree.has_target(package, name):
            yield f"there is no target //{package}:{name}"
    for link, anchor in LINK.findall(line):
        path = os.path.normpath(os.path.join(os.path.dirname(document), link)) if link else document
        if not tree.has_file(path):
            yield f"there is no {link}"
        elif anchor and not tree.has_heading(path, anchor):
            yield f"there is no heading #{anchor} in {path}"
    for code in CODE.findall(line) + ([line] if is_command else []):
        for word in re.split(r"[\s,;=]+", code):
            word = word.strip(".:()\"'")
            if re.fullmatch(r"[\w./*-]+", word) and word.split("/")[0] in tree.tops and "/" in word \
                    and not PLACEHOLDER.search(word) and not tree.has_file(word):
                yield f"there is no {word}"
        for flag in FLAG.findall(code):
            if not {flag, flag.removeprefix("no")} & (tree.flags | OTHERS):
                yield f"there is no flag --{flag}"
        match = COMMAND.search(code.strip())
        if match and match.group(1) not in tree.commands | {"help"}:
            yield f"there is no command 'openset {match.group(1)}'"


def problems_of(tree, root, document):
    for number, line in enumerate(read(os.path.join(root, document)).split("\n"), 1):
        for problem in problems_of_line(tree, document, line, re.match(r"    (openset|\./bazelw) ", line)):
            yield f"{document}:{number}: {problem}"


def problems_of_tree(tree):
    """Problems of the documents as a whole."""
    if "README.md" in tree.files:
        lines = read(os.path.join(tree.root, "README.md")).count("\n")
        if lines > MOST_README_LINES:
            yield f"README.md: has {lines} lines, more than {MOST_README_LINES}: move details to docs/"
    if "docs/README.md" in tree.files:
        linked = {link for link, _ in LINK.findall(read(os.path.join(tree.root, "docs/README.md")))}
        for file in sorted(tree.files):
            if file.startswith("docs/") and file.endswith(".md") and file[5:] not in linked | {"README.md"}:
                yield f"docs/README.md: has no link to {file[5:]}"
    if "docs/commands.md" in tree.files:
        described = set(re.findall(r"`(?:openset )?([a-z]+)", read(os.path.join(tree.root, "docs/commands.md"))))
        for command in sorted(tree.commands - tree.hidden_commands - described):
            yield f"docs/commands.md: does not describe 'openset {command}'"


def problems_of_versions(tree):
    """The version is written in three places."""
    if "tools/build_defs/version.bzl" not in tree.files:
        return
    version = re.search(r'OPENSET_VERSION = "(.*)"', read(os.path.join(tree.root, "tools/build_defs/version.bzl"))).group(1)
    for file, pattern in (("CITATION.cff", r"^version: (.*)$"), ("CHANGELOG.md", r"^## (.*)$")):
        found = re.search(pattern, read(os.path.join(tree.root, file)), re.MULTILINE) if file in tree.files else None
        if not found or found.group(1) != version:
            yield f"{file}: has version {found.group(1) if found else 'none'}, and OPENSET_VERSION is {version}"


def main(arguments):
    root = arguments[0] if arguments else "."
    tree = Tree(root)
    documents = sorted(file for file in tree.files if file.endswith(".md"))
    problems = [problem for document in documents for problem in problems_of(tree, root, document)]
    problems += problems_of_tree(tree)
    problems += problems_of_versions(tree)
    for problem in problems:
        print(problem)
    print(f"{len(documents)} documents, {len(problems)} problems")
    return 1 if problems or not documents else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
