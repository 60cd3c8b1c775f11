"""Tests of the program in Python."""

def openset_program_test(name, data = [], size = "medium", program = "//tools:openset_unstamped", **kwargs):
    """A test NAME.py with tools/testing/program.py, which runs the program in the folder of its runfiles."""
    native.sh_test(
        name = name,
        size = size,
        srcs = [name + ".py"],
        data = data + [
            program,
            "//tools/testing:program_py",
        ],
        **kwargs
    )
