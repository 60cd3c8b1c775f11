"""Situations from public bug reports of this field, and what the program must answer to each."""
import sys
import typing

sys.path.insert(0, "tools/testing")
from program import ProgramTest  # noqa: E402


class Situation(typing.NamedTuple):
    name: str
    source: str  # where people met it, as repository#number
    files: typing.Any  # {name: text, bytes or arrays}, or a function that makes them in the folder of a Program
    command: str
    code: int
    says: tuple  # each of these is in standard output or standard error
    never: tuple  # none of these is


def answers(name, source, files, command, *says, never=()):
    return Situation(name, source, files, command, 0, says, never)


def refuses(name, source, files, command, *says, never=()):
    return Situation(name, source, files, command, 2, says, never)


def write_files(program, files):
    for name, content in files.items():
        if isinstance(content, dict):
            program.write_arrays(name, **content)
        else:
            program.write(name, content)


class PeopleTest(ProgramTest):
    def check(self, *situations):
        for situation in situations:
            with self.subTest(situation.name, source=situation.source):
                program = self.another_program(situation.name)
                if callable(situation.files):
                    situation.files(program)
                else:
                    write_files(program, situation.files)
                result = program.run(situation.command)
                self.assertEqual(result.code, situation.code, result)
                self.says(result.printed, *situation.says)
                self.says_not(result.printed, *situation.never)
