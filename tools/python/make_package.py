"""Packages openset for people who do not build it: make_package.py MANIFEST OUT, by tools/build_defs/package.bzl.

OUT ending in .whl: a wheel. The package `openset` contains the program in openset/_program/openset.runfiles/, in the
layout of Bazel's runfiles, so that the program finds its files and, by $ORIGIN, its libraries. The library that the
package's functions call is there too.
OUT ending in .tar.xz: the same files in a relocatable folder, with `bin/openset`.

Programs and libraries are stripped. Fails if they need a newer glibc than the wheel's tag promises, or a newer libstdc++
than distributions with that glibc have. The same inputs give the same bytes.
"""
import base64
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile

RUNFILES = "openset.runfiles"
# The oldest libstdc++ that comes with this glibc: GCC 11's, in RHEL 9 and its derivatives.
LIBSTDCXX = {(2, 34): (3, 4, 29)}
LAUNCHER = """#!/bin/sh
here=$(dirname "$(readlink -f "$0")")
exec "$here/../openset.runfiles/openset/tools/openset" "$@"
"""
# A `curl` in Python, for machines without one (openset/_program.py).
CURL = """#!/bin/sh
exec "${OPENSET_PYTHON:-python3}" "$(dirname "$0")/../_curl.py" "$@"
"""


def read(path):
    """The bytes of a file, stripped if it is a program or a library, and the glibc and libstdc++ that it needs."""
    content = pathlib.Path(path).read_bytes()
    if content[:4] != b"\x7fELF":
        return content, {}
    with tempfile.TemporaryDirectory() as folder:
        copy = os.path.join(folder, "copy")
        shutil.copyfile(path, copy)
        subprocess.run(["strip", "--strip-unneeded", copy], check=True)
        content = pathlib.Path(copy).read_bytes()
        needs = subprocess.run(["readelf", "--version-info", "--wide", copy], check=True, capture_output=True, text=True)
    needed = {}
    for library, version in re.findall(r"\b(GLIBC|GLIBCXX)_([0-9.]+)", needs.stdout):
        needed[library] = max(needed.get(library, ()), tuple(map(int, version.split("."))))
    return content, needed


def program_files(manifest):
    """{path below the package's root: (bytes, is executable)}, and {name of a file: what read() says it needs}."""
    files, needs = {}, {}
    for entry in manifest["runfiles"]:
        name = entry["name"]
        name = name[len("../"):] if name.startswith("../") else f"openset/{name}"
        content, needs[name] = read(entry["path"])
        files[f"{RUNFILES}/{name}"] = content, os.access(entry["path"], os.X_OK) and content[:2] in (b"\x7fE", b"#!")
    versions = [manifest["torch_version"], *manifest["torch_also"]]
    files[f"{RUNFILES}/openset/tools/torch_version"] = "".join(version + "\n" for version in versions).encode(), False
    return files, needs


def metadata(manifest):
    torch = ".".join(manifest["torch_version"].split(".")[:2])
    readme = pathlib.Path(manifest["readme"]).read_text(encoding="utf-8")
    return f"""Metadata-Version: 2.1
Name: openset
Version: {manifest["version"]}
Summary: Measures open-set recognition, out-of-distribution detection and misclassification detection
License: Apache-2.0
Requires-Python: >=3.9
Provides-Extra: train
Requires-Dist: torch=={torch}.*; extra == "train"
Provides-Extra: plots
Requires-Dist: vl-convert-python; extra == "plots"
Description-Content-Type: text/markdown

{readme}"""


def wheel_files(manifest, tag):
    files, needs = program_files(manifest)
    glibc = tuple(map(int, re.search(r"manylinux_(\d+)_(\d+)_", tag).groups()))
    for name, needed in needs.items():
        for library, promised in (("GLIBC", glibc), ("GLIBCXX", LIBSTDCXX[glibc])):
            if needed.get(library, ()) > promised:
                sys.exit(f"{name} needs {library}_{'.'.join(map(str, needed[library]))}, {tag} promises "
                         f"{'.'.join(map(str, promised))}: `nm -D` shows the function; do without it, or build on Debian 12")
    files = {f"openset/_program/{name}": entry for name, entry in files.items()}
    for entry in manifest["package"]:
        files[f"openset/{entry['name']}"] = pathlib.Path(entry["path"]).read_bytes(), False
    files["openset/_fallback/curl"] = CURL.encode(), True
    info = f"openset-{manifest['version']}.dist-info"
    files[f"{info}/METADATA"] = metadata(manifest).encode(), False
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: openset\nRoot-Is-Purelib: false\nTag: {tag}\n".encode(), False)
    files[f"{info}/entry_points.txt"] = b"[console_scripts]\nopenset = openset._command:main\n", False
    files[f"{info}/LICENSE"] = pathlib.Path(manifest["license"]).read_bytes(), False
    lines = []
    for name, (content, _) in sorted(files.items()):
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content)}\n")
    files[f"{info}/RECORD"] = "".join(lines + [f"{info}/RECORD,,\n"]).encode(), False
    return files


def write_wheel(files, out):
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for name, (content, executable) in sorted(files.items()):
            entry = zipfile.ZipInfo(name)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            wheel.writestr(entry, content)


def write_archive(files, folder, out):
    with tarfile.open(out, "w:xz", preset=6) as archive:
        for name, (content, executable) in sorted(files.items()):
            entry = tarfile.TarInfo(f"{folder}/{name}")
            entry.size = len(content)
            entry.mode = 0o755 if executable else 0o644
            archive.addfile(entry, io.BytesIO(content))


def main():
    manifest_path, out = sys.argv[1:]
    manifest = json.loads(pathlib.Path(manifest_path).read_text(encoding="utf-8"))
    if out.endswith(".whl"):
        write_wheel(wheel_files(manifest, "-".join(pathlib.Path(out).stem.split("-")[2:])), out)
        return
    files, _ = program_files(manifest)
    files["bin/openset"] = LAUNCHER.encode(), True
    files["README.md"] = pathlib.Path(manifest["readme"]).read_bytes(), False
    files["LICENSE"] = pathlib.Path(manifest["license"]).read_bytes(), False
    write_archive(files, f"openset-{manifest['version']}", out)


main()
