"""openset_experiment(): an experiment as a target."""

def openset_experiment(name, fetches = []):
    """`bazel run :NAME [-- --flag=value ...]` runs the experiment NAME.textproto of this folder.

    Args:
      name: the experiment.
      fetches: programs that fetch the data it needs; they are run first, and do nothing if the data exists.
    """
    native.sh_binary(
        name = name,
        srcs = ["//tools:run_experiment.sh"],
        args = [name],
        # The second makes the program's own runfiles, so that bazel-bin/tools/openset works as well.
        data = ["//tools:openset", "//tools:openset_runfiles"] + fetches,
    )
