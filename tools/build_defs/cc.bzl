"""C++ and proto rules with the project's options: warnings are errors, tests link statically against our libraries."""

_COPTS = [
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-sign-compare",  # Abseil, LibTorch and the standard library disagree on the type of a size
    "-Wno-missing-field-initializers",
    "-Wno-maybe-uninitialized",  # gcc 12 raises it falsely on values taken out of an absl::StatusOr
]

def openset_cc_library(name, hdrs = [], srcs = [], deps = [], copts = [], **kwargs):
    native.cc_library(
        name = name,
        hdrs = hdrs,
        srcs = srcs,
        copts = _COPTS + copts,
        deps = deps,
        linkstatic = 1,
        **kwargs
    )

def openset_cc_binary(name, srcs, deps = [], **kwargs):
    native.cc_binary(name = name, srcs = srcs, copts = _COPTS, deps = deps, **kwargs)

def openset_cc_test(name, srcs, deps = [], size = "small", **kwargs):
    native.cc_test(
        name = name,
        srcs = srcs,
        copts = _COPTS,
        linkstatic = 1,
        size = size,
        deps = deps + ["@googletest//:gtest_main"],
        **kwargs
    )

def openset_cc_benchmark(name, srcs, deps = [], **kwargs):
    """A Google Benchmark binary: `bazel run //PACKAGE:NAME`. It is built by default, never run by the tests."""
    native.cc_binary(
        name = name,
        srcs = srcs,
        copts = _COPTS,
        deps = deps + ["@benchmark//:benchmark_main"],
        **kwargs
    )

def _proto_label(dep):
    if dep.startswith("@"):
        return dep
    if ":" not in dep:
        dep += ":" + dep.split("/")[-1]
    return dep + "_proto"

def openset_proto(name, srcs, deps = [], visibility = None):
    """NAME_proto and NAME_cc_proto of one .proto file."""
    native.proto_library(
        name = name + "_proto",
        srcs = srcs,
        deps = [_proto_label(dep) for dep in deps],
        visibility = visibility,
    )
    native.cc_proto_library(
        name = name + "_cc_proto",
        deps = [":" + name + "_proto"],
        visibility = visibility,
    )
