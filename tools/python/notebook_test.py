"""Runs a notebook in a new kernel: notebook_test.py NOTEBOOK... Needs nbclient and ipykernel; fails if a cell fails.

Run by install_test.py, in an environment with the wheel.
"""
import os
import sys
import tempfile

import nbclient
import nbformat

for path in sys.argv[1:]:
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    with tempfile.TemporaryDirectory() as folder:
        nbclient.NotebookClient(notebook, timeout=600, kernel_name="python3",
                                resources={"metadata": {"path": folder}}).execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    assert outputs, f"{path}: shows nothing"
    print(f"{os.path.basename(path)}: {len(notebook.cells)} cells, {len(outputs)} outputs")
