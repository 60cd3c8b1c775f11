#!/usr/bin/env python3
"""Runs the program on hostile forms of each input in CONTRIBUTING.md's table "Inputs".

It must answer with a clear line and a documented exit code, use bounded memory and CPU time, and write only where it
may. By default, up to every sixth case; --all: every case; --random=N: also this many random cases, from --first_case
on; --only=TEXT: only inputs with TEXT in their name; --models: instead, the model files that the worker reads;
--list: prints the cases. Runs in the folder of the source tree or of the runfiles. Prints the counts.

Each case has its own copy of the fixture, no standard input, and the rights of a user to whom file modes apply. In
addition to what the case expects, these are errors:
  an end by a signal or with an exit code other than 0, 1 and 2; one other than 0 with nothing on standard error
  more than 20 s of CPU time (120 s under AddressSanitizer), or 1 GiB of memory (4 GiB); no end within 5 min
  a file made, changed or removed where the case does not allow it
  control characters, marks of writing direction, or bytes that are not UTF-8 on standard output or error
  on standard error more than 25 kB, or a report of a sanitizer
"""
import argparse
import collections
import ctypes
import os
import re
import resource
import signal
import socket
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, "tools/testing/hostile")
import data_cases  # noqa: E402
import random_cases  # noqa: E402
import store_cases  # noqa: E402
import text_cases  # noqa: E402
from case import ANSWERED, HARMLESS, NOTED, REFUSED, Case  # noqa: E402
from fixture import Fixture, raw, read_file, text_of  # noqa: E402

LEAST_CASES = 10
PATIENCE_SECONDS = 300
MOST_ERROR = 25_000  # the program shows 100 lines of an error
REPORTS = ("Sanitizer", "runtime error:", "terminate called", "Check failed", "internal error")
# What must not be sent to a terminal: control characters, and marks of writing direction and of lines.
UNPRINTABLE = re.compile("[\0-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
SANITIZED = {}


def program_of(case):
    path = os.path.abspath("tools/openset_" + ("unstamped" if case.with_worker else "without_worker"))
    if path not in SANITIZED:
        SANITIZED[path] = "__asan_init" in read_file(path)
    return path, SANITIZED[path]


def limit(sanitized):
    """In the child process: a group of its own, limits, and no right to read what is closed."""
    os.setpgid(0, 0)
    cpu = 120 if sanitized else 20
    resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if not sanitized:  # they reserve terabytes for themselves; each thread reserves some 130 MB for its stack and heap
        most = (4 << 30) + (160 << 20) * os.sysconf("SC_NPROCESSORS_ONLN")
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    for power in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        ctypes.CDLL(None).prctl(24, power, 0, 0, 0)  # PR_CAPBSET_DROP


def exchange(port, request):
    answer = b""
    try:
        with socket.create_connection(("127.0.0.1", port), PATIENCE_SECONDS) as connection:
            try:
                connection.sendall(raw(request))
                connection.shutdown(socket.SHUT_WR)
            except OSError:
                pass  # it has answered already
            while part := connection.recv(65536):
                answer += part
    except OSError:
        pass
    return text_of(answer)


def ask(request, process, out):
    """Sends the request once the program has printed "http://127.0.0.1:1234/", with the token that it may ask for."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end and os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None:
        found = re.search(r"//[^/\n]*:(\d+)/(?:\?token=(\w{32}))?.*\n", read_file(out))
        if found:
            cookie = f"Cookie: openset_token={found[2]}\r\n" if found[2] else ""
            return exchange(int(found[1]), request.replace("Host: localhost\r\n", "Host: localhost\r\n" + cookie))
        time.sleep(0.01)
    return ""


class Ended:
    """What running the case's command in the fixture came to."""

    def __init__(self, case, fixture):
        program, self.sanitized = program_of(case)
        out, err = fixture.folder + ".out", fixture.folder + ".err"
        environment = {"HOME": "{}/home", "TMPDIR": "{}/tmp", "PATH": "{}/bin:/usr/bin:/bin", "LC_ALL": "C.UTF-8",
                       "RUNFILES_DIR": os.path.dirname(os.getcwd()), "ASAN_OPTIONS": "exitcode=99:detect_leaks=0",
                       "UBSAN_OPTIONS": "print_stacktrace=1", **case.environment}
        environment = {raw(name): raw(value.replace("{}", fixture.folder)) for name, value in environment.items()}
        with open(out, "wb") as to_out, open(err, "wb") as to_err:
            process = subprocess.Popen([raw(word) for word in [program] + case.words()], stdin=subprocess.DEVNULL,
                                       stdout=to_out, stderr=to_err, env=environment, cwd=fixture.path("work"),
                                       preexec_fn=lambda: limit(self.sanitized))
        self.answer = ""
        if case.request:
            self.answer = ask(case.request, process, out)
            process.terminate()
        end = time.monotonic() + PATIENCE_SECONDS
        while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None and time.monotonic() < end:
            time.sleep(0.001)
        self.hung = time.monotonic() >= end
        os.killpg(process.pid, signal.SIGKILL)  # it, if it hangs, and its remaining processes
        _, status, usage = os.wait4(process.pid, 0)
        self.code = process.returncode = os.waitstatus_to_exitcode(status)
        self.kilobytes, self.out, self.err = usage.ru_maxrss, read_file(out), read_file(err)


def unprintable(text):
    """What must not be printed, with what stands before it; "" if nothing is."""
    try:
        found = UNPRINTABLE.search(raw(text).decode())
        return repr(found.string[max(found.start() - 20, 0):found.start() + 20]) if found else ""
    except UnicodeDecodeError as error:
        return repr(text[max(error.start - 20, 0):error.start + 20])


def strayed(before, after, allowed):
    for path in sorted(set(before) | set(after)):
        if before.get(path) != after.get(path) and not any((path + "/").startswith(folder + "/") for folder in allowed):
            yield f"{path} is {'gone' if path not in after else 'new' if path not in before else 'changed'}"


def problems(case, ended, before, after):
    said = ended.err if case.end == REFUSED else ended.err + ended.out + ended.answer
    if ended.hung:
        yield "waits for ever"
    elif ended.code < 0:
        yield f"killed by signal {-ended.code}"
    elif ended.code > 2:
        yield f"exit code {ended.code}"
    elif ended.code and not ended.err:
        yield "no word on standard error"
    elif case.end == REFUSED and ended.code != 2 or case.end == HARMLESS and ended.code != 0:
        yield f"exit code {ended.code} in place of {2 if case.end == REFUSED else 0}"
    elif case.end == NOTED and ended.code == 0:
        yield "exit code 0, as if nothing were wrong"
    elif case.end != ANSWERED and case.named not in said:
        yield f"does not name {case.named}"
    if "HTTP/1.1" in ended.answer and ": default-src 'none'" not in ended.answer:
        yield "an answer lets scripts run"
    if ended.kilobytes > (4 if ended.sanitized else 1) << 20:
        yield f"took {ended.kilobytes >> 10} MiB"
    if len(ended.err) > MOST_ERROR:
        yield f"{len(ended.err)} bytes on standard error"
    yield from (report for report in REPORTS if report in ended.err)
    yield from (f"prints {found}" for found in (unprintable(ended.out), unprintable(ended.err)) if found)
    yield from list(strayed(before, after, [*case.writes, "home/.cache"]))[:5]


def try_case(case):
    """What is wrong with the program's reaction; "" if nothing is."""
    fixture = Fixture()
    case.make(fixture)
    before = fixture.snapshot()
    ended = Ended(case, fixture)
    found = "; ".join(problems(case, ended, before, fixture.snapshot()))
    return found and f"{found}\n    standard error: {ended.err[:600]!r}"


def try_cases(cases):
    failed = [(case, problem) for case in cases if (problem := try_case(case))]
    for case, problem in failed:
        print(f"FAILED {case.input}: {case.what!r} ({str(case.command)[:200]!r}): {problem}")
    print(f"tried {len(cases)}, answered well {len(cases) - len(failed)}", flush=True)
    return not failed


def check_table(cases):
    """Every input in CONTRIBUTING.md has a writer, a validator, a fuzzer and hostile cases. Returns the inputs."""
    section = read_file("CONTRIBUTING.md").split("## Inputs\n")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|\n").split("|")] for line in section.splitlines() if line[:2] == "| "]
    rows = [row for row in rows if row[0] not in ("input", "---")]
    counts = collections.Counter(case.input for case in cases)
    assert len(rows) >= 20 and len({row[0] for row in rows}) == len(rows), rows
    for row in rows:
        assert len(row) == 4 and all(row), row
        assert counts[row[0]] >= LEAST_CASES, f"{row[0]}: {counts[row[0]]} cases"
    assert not set(counts) - {row[0] for row in rows}, f"no row of the table: {set(counts) - {row[0] for row in rows}}"
    return [row[0] for row in rows]


def check_itself():
    """It notices each kind of failure that it is for."""
    case = Case("spec", "nothing", "eval scores.csv", end=HARMLESS)
    assert try_case(case) == ""
    assert "exit code 0 in place of 2" in try_case(case.but(end=REFUSED))
    assert "does not name elsewhere.csv" in try_case(case.but(command="eval nowhere.csv", end=REFUSED, named="elsewhere.csv"))
    case = case.but(command="eval scores.csv --out=new.txt")
    assert "work/new.txt is new" in try_case(case)
    assert try_case(case.but(writes=["work/new.txt"])) == ""
    assert unprintable("a\x1b[2J") and unprintable("\xff") and unprintable("\xe2\x80\xae") and not unprintable("\xc3\xa9\n")


def chosen(cases, every):
    if every:
        return cases
    most = len(cases) // LEAST_CASES
    return cases[::6 if most >= 6 else max(1, min(3, most))]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("--all", "--models", "--list", "--sanitizers"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--first_case", type=int, default=0)
    options = parser.parse_args()
    if options.models:
        return 0 if try_cases(list(data_cases.worker_models())) else 1
    cases = [case for some in (text_cases, store_cases, data_cases) for case in some.cases()]
    if options.list:
        for case in cases:
            print(repr((case.input, case.what, case.words(), case.end, case.named, sorted(case.writes)))[:3000])
        return 0
    if options.sanitizers and not program_of(cases[0])[1]:
        print("built without sanitizers: bazel test --config=asan", file=sys.stderr)
        return 1
    inputs = check_table(cases)
    shards, shard = int(os.environ.get("TEST_TOTAL_SHARDS", 1)), int(os.environ.get("TEST_SHARD_INDEX", 0))
    if "TEST_SHARD_STATUS_FILE" in os.environ:
        open(os.environ["TEST_SHARD_STATUS_FILE"], "w").close()
    well = True
    if shard == 0:
        check_itself()
    for name in inputs[shard::shards]:
        if options.only in name:
            print(name, end=": ", flush=True)
            well &= try_cases(chosen([case for case in cases if case.input == name], options.all))
    for seed in range(options.first_case, options.first_case + options.random):
        case = random_cases.random_case(seed)
        if options.only in case.input and (problem := try_case(case)):
            print(f"FAILED seed {seed}, {case.input}: {case.what!r}: {problem}", flush=True)
            well = False
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
