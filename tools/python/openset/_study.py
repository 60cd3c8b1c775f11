"""openset.Study and openset.open_store(): studies and their records."""
import json
import os

from openset import _program
from openset._evaluate import Result, flags


class Study:
    """A study by its spec: a file, or the name of one that comes with openset ("quickstart").

    Arguments are laid over it: store="results", methods=["softmax"], seeds="0..4", set={"training.epochs": 1}.
    """

    def __init__(self, spec, *, store=None, data=None, methods=None, seeds=None, set=None, jobs=None):
        self.spec = os.fspath(spec)
        self.store = store
        self._flags = flags(store=store, data=data, methods=methods, seeds=seeds, jobs=jobs)
        self._flags += [f"--set={path}={value}" for path, value in (set or {}).items()]

    def _run(self, command, *more, progress=False):
        given = [flag for flag in self._flags if command != "report" or not flag.startswith(("--jobs",))]
        return _program.run([command, self.spec, *given, *more], progress=progress)

    def plan(self):
        """What there is to do, as `openset plan --format=json` has it."""
        return json.loads(self._run("plan", "--format=json"))

    def run(self, progress=True):
        """Runs what is missing. Progress is written to standard error."""
        self._run("run", progress=progress)
        return self

    def report(self, format="text"):
        """The tables as text, "markdown", "latex", "csv", "json", or the page ("html")."""
        return self._run("report", f"--format={format}")

    def table(self):
        """A pandas.DataFrame with a row for each trial, set and metric."""
        import io
        import pandas
        return pandas.read_csv(io.StringIO(self._run("report", "--format=csv", "--tidy")))

    def _repr_html_(self):
        return f"<iframe srcdoc=\"{_attribute(self.report('html'))}\" width='100%' height='600'></iframe>"


def _attribute(text):
    return text.replace("&", "&amp;").replace('"', "&quot;")


class Store:
    """The records of a store."""

    def __init__(self, folder):
        self.folder = os.fspath(folder)

    def records(self, query=""):
        """A row for each record that `query` asks for ("method=openauc and auroc>0.9"); .to_frame() for pandas."""
        found = json.loads(_program.run(["records", "ls", *([query] if query else []), f"--store={self.folder}",
                                         "--format=json"]))
        rows = found if isinstance(found, list) else found.get("records", [])
        return Result(found, rows)

    def record(self, trial):
        """One record with all it holds, by the first digits of its id."""
        return json.loads(_program.run(["records", "show", trial, f"--store={self.folder}", "--format=json"]))


def open_store(folder="openset-store"):
    """The store in `folder`."""
    return Store(folder)
