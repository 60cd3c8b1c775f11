"""Starts the program that comes with the package."""
import os
import re
import subprocess
import sys

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "_program")
# OPENSET_PROGRAM is for programs built from source.
PROGRAM = os.environ.get("OPENSET_PROGRAM") or os.path.join(FOLDER, "openset.runfiles", "openset", "tools", "openset")


def environment():
    """Ours, with the interpreter in which the program looks for PyTorch and for what draws figures."""
    variables = dict(os.environ)
    if sys.executable:
        variables.setdefault("OPENSET_PYTHON", sys.executable)
    return variables


def run(arguments, renamed=None, cwd=None, progress=False):
    """Runs `openset ARGUMENTS` and returns what it prints.

    `renamed`: {path: name} for the error messages. With `progress`, what it writes to standard error is shown as it
    comes. Raises ValueError for wrong arguments or input, RuntimeError for what failed.
    """
    done = subprocess.run([PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=None if progress else subprocess.PIPE,
                          stdin=subprocess.DEVNULL, cwd=cwd, env=environment(), check=False)
    if done.returncode == 0:
        return done.stdout.decode()
    message = "see above" if progress else done.stderr.decode(errors="replace").strip()
    message = re.sub(r"^openset: ", "", message.splitlines()[-1] if message else "the program said nothing")
    for path, name in (renamed or {}).items():
        message = message.replace(path, name)
    if done.returncode == 2:
        raise ValueError(message)
    if done.returncode == 130 or done.returncode == -2:
        raise KeyboardInterrupt
    raise RuntimeError(f"openset {arguments[0]}: {message}")
