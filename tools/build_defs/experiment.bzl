"""openset_experiment(): an experiment as a target."""

def openset_experiment(name):
    """`bazel run :NAME [-- --flag=value ...]` runs the experiment NAME.textproto of this folder."""
    native.sh_binary(
        name = name,
        srcs = ["//tools:run_experiment.sh"],
        args = [name],
        data = ["//tools:openset"],
    )
