"""A hostile input, and the expected reaction of the program."""
import dataclasses

from fixture import ENTRIES, put_entry

REFUSED = "refused"  # exit code 2; a line on standard error contains `named`
NOTED = "noted"  # exit code 1 or 2; the output contains `named`
HARMLESS = "harmless"  # exit code 0; the output contains `named`
ANSWERED = "answered"  # any of these

ESCAPES = "\x1b]0;owned\a\n\xff"


@dataclasses.dataclass
class Case:
    input: str  # its row of the table "Inputs" in CONTRIBUTING.md
    what: str
    command: object  # a list of words, or a text with blanks between them
    make: object = lambda fixture: None  # changes the fixture
    end: str = REFUSED
    named: str = ""
    # Paths of the fixture below which the program may write, in addition to home/.cache.
    writes: object = ()
    environment: dict = dataclasses.field(default_factory=dict)
    with_worker: bool = False  # use the program that has a worker
    # Sent to the port that the program listens on, before the program is asked to end. `named` is then looked for in
    # the answer too, and `end` refers to the program's exit code.
    request: str = ""

    def words(self):
        return self.command.split(" ") if isinstance(self.command, str) else list(self.command)

    def but(self, **changes):
        return dataclasses.replace(self, **changes)


def holding(path, content):
    """Writes a file; `content` may be a function, for what is large."""
    return lambda fixture: fixture.write(path, content() if callable(content) else content)


def swapped(path, old, new):
    return lambda fixture: fixture.replace(path, old, new)


def entries(base, path, exceptions={}):
    """Cases with something else in place of a file: nothing, a folder, a pipe, links, devices, noise ... `path` may be a
    function of the fixture. exceptions: {entry: changes of the case}."""
    def make(entry):
        def put(fixture):
            base.make(fixture)
            put_entry(fixture, path(fixture) if callable(path) else path, entry)
        return put
    for entry in ENTRIES:
        what = base.what + ": " + entry if base.what else entry
        yield base.but(what=what, make=make(entry), **exceptions.get(entry, {}))
