"""The risk-coverage curves of a checkout: FD_SHIFTS=.../fd-shifts."""
import importlib
import os
import subprocess
import sys
from types import ModuleType

import numpy as np

ROOT = os.environ["FD_SHIFTS"]
NAME = "FD-Shifts"
VERSION = subprocess.run(["git", "-C", ROOT, "log", "-1", "--format=%h"], capture_output=True,
                         text=True).stdout.strip()
sys.modules["fd_shifts_code"] = package = ModuleType("fd_shifts_code")
package.__path__ = [os.path.join(ROOT, "fd_shifts", "analysis")]
np.trapz = np.trapezoid  # which NumPy 2 has under this name alone
stats = importlib.import_module("fd_shifts_code.rc_stats")


def metrics(d):
    known = d["label"] >= 0
    wrong = (d["prediction"] != d["label"])[known].astype(int)
    of = stats.RiskCoverageStats(confids=-d["unknown_score"][known].astype(float),
                                 residuals=wrong,
                                 labels=d["label"][known])
    names = {"eaurc": "eaurc", "eaugrc": "eaugrc", "class_balanced_aurc": "aurc_ba", "class_balanced_augrc": "augrc_ba"}
    return {ours: getattr(of, theirs) / 1000 for ours, theirs in {"aurc": "aurc", "augrc": "augrc", **names}.items()}
