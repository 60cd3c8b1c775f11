#!/usr/bin/env python3
"""Writes compile_commands.json, for clangd and clang-tidy, from the commands that Bazel would run.

    bazel run //tools:compile_commands

Generated headers exist after a build. g++'s precompiled header is omitted, because each file includes what it uses.
"""

import json
import os
import re
import subprocess
import sys

# Of a source that is written by the build, to compile several at once (openset_folder(), openset_family()).
INCLUDED = re.compile(r'^#include "([^"]+\.cc)"$', re.M)
OUTSIDE = re.compile(r"^(|-I|-isystem|-iquote)(external|bazel-out)/")
# Options of g++ that clang does not know.
UNKNOWN_TO_CLANG = {"-fno-canonical-system-headers", "-Winvalid-pch", "-Wno-free-nonheap-object"}


def bazel(*arguments):
    done = subprocess.run(["bazel", *arguments], check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"compile_commands: bazel {' '.join(arguments)} failed:\n{done.stderr}")
    return done.stdout


def clang_arguments(arguments, folders):
    """The command with absolute paths to the `folders` outside the repository, without the options that only g++
    accepts."""
    result = []
    skip = 0
    for argument, following in zip(arguments, arguments[1:] + [""]):
        if skip:
            skip -= 1
        elif argument == "-include" and "precompiled" in following or argument in ("-MF", "-o"):
            skip = 1
        elif argument in UNKNOWN_TO_CLANG or argument == "-MD" or argument.startswith("-frandom-seed"):
            continue
        else:
            result.append(OUTSIDE.sub(lambda match: match.group(1) + folders[match.group(2)] + "/", argument))
    return result + ["-Wno-unknown-warning-option"]


def sources_of(source, folders):
    """The repository's sources that are compiled with this one."""
    if not source.startswith(("external/", "bazel-out/")):
        return [source]
    path = os.path.join(folders["bazel-out"], source.removeprefix("bazel-out/"))
    if not source.startswith("bazel-out/") or not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return INCLUDED.findall(file.read())


def main():
    workspace = os.environ.get("BUILD_WORKSPACE_DIRECTORY", os.getcwd())
    os.chdir(workspace)
    folders = {
        "external": os.path.join(bazel("info", "output_base").strip(), "external"),
        "bazel-out": bazel("info", "output_path").strip(),
    }
    actions = json.loads(bazel("aquery", "--output=jsonproto", 'mnemonic("CppCompile", //...)'))["actions"]
    commands = {}
    for action in actions:
        arguments = action["arguments"]
        source = arguments[arguments.index("-c") + 1]
        for one in sources_of(source, folders):
            commands[one] = {
                "directory": workspace,
                "file": one,
                "arguments": clang_arguments([one if argument == source else argument for argument in arguments], folders),
            }
    path = os.path.join(workspace, "compile_commands.json")
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump([commands[source] for source in sorted(commands)], file, indent=1)
    os.replace(path + ".new", path)
    print(f"{path}: {len(commands)} files")


if __name__ == "__main__":
    main()
