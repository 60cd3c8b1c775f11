"""The progress of a run and of a network: a bar in a notebook, lines elsewhere."""
from __future__ import annotations

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Optional


class Progress:
    """Receives the lines of `openset run`; shows nothing."""

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def line(self, line: str) -> None:
        pass


class Lines(Progress):
    """Writes the program's lines to standard error, up to its tables."""

    def __init__(self) -> None:
        self._ended = False

    def line(self, line: str) -> None:
        done = share_done(line)
        if not self._ended:
            print(line, file=sys.stderr)
        self._ended = self._ended or done == 1.0


class Bar(Progress):
    """A bar in a notebook, with the action that ended most recently."""

    def __init__(self, display: Any) -> None:
        self._handle: Optional[Any] = None
        self._display = display
        self._share = 0.0
        self._text = "starts"

    def __enter__(self) -> "Bar":
        self._handle = self._display(self, display_id=True)
        return self

    def line(self, line: str) -> None:
        share = share_done(line)
        if share is None:
            return
        self._share, self._text = share, line
        if self._handle is not None:
            self._handle.update(self)

    def _repr_html_(self) -> str:
        import html
        return f"<progress value='{self._share:.3f}' max='1'></progress> {html.escape(self._text)}"

    def __repr__(self) -> str:
        return f"{100 * self._share:.0f} % {self._text}"


def share_done(line: str) -> Optional[float]:
    """The share of actions that have ended, according to a line such as "[ 3/12] trained ..." or "3/12 actions, 34 %";
    otherwise None.

    >>> share_done("[ 3/12] trained   softmax on fashion_mnist_6_4, split 0, seed 0 (12s)"), share_done("AUROC 1/2")
    (0.25, None)
    """
    import re
    found = re.match(r"\[ *(\d+)/(\d+)\] |(\d+)/(\d+) actions, ", line)
    if found is None:
        return None
    done, total = (int(number) for number in found.groups() if number is not None)
    return done / total if total else None


class Count:
    """How many samples are done, as the program says it of images: after two seconds, and then every half second on a
    terminal, in one line that is written again, or every ten seconds elsewhere. total: 0 if it is not known.

    >>> import io
    >>> out, seconds = io.StringIO(), iter([0, 1, 3, 11, 14])
    >>> with Count("the network: test", 300, out=out, clock=lambda: next(seconds)) as count:
    ...     for done in (64, 128, 192, 256):
    ...         count(done)
    >>> print(out.getvalue(), end="")
    the network: test: 128 of 300 samples
    the network: test: 256 of 300 samples
    """

    QUIET, TERMINAL, FILE = 2.0, 0.5, 10.0  # seconds, as of ProgressLine (core/text/terminal.h)

    def __init__(self, what: str, total: int, wanted: bool = True, out: Any = None,
                 clock: Optional[Callable[[], float]] = None) -> None:
        import time
        self._what, self._total, self._wanted = what, total, wanted
        self._out = sys.stderr if out is None else out
        self._clock = time.monotonic if clock is None else clock
        self._terminal = self._out.isatty()
        self._is_open = False
        self._next = self._clock() + self.QUIET

    def __call__(self, done: int) -> None:
        now = self._clock()
        if not self._wanted or now < self._next:
            return
        of = f" of {self._total}" if self._total else ""
        print(f"{self._what}: {done}{of} samples", file=self._out, end="\r" if self._terminal else "\n", flush=True)
        self._is_open = self._terminal
        self._next = now + (self.TERMINAL if self._terminal else self.FILE)

    def __enter__(self) -> "Count":
        return self

    def __exit__(self, *_: object) -> None:
        if self._is_open:
            print(file=self._out)


def make_progress(wanted: bool) -> Progress:
    if not wanted:
        return Progress()
    try:
        from IPython import get_ipython
        from IPython.display import display
        if get_ipython() is not None and hasattr(get_ipython(), "kernel"):
            return Bar(display)
    except ImportError:
        pass
    return Lines()
