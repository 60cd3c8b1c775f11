"""openset: open-set recognition, out-of-distribution and misclassification detection, measured.

The command `openset` (or `python -m openset`) is the program itself; `openset help` lists what it does. The functions
that measure arrays call the program's code in this process, so their numbers equal the program's, to the bit. Those for
studies and stores start the program. `openset.torchmetrics`, `openset.openood`, `openset.detectors` and
`openset.lightning` are adapters for these libraries, which they import. `openset.splits` makes class splits by rules.
"""
from openset import scores
from openset._collect import Sample, Samples, collect, images
from openset._detector import Decisions, Detector
from openset._evaluate import Evaluation, Evaluations, Threshold, compare, evaluate, evaluate_scores, threshold
from openset._library import HintWarning, set_num_threads
from openset._own_score import OwnScore, score
from openset._records import Record, Records, Store, open_store
from openset._result import Result
from openset._study import Study

__all__ = ["Decisions", "Detector", "Evaluation", "Evaluations", "HintWarning", "OwnScore", "Record", "Records", "Result", "Sample",
           "Samples", "Store", "Study", "Threshold", "collect", "compare", "evaluate", "evaluate_scores", "images", "open_store", "score", "scores", "set_num_threads",
           "threshold"]


def __getattr__(name: str) -> str:
    if name == "__version__":
        import importlib.metadata
        return importlib.metadata.version("openset")
    raise AttributeError(f"module 'openset' has no attribute {name!r}")
