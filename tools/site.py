#!/usr/bin/env python3
"""Builds the documents as pages for a browser, and checks their links.

    bazel run //tools:site -- FOLDER          # FOLDER/index.html is the README

The documents link each other as they lie in the repository, so the site has the same folders. mkdocs and what it needs
come from the package index, with the versions and hashes of tools/site_requirements.txt, into a virtual environment in
~/.cache/openset/site. A link to a file or a heading that does not exist is an error.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import venv

REQUIREMENTS = "tools/site_requirements.txt"
# What documents show or link, besides each other.
ENDINGS = (".md", ".svg", ".png")
OF_STUDIES = (".textproto", ".py", ".txt")  # in results/ and docs/
CONFIGURATION = """\
site_name: openset
docs_dir: tree
use_directory_urls: false
theme:
  name: mkdocs
nav:
  - Start: README.md
  - Documents: docs/README.md
  - Commands: docs/commands.md
  - Results: results/README.md
  - Design: DESIGN.md
  - Contributing: CONTRIBUTING.md
  - Maintaining: docs/maintaining.md
  - Changes: CHANGELOG.md
not_in_nav: |
  *
validation:
  links:
    anchors: warn
"""


def run(*words):
    done = subprocess.run(words, check=False)
    if done.returncode != 0:
        sys.exit(f"site: {words[0]} failed")


def mkdocs(root):
    """The path of mkdocs in its environment, which is made anew for other requirements."""
    with open(os.path.join(root, REQUIREMENTS), "rb") as file:
        digest = hashlib.sha256(file.read()).hexdigest()[:12]
    folder = os.path.join(os.path.expanduser("~"), ".cache", "openset", "site", digest)
    program = os.path.join(folder, "bin", "mkdocs")
    if not os.path.exists(program):
        venv.create(folder, clear=True, with_pip=True)
        run(os.path.join(folder, "bin", "pip"), "install", "--quiet", "--require-hashes", "-r",
            os.path.join(root, REQUIREMENTS))
    return program


def copy_documents(root, tree):
    listed = subprocess.run(["git", "-C", root, "ls-files", "-z"], check=True, stdout=subprocess.PIPE, text=True)
    for file in listed.stdout.split("\0"):
        is_of_study = file.startswith(("results/", "docs/")) and file.endswith(OF_STUDIES)
        if not file.endswith(ENDINGS) and not is_of_study:
            continue
        os.makedirs(os.path.dirname(os.path.join(tree, file)), exist_ok=True)
        shutil.copy(os.path.join(root, file), os.path.join(tree, file))


def main(arguments):
    if len(arguments) != 1 or arguments[0].startswith("-"):
        sys.exit("usage: bazel run //tools:site -- FOLDER")
    root = os.environ.get("BUILD_WORKSPACE_DIRECTORY", os.getcwd())
    out = os.path.join(os.environ.get("BUILD_WORKING_DIRECTORY", os.getcwd()), arguments[0])
    with tempfile.TemporaryDirectory() as folder:
        copy_documents(root, os.path.join(folder, "tree"))
        configuration = os.path.join(folder, "mkdocs.yml")
        with open(configuration, "w", encoding="utf-8") as file:
            file.write(CONFIGURATION)
        run(mkdocs(root), "build", "--strict", "--config-file", configuration, "--site-dir", out)
    print(f"{out}/index.html")


if __name__ == "__main__":
    main(sys.argv[1:])
