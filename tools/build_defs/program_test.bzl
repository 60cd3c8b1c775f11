"""Tests of the program in Python."""

def openset_program_test(name, data = [], size = "medium", src = None, program = "//tools:openset_unstamped", **kwargs):
    """A test NAME.py, or `src`, with tools/testing/program.py, which runs the program in the folder of its runfiles."""
    native.sh_test(
        name = name,
        size = size,
        srcs = [src or name + ".py"],
        data = data + [
            program,
            "//tools/testing:program_py",
        ],
        **kwargs
    )
