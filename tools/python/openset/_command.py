"""The console script `openset`: this process becomes the program."""
from __future__ import annotations

import os
import sys

from openset._program import PROGRAM, environment


def main() -> None:
    try:
        os.execve(PROGRAM, ["openset", *sys.argv[1:]], environment())
    except OSError as error:
        sys.exit(f"openset: cannot start {PROGRAM}: {error.strerror}. Install it again: "
                 f"{sys.executable} -m pip install --force-reinstall openset")
