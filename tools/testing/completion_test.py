#!/usr/bin/env python3
"""The script of openset completion, in the shells that this machine has: what is found for words before the cursor."""
import os
import pty
import re
import shutil
import signal
import subprocess
import sys

sys.path.insert(0, "tools/testing")
from program import PROGRAM, ProgramTest, main  # noqa: E402

CALL = """
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _openset
printf '%s\\n' "${COMPREPLY[@]-}"
"""
# zsh calls the function under these options, and sets PREFIX, which its compgen uses; compdef needs a terminal.
SHELLS = {"bash": "set -u\nsource ./script", "zsh": "compdef() { : }\nsource ./script\nemulate -L sh\nPREFIX=a/\n"
                                                  "setopt kshglob noshglob braceexpand"}


class CompletionTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("script", self.out("completion bash"))
        self.assertEqual(self.out("completion zsh"), self.read("script"))

    def found(self, *words, program=PROGRAM):
        """What each shell finds for the last of the words, without the space that zsh puts after it."""
        answers = set()
        for shell in filter(shutil.which, SHELLS):
            result = subprocess.run([shell, *(["-f"] if shell == "zsh" else []), "-c", SHELLS[shell] + CALL, "-", program,
                                     *words], cwd=self.program.folder, capture_output=True, text=True, check=True)
            self.assertEqual(result.stderr, "", words)
            answers.add(tuple(sorted(line.rstrip(" ") for line in result.stdout.splitlines() if line)))
        self.assertEqual(len(answers), 1, answers)
        return list(answers.pop())

    def check(self, words, *expected):
        self.assertEqual(self.found(*words.split(" ")), sorted(expected), words)

    def names(self, kind):
        return self.out(f"list {kind} --names").split()

    # As a user types it: TAB on a terminal, with the shell's own completion of the first word off.
    def test_tab_on_a_terminal(self):
        self.write("bin/openset", f'#!/bin/sh\nexec "{PROGRAM}" "$@"\n')
        self.program.path("bin/openset").chmod(0o755)
        for shell, words in {"bash": ["bash", "--norc", "-i"], "zsh": ["zsh", "-f", "-i"]}.items():
            with self.subTest(shell):
                if not shutil.which(shell):
                    self.skipTest(f"{shell} is not installed: its completion on a terminal was not tried")
                pid, terminal = pty.fork()
                if pid == 0:
                    os.chdir(self.program.folder)
                    os.environ.update(TERM="dumb", PATH=f"{self.program.path('bin')}:{os.environ['PATH']}")
                    os.execvp(words[0], words)
                seen = b""

                def see(text):
                    nonlocal seen
                    while text not in seen:
                        seen += os.read(terminal, 4096)  # without the text, the test's time ends
                    seen = seen.split(text, 1)[1]

                os.write(terminal, b"source ./script; PS1='rea''dy> '\n")
                see(b"ready> ")
                for typed, completed in ((b"openset compa\t", b"compare "), (b"\x15openset show metr\t", b"metrics ")):
                    os.write(terminal, typed)
                    see(completed)
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                os.close(terminal)

    def test_commands_and_their_subcommands(self):
        self.check("", "help", "--help", "--version", *self.names("words"))
        self.check("comple", "completion")
        self.check("help sho", "show")
        self.check("completion z", "zsh")
        self.check("task ", "new", "samples", "splits")
        self.check("nothing ")
        self.assertNotIn("evaluate-worker", self.names("words"))

    def test_flags(self):
        self.check("run --max_f", "--max_failures=")
        self.check("run --sco")
        self.check("plan --", "--help", *(word for word in self.names("words plan") if word.startswith("--")))

    # bash takes words apart at '=' and ':'.
    def test_values_of_flags(self):
        self.check("run --methods = softmax,openauc_p", "softmax,openauc_paper")
        self.check("run --methods=softmax,openauc_p", "--methods=softmax,openauc_paper")
        self.check("eval x.npz --metrics fpr_at_95tpr_", "fpr_at_95tpr_unknown_positive")
        self.check("run --metrics =", *self.names("metrics"))
        self.check("run --only = ", "changed", "failed", "missing")
        self.check("run --redo = all", "all")
        self.check("run --devices = cuda : ", "0")
        self.check("run --devices=cuda:", "--devices=cuda:0")
        self.check("run --out = ")  # files, by the shell itself
        self.check("run --deploy q")

    def test_arguments(self):
        self.check("show ", *self.names("kinds"))
        self.check("show metric ec", "ece")
        self.check("show metric ece ")
        self.check("list tasks fashion_mnist_6_4_", "fashion_mnist_6_4_ten_splits")
        self.check("data fetch cifar100_c", "cifar100_coarse")
        self.check("task splits fashion_mnist_6_4_", "fashion_mnist_6_4_ten_splits")
        self.check("task new fashion_mnist_6")
        # A flag's value is no argument, and a switch has none.
        self.check("show --library = x metr", "metrics")
        self.check("run --metrics ece quicks", "quickstart")
        self.check("run --keep_going --store x quicks", "quickstart")
        for command in self.names("words"):
            usage = re.search(r"^usage: openset \S+ (.*)", self.out(f"help {command}"), re.MULTILINE).group(1)
            takes_it = any(form.strip("[ ").startswith("SPEC") for form in usage.split("|"))
            self.check(f"{command} quicks", *["quickstart"] * takes_it)

    def test_studies_and_folders(self):
        self.write("a/mine.textproto", "")
        self.write("a/mine.txt", "")
        self.write("a/mine/x", "")
        self.check("run a/mi", "a/mine.textproto", "a/mine/")
        for name in ("x';touch pwn;'", "x$(touch pwn)", "x`touch pwn`", "y:z a"):
            self.write(f"a/{name}.textproto", "")
        self.check("run a/x", r"a/x\'\;touch\ pwn\;\'.textproto", r"a/x\$\(touch\ pwn\).textproto",
                   r"a/x\`touch\ pwn\`.textproto")
        self.check("run a/y : z", r"z\ a.textproto")
        self.assertFalse(self.program.path("pwn").exists())

    def test_asks_the_program_once(self):
        self.write("ask", f"#!/bin/sh\necho \"$@\" >> '{self.program.path('log')}'\necho known; echo failed >&2; exit 1\n")
        self.program.path("ask").chmod(0o755)
        for words, asked in (("run --methods k", "list methods --names"), ("show metrics k", "list metrics --names"),
                             ("k", "list words --names"), ("data -", "list words data --names")):
            self.found(*words.split(" "), program=self.program.path("ask"))
            self.assertEqual(set(self.read("log").splitlines()), {asked})
            self.program.path("log").unlink()

    def test_the_script_knows_all_switches_and_conventions(self):
        switches = {word[2:] for command in self.names("words") for word in self.names(f"words {command}")
                    if word.startswith("--") and not word.endswith("=")}
        listed = re.search(r'switches=" ([^"]*)"', self.read("script")).group(1).replace("\\\n", "")
        self.assertEqual(set(listed.split()), switches | {"help"})
        self.write("scores.csv", "label,unknown_score\n0,1\n,2\n")
        error = self.refused("eval scores.csv --convention=nothing", "unknown convention 'nothing' (known: ")
        self.check("eval --convention ", *error.split("known: ")[1].rstrip(")\n").split(", "))

    def test_bad_input(self):
        self.refused("completion fish", "unknown shell 'fish'")
        self.refused("list words nothing", "no command is called 'nothing'")
        self.refused("list wrods", "unknown kind 'wrods'; did you mean 'words'? (known: methods, ", ", kinds, words)")


if __name__ == "__main__":
    main()
