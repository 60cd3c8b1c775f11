"""Runs the Python code of docs/records.md on a bundle and compares it with `openset records ls`.

    bazel build //tools:openset
    python3 tools/peers/records_peer.py --openset=bazel-bin/tools/openset --store=openset-store [--protoc=protoc]

Needs `protobuf` for Python and a protoc of its version. Prints how many records both read in the same way; fails if
they differ.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--openset", required=True)
    parser.add_argument("--store", required=True)
    parser.add_argument("--protoc", default="protoc")
    parser.add_argument("--protobuf_include", default="/usr/include")
    flags = parser.parse_args()
    openset = [os.path.abspath(flags.openset)]
    store = "--store=" + os.path.abspath(flags.store)
    example = re.search(r"```python\n(.*?)```", (ROOT / "docs/records.md").read_text(), re.DOTALL).group(1)
    # Collects its output instead of printing it.
    assert example.count("print(") == 1
    example = example.replace("print(", "found.append((record.trial_id, ").replace("metric})", "metric}))")
    with tempfile.TemporaryDirectory() as folder:
        protos = subprocess.run(["git", "ls-files", "*.proto"], cwd=ROOT, capture_output=True, text=True, check=True)
        subprocess.run([flags.protoc, "-I.", "-I" + flags.protobuf_include, "--python_out=" + folder] +
                       protos.stdout.split(), cwd=ROOT, check=True)
        subprocess.run(openset + ["records", "export", store, f"--bundle={folder}/cifar.zip"], check=True)
        os.chdir(folder)
        sys.path.insert(0, folder)
        found = []
        exec(compile(example, "docs/records.md", "exec"), {"found": found})
    listed = json.loads(subprocess.run(openset + ["records", "ls", store, "--format=json"], capture_output=True,
                                       text=True, check=True).stdout)
    by_id = {record["trial"]: record for record in listed}
    assert len(found) == len(listed), (len(found), len(listed))
    values = 0
    for trial_id, method, metrics in found:
        record = by_id[trial_id]
        assert record["method"] == method, trial_id
        for name, value in metrics.items():
            if name in record:
                assert record[name] == value, (trial_id, name, record[name], value)
                values += 1
    print(f"{len(found)} records with {values} values, read alike")


if __name__ == "__main__":
    main()
