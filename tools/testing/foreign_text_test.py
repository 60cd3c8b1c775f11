#!/usr/bin/env python3
"""Foreign names and texts in a library, a spec or a file run nothing, don't control a terminal, and end no command."""
import json
import os
import re
import subprocess
import sys

sys.path.insert(0, "tools/testing")
from program import PROGRAM, ProgramTest, main  # noqa: E402

SPEC = """name: 'study'
task: 'fashion_mnist_6_4'
method: 'softmax'
split: 0
seed: 0
metric { accuracy {} }
"""

# ESC ] 0 (the window's title), CSI as one character, a right-to-left override, a byte that is not UTF-8, a line end.
HOSTILE = b"a\x1b]0;t\x07\xc2\x9b31m\xe2\x80\xae\xff\nopenset: all is well"
# Control characters except line ends and tabs, separators of lines, marks of a writing's direction, and bytes that are
# not UTF-8 (as Python reads them).
CONTROLS = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\udc80-\udcff]")


def name_of(content):
    """Bytes as an argument or in a path."""
    return os.fsdecode(content)


class ForeignTextTest(ProgramTest):
    def plain(self, result):
        """Neither output controls a terminal, and both are valid text."""
        self.assertNotRegex(result.printed, CONTROLS)
        return result

    def refused_plainly(self, command, message):
        self.plain(self.fails(command, 2, message))

    def test_completion_executes_no_name(self):
        names = ("x';touch pwn;'", "y$(touch pwn)", "z`touch pwn`", "-a", "v\x1b[31m", "w\ntouch pwn\n", "u;touch pwn")
        for name in names:
            for kind in ("methods", "presets", "tasks", "specs", "catalog", "published"):
                self.write(f"lab/{kind}/{name}.textproto", "")
            self.write(f"{name}.textproto", "")
        self.write("lab/methods/mine.textproto", "base: 'mcp'")
        names = self.out("list methods --names --library=lab")
        self.says(names, "\nmine\n")
        self.says_not(names, "pwn")
        self.write("complete.bash", self.out("completion bash"))
        script = f"cd '{self.program.folder}'\nexport OPENSET_LIBRARY=lab\nsource complete.bash\n"
        for words in ("run ''", "run y", "run x", "show methods ''", "list tasks ''", "show presets ''", "show data ''",
                      "run --methods = ''", "report study --redo = ''", "task splits ''"):
            script += (f"COMP_WORDS=({PROGRAM} {words}); COMP_CWORD={len(words.split(' '))}; _openset; "
                       'line="openset ${COMPREPLY[*]}"\n')
        # Evaluates completed file names as the shell does with a command line.
        script += (f"COMP_WORDS=({PROGRAM} run ''); COMP_CWORD=2; _openset\n"
                   'for word in "${COMPREPLY[@]}"; do eval ": $word"; done\necho "${#COMPREPLY[@]}"\n')
        self.write("test.bash", script)
        subprocess.run(["bash", self.program.path("test.bash")], check=True)
        self.assertFalse(self.program.path("pwn").exists())
        self.assertFalse(os.path.exists("pwn"))

    def test_files_without_a_name_are_left_out_or_refused(self):
        self.write("lab/methods/x y.textproto", "base: 'mcp'")
        self.write(name_of(b"lab/methods/\xff\x1b.textproto"), "base: 'mcp'")
        listed = self.plain(self.program.must_run("list methods --library=lab"))
        self.says(listed.err, "lab/methods: a file is left out: 'x y' is not a valid name",
                  "lab/methods: a file is left out: '\ufffd ' is not a valid name")
        for old, new, message in (
                ("'softmax'", "'lab/methods/x y.textproto'", "lab/methods/x y.textproto: 'x y' is not a valid name"),
                ("'softmax'", "'../methods/softmax'",
                 "study.textproto:3: method[0]: unknown method '../methods/softmax'"),
                ("'study'", "'a study'", "study.textproto:1: name: 'a study' is not a valid name")):
            self.write("study.textproto", SPEC.replace(old, new))
            self.refused_plainly("plan study.textproto", message)
        self.write("study.textproto", SPEC)
        self.write("lab/catalog/$(touch pwn).textproto", "name: 'a'")
        self.refused_plainly("plan study.textproto --library=lab", "lab/catalog: '$(touch pwn)' is not a valid name")

    def test_invalid_utf8_is_reported_with_its_position(self):
        self.write("openset-store/version", "openset store 3\n")
        self.write("lab/methods/mine.textproto", b"base: 'mcp'\ntitle: 'a\xff'")
        self.write("lab/tasks/mine.textproto",
                   b"name: 'mine'\ndata_set: 'mnist'\ntitle: '\xc3' split { known: 0 }")
        for text, field in (
                (b"axis { path: 'training.epochs' value: ['1', '2'] name: 'a\xff' }",
                 "study.textproto:7: axis[0].name: "),
                (b"axis { path: 'training.epochs' value: ['1', '\xff'] }", "study.textproto:7: axis[0].value[1]: "),
                (b"axis { path: '\\377' value: ['1', '2'] }", "study.textproto:7: axis[0].path: "),
                (b"question: '\xc3('", "study.textproto:7: question: "),
                (b"method: 'mine'", "lab/methods/mine.textproto:2: title: "),
                (b"task: 'mine'", "lab/tasks/mine.textproto:3: title: "),
                (b"method: '\xff'", "study.textproto:7: method[1]: ")):
            self.write("study.textproto", SPEC.encode() + text + b"\n")
            for command in ("plan", "run", "report"):
                self.refused_plainly(command + " study.textproto --library=lab", field + "must be text in UTF-8")
        # A file with any name can be read.
        self.write(name_of(b"\xff\x1b[31m.textproto"), SPEC)
        self.json(["plan", name_of(b"\xff\x1b[31m.textproto")])

    def test_evaluates_files_of_any_name(self):
        scores = "label,prediction,unknown_score\n0,0,0.1\n1,1,0.2\n0,1,0.4\n-1,0,0.3\n-1,1,0.9\n"
        file = name_of(HOSTILE.replace(b"/", b"") + b".csv")
        self.write(file, scores)
        self.write("b.csv", scores)
        for form in ("text", "json", "markdown", "csv", "latex"):
            for command in (["eval", file, "b.csv", "--as=methods"], ["eval", file],
                            ["compare", file, "b.csv", "--replicates=20"]):
                result = self.plain(self.program.must_run([*command, "--format=" + form]))
                if form == "json":
                    json.loads(result.out)

    def test_no_control_codes_reach_the_terminal(self):
        quoted = HOSTILE.replace(b"\n", b"\\n").replace(b"\xff", b"").decode()
        self.write("lab/methods/mine.textproto", f"base: 'mcp' title: '{quoted}'")
        self.write("lab/presets/mine.textproto", f"note: '{quoted}'")
        self.write("lab/tasks/mine.textproto",
                   f"name: 'mine' data_set: 'mnist' title: '{quoted}' split {{ known: 0 }}")
        self.write("lab/specs/mine.textproto", f"{SPEC}question: '{quoted}'")
        self.write("study.textproto", f"{SPEC}axis {{ path: 'score' name: '{quoted}' value: ['max_logit {{}}', "
                   "'energy {\\n\\n}'] }")
        hostile, lab = name_of(HOSTILE), "--library=lab"
        for command in ("list methods", "list presets", "list tasks", "list specs", "show method mine",
                        "show spec mine", "task splits mine"):
            self.no_line_of_the_text([*command.split(), lab])
        for command in ("plan study.textproto --noprobe", "plan study.textproto --format=markdown",
                        "plan study.textproto --format=json", "report study.textproto"):
            self.no_line_of_the_text(command.split())
        for words in (["list", hostile, lab], ["show", "method", hostile, lab],
                      ["plan", "study.textproto", "--" + hostile], ["plan", "study.textproto", "--set=" + hostile]):
            self.no_line_of_the_text(words)
        for command in ("explain", "plan", "run", "eval", "data audit", "", "records ls", "records merge"):
            self.no_line_of_the_text([*command.split(), hostile])

    def no_line_of_the_text(self, words):
        result = self.plain(self.run_program(words))
        self.assertTrue(0 <= result.code <= 4, result)
        for text in (result.out, result.err):
            self.says_not("\n" + text, "\nopenset: all is well")


if __name__ == "__main__":
    main()
