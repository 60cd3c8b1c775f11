"""Starts the program that comes with the package."""
from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import IO, Any, Callable, Dict, List, Mapping, Optional, Sequence


FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_program")
# OPENSET_PROGRAM is for programs built from source.
PROGRAM = os.environ.get("OPENSET_PROGRAM") or os.path.join(FOLDER, "openset.runfiles", "openset", "tools", "openset")


# Contains a `curl` for machines without one.
FALLBACK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_fallback")


def environment() -> Dict[str, str]:
    """Our environment, with the interpreter in which the program looks for PyTorch and for the package that draws
    figures."""
    variables = dict(os.environ)
    if sys.executable:
        variables.setdefault("OPENSET_PYTHON", sys.executable)
    path = variables.get("PATH", os.defpath)
    if not any(os.access(os.path.join(folder, "curl"), os.X_OK) for folder in path.split(os.pathsep)):
        variables["PATH"] = path + os.pathsep + FALLBACK
    return variables


def run(arguments: Sequence[str], renamed: Optional[Mapping[str, str]] = None, cwd: Optional[str] = None,
        on_line: Optional[Callable[[str], None]] = None) -> str:
    """Runs `openset ARGUMENTS` and returns what it prints.

    `renamed`: {path: name} for error messages and lines. `on_line` receives each line of both outputs as it is printed.
    Raises ValueError for wrong arguments or input, RuntimeError for other failures, KeyboardInterrupt if stopped.
    """
    import re
    import subprocess
    import threading
    lines: List[str] = []
    out: List[str] = []

    def shown(text: str) -> str:
        for path, name in (renamed or {}).items():
            text = text.replace(path, name)
        return text

    with subprocess.Popen([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          stdin=subprocess.DEVNULL, cwd=cwd, env=environment()) as program:
        assert program.stdout is not None and program.stderr is not None

        def read(stream: IO[bytes], lines: List[str]) -> None:
            for raw in stream:
                lines.append(raw.decode(errors="replace"))
                if on_line is not None:
                    on_line(shown(lines[-1].rstrip("\n")))

        reader = threading.Thread(target=read, args=(program.stderr, lines), daemon=True)
        reader.start()
        try:
            read(program.stdout, out)
            reader.join()
            code = program.wait()
        except KeyboardInterrupt:
            program.wait()  # it got the signal too, and saves its state
            raise
    if code == 0:
        return "".join(out)
    said = next((line.strip() for line in reversed(lines) if line.strip()), "the program said nothing")
    message = shown(re.sub(r"^openset: ", "", said))
    if code == 2:
        raise ValueError(message)
    if code in (130, -2):
        raise KeyboardInterrupt
    raise RuntimeError(f"openset {arguments[0]}: {message}")


def run_json(arguments: Sequence[str], renamed: Optional[Mapping[str, str]] = None) -> Any:
    """The output of run(), parsed as JSON."""
    import json
    return json.loads(run(arguments, renamed))
