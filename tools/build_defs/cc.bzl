"""C++ and proto rules with the project's options: warnings are errors, tests link statically against our libraries."""

load(":cc_proto.bzl", "cc_proto", "light_cc_proto")
load(":precompiled.bzl", "LIGHT_COPTS", "TEST_COPTS")

_COPTS = [
    "-Wall",
    "-Wextra",
    "-Werror",
    "-Wno-sign-compare",  # Abseil, LibTorch and the standard library disagree on the type of a size
    "-Wno-missing-field-initializers",
    "-Wno-maybe-uninitialized",  # gcc 12 raises it falsely on values taken out of an absl::StatusOr
]

# Headers that most files include are compiled once (precompiled.bzl); each file starts from the result.
_PRECOMPILED = "core/precompiled"
_PRECOMPILED_TEST = "core/testing/precompiled_test"
_PRECOMPILED_TORCH = "core/tensor/precompiled_torch"
_PRECOMPILED_TORCH_TEST = "core/testing/precompiled_torch_test"
_PRECOMPILED_RECORDS = "experiments/store/precompiled_records"
_PRECOMPILED_RECORDS_TEST = "experiments/testing/precompiled_records_test"

# Folders whose files read and pass on records, and compute nothing that takes time.
_OF_RECORDS = [
    "experiments/" + name
    for name in ["action", "engine", "evaluate", "plan", "report", "store", "study"]
] + ["tools/cli"]

def _is_of_records():
    return any([(native.package_name() + "/").startswith(folder + "/") for folder in _OF_RECORDS])

def _precompiled(torch, test = False, benchmark = False):
    if torch:
        return _PRECOMPILED_TORCH_TEST if test else _PRECOMPILED_TORCH
    if _is_of_records() and not benchmark:
        return _PRECOMPILED_RECORDS_TEST if test else _PRECOMPILED_RECORDS
    return _PRECOMPILED_TEST if test else _PRECOMPILED

def _copts(precompiled):
    light = LIGHT_COPTS if precompiled == _PRECOMPILED_RECORDS else []
    return _COPTS + light + ["-include", precompiled + ".h", "-Winvalid-pch"]

# What nearly every target uses (tools/checks/deps.py knows it too): nobody lists it.
_STATUS_MACROS = "//core:status_macros"
_ALWAYS = ["@absl", "@protobuf"]

def _deps(name, deps, precompiled = None):
    always = _ALWAYS + ([] if name.startswith("status_macros") else [_STATUS_MACROS])
    if precompiled:
        folder, header = precompiled.rsplit("/", 1)
        always = always + ["//%s:%s" % (folder, header)]
    return deps + always

def openset_cc_library(name, hdrs = [], srcs = [], deps = [], torch = False, openmp = False, **kwargs):
    """A library. `torch`: its sources include LibTorch, directly or not. `openmp`: they have OpenMP loops."""
    precompiled = srcs and not openmp  # precompiled headers are without OpenMP
    native.cc_library(
        name = name,
        hdrs = hdrs,
        srcs = srcs,
        copts = _COPTS + ["-fopenmp"] if openmp else _copts(_precompiled(torch)) if precompiled else [],
        deps = _deps(name, deps, _precompiled(torch) if precompiled else None),
        linkstatic = 1,
        **kwargs
    )

def openset_cc_binary(name, srcs = [], deps = [], torch = False, **kwargs):
    native.cc_binary(
        name = name,
        srcs = srcs,
        copts = _copts(_precompiled(torch)),
        deps = _deps(name, deps, _precompiled(torch)),
        **kwargs
    )

def openset_cc_test(name, srcs, deps = [], size = "small", torch = False, **kwargs):
    native.cc_test(
        name = name,
        srcs = srcs,
        copts = _copts(_precompiled(torch, test = True)) + TEST_COPTS,
        linkstatic = 1,
        size = size,
        deps = _deps(name, deps, _precompiled(torch, test = True)) + ["@googletest//:gtest_main"] +
               ([] if name.startswith("status_matchers") else ["//core/testing:status_matchers"]),
        **kwargs
    )

def openset_cc_benchmark(name, srcs, deps = [], torch = False, **kwargs):
    """A Google Benchmark binary: `bazel run //PACKAGE:NAME`. It is built by default, never run by the tests."""
    native.cc_binary(
        name = name,
        srcs = srcs,
        copts = _copts(_precompiled(torch, benchmark = True)),
        deps = _deps(name, deps, _precompiled(torch, benchmark = True)) + ["@benchmark//:benchmark_main"],
        **kwargs
    )

# As many sources of a folder are compiled at once: fewer take more time in all, more leave processors idle.
_AT_ONCE = 8

def openset_folder(name, deps = [], test_deps = [], test_data = [], test_size = "small", subfolders = [], without = [], torch = False, **kwargs):
    """A library of all sources and headers of the package, and a test for each NAME_test.cc.

    Several sources are compiled at once: names in their anonymous namespaces must differ.

    Args:
      name: the folder's.
      deps: of all sources.
      test_deps: of all tests.
      test_data: of all tests.
      test_size: of all tests.
      subfolders: which belong to the folder, and are no packages.
      without: files that other rules list. Benchmarks never belong to it.
      torch: whether they use LibTorch.
      **kwargs: of the library.
    """
    places = [""] + [subfolder + "/" for subfolder in subfolders]
    tests = native.glob([place + "*_test.cc" for place in places], exclude = without)
    sources = native.glob([place + "*.cc" for place in places], exclude = without + tests + [place + "*_benchmark.cc" for place in places])
    parts = []
    for first in range(0, len(sources), _AT_ONCE):
        parts.append("%s_part%d.cc" % (name, first // _AT_ONCE))
        native.genrule(
            name = parts[-1] + "_source",
            outs = [parts[-1]],
            cmd = "printf '#include \"%s\"\\n' " % (native.package_name() + "/%s") +
                  " ".join(sources[first:first + _AT_ONCE]) + " > $@",
        )
    openset_cc_library(
        name = name,
        hdrs = native.glob([place + "*.h" for place in places], exclude = without),
        srcs = parts,
        textual_hdrs = sources + native.glob([place + "*.inc" for place in places]),
        deps = deps,
        torch = torch,
        **kwargs
    )
    for test in tests:
        openset_cc_test(
            name = test[:-len(".cc")],
            size = test_size,
            srcs = [test],
            data = test_data,
            torch = torch,
            deps = [":" + name] + test_deps,
        )

def openset_member(name, deps = [], test_deps = [], test_data = [], test_size = "small", torch = False):
    """A library with its test: NAME.h and, if they exist, NAME.cc and NAME_test.cc."""
    openset_cc_library(
        name = name,
        hdrs = [name + ".h"],
        srcs = native.glob([name + ".cc"]),
        deps = deps,
        torch = torch,
    )
    tests = native.glob([name + "_test.cc"])
    if tests:
        openset_cc_test(
            name = name + "_test",
            size = test_size,
            srcs = tests,
            data = test_data,
            torch = torch,
            deps = [":" + name] + test_deps,
        )

def _proto_label(dep, suffix):
    if dep.startswith("@"):
        return dep
    if ":" not in dep:
        dep += ":" + dep.split("/")[-1]
    return dep + suffix

def openset_proto(name, srcs, deps = [], visibility = None, light_header = False):
    """NAME_proto and NAME_cc_proto of one .proto file; for `light_header` see light_cc_proto() in cc_proto.bzl."""
    native.proto_library(
        name = name + "_proto",
        srcs = srcs,
        deps = [_proto_label(dep, "_proto") for dep in deps],
        visibility = visibility,
    )
    proto = ":" + name + "_proto"
    if light_header:
        light_cc_proto(name, srcs[0], proto, [_proto_label(dep, "_cc_proto") for dep in deps], visibility)
    else:
        cc_proto(name, srcs[0], proto, visibility)
