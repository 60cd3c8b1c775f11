"""The console script `openset`: this process becomes the program."""
from __future__ import annotations

import os
import signal
import sys

from openset._program import PROGRAM, environment


def main() -> None:
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # Python ignores it; `openset ... | head` ends without a message
    try:
        os.execve(PROGRAM, ["openset", *sys.argv[1:]], environment())
    except OSError as error:
        sys.exit(f"openset: cannot start {PROGRAM}: {error.strerror}. Install it again: "
                 f"{sys.executable} -m pip install --force-reinstall openset")
