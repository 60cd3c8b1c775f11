"""openset: open-set recognition, out-of-distribution and misclassification detection, measured.

The command `openset` (or `python -m openset`) is the program itself; `openset help` lists what it does. The functions
here start that program on arrays, so that their numbers are the program's, to the bit.
"""
from openset import scores
from openset._collect import collect
from openset._evaluate import Evaluation, Result, Threshold, compare, evaluate, threshold
from openset._study import Store, Study, open_store

__all__ = ["Evaluation", "Result", "Store", "Study", "Threshold", "collect", "compare", "evaluate", "open_store",
           "scores", "threshold"]


def __getattr__(name):
    if name == "__version__":
        import importlib.metadata
        return importlib.metadata.version("openset")
    raise AttributeError(f"module 'openset' has no attribute {name!r}")
