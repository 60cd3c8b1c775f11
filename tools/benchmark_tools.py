"""Runs programs, and prints medians, ratios and tables, for tools/benchmarks.py."""

import math
import os
import statistics
import subprocess
import tempfile
import time


def run(command, **options):
    """(wall-clock seconds, peak memory in MB, standard output) of a process and its children."""
    begin = time.perf_counter()
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(command, stdout=output, stderr=errors, **options)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0), errors.seek(0)
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(command)[:200]}: exit code {process.returncode}: "
                               f"{errors.read().decode(errors='replace')[-500:]}")
        return seconds, usage.ru_maxrss / 1024, output.read().decode()


def shown(values, unit):
    """The median, and the range."""
    digits = lambda v: f"{v:,.0f}" if v >= 100 else f"{v:.3g}"
    middle = statistics.median(values)
    spread = f" ({digits(min(values))} to {digits(max(values))})" if len(values) > 1 else ""
    return f"{digits(middle)}{spread} {unit}".strip()


def ratio_shown(ratios):
    return (f"{statistics.median(ratios):.2f}"
            + (f" ({min(ratios):.2f} to {max(ratios):.2f})" if len(ratios) > 1 else ""))


def exponent(sizes, seconds):
    """The exponent of the growth from the smallest to the largest size; 1 is linear."""
    return math.log(seconds[-1] / seconds[0]) / math.log(sizes[-1] / sizes[0])


class Table:
    def __init__(self, *columns):
        self.lines = [columns, ["---"] * len(columns)]

    def add(self, *cells):
        self.lines.append(cells)

    def text(self):
        return "\n".join("| " + " | ".join(cells) + " |" for cells in self.lines)
