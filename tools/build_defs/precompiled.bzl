"""precompiled_header(): a header compiled once, by g++, for all files that begin with it."""

load("@bazel_tools//tools/build_defs/cc:action_names.bzl", "CPP_COMPILE_ACTION_NAME")
load("@bazel_tools//tools/cpp:toolchain_utils.bzl", "find_cpp_toolchain")

# Saves more time in compiling tests than it costs in running them.
TEST_COPTS = ["-O1"]

# The same for code that computes nothing that takes time.
LIGHT_COPTS = ["-O1"]

# The schemas that code of records includes.
_RECORD_HEADERS = [
    "data/catalog.pb.h",
    "data/task.pb.h",
    "eval/metrics/metric.pb.h",
    "experiments/spec/action.proto.h",
    "experiments/spec/experiment.proto.h",
    "experiments/spec/method.proto.h",
    "experiments/spec/trial.proto.h",
    "experiments/store/details.pb.h",
    "experiments/store/record.proto.h",
]
_RECORD_DEPS = [
    "//data:catalog_cc_proto",
    "//data:task_cc_proto",
    "//eval/metrics:metric_cc_proto",
    "//experiments/spec:action_cc_proto_h",
    "//experiments/spec:experiment_cc_proto_h",
    "//experiments/spec:method_cc_proto_h",
    "//experiments/spec:trial_cc_proto_h",
    "//experiments/store:details_cc_proto",
    "//experiments/store:record_cc_proto_h",
]

# The headers that most files without LibTorch include, also tests.
_COMMON = [
    "algorithm",
    "cmath",
    "cstdint",
    "filesystem",
    "functional",
    "map",
    "memory",
    "optional",
    "set",
    "string",
    "utility",
    "vector",
    "absl/algorithm/container.h",
    "absl/status/status.h",
    "absl/status/statusor.h",
    "absl/strings/match.h",
    "absl/strings/str_cat.h",
    "absl/strings/str_format.h",
    "absl/strings/str_join.h",
    "absl/strings/str_split.h",
    "absl/types/span.h",
    "google/protobuf/generated_message_reflection.h",
    "google/protobuf/message.h",
    "google/protobuf/unknown_field_set.h",
]

def _precompiled_header_impl(ctx):
    toolchain = find_cpp_toolchain(ctx)
    features = cc_common.configure_features(
        ctx = ctx,
        cc_toolchain = toolchain,
        requested_features = ctx.features,
        unsupported_features = ctx.disabled_features,
    )
    of_deps = cc_common.merge_cc_infos(cc_infos = [dep[CcInfo] for dep in ctx.attr.deps]).compilation_context

    header = ctx.actions.declare_file(ctx.label.name + ".h")
    includes = (_COMMON if ctx.attr.common else []) + ctx.attr.includes
    if ctx.var.get("precompiled") == "none":  # --config=no_precompiled: only the file's own includes count
        includes = []
    ctx.actions.write(header, "#pragma once\n" + "".join(["#include \"%s\"\n" % name for name in includes]))

    # The options of all other compilations; otherwise g++ ignores the result.
    options = cc_common.get_memory_inefficient_command_line(
        feature_configuration = features,
        action_name = CPP_COMPILE_ACTION_NAME,
        variables = cc_common.create_compile_variables(
            feature_configuration = features,
            cc_toolchain = toolchain,
            user_compile_flags = ctx.fragments.cpp.copts + ctx.fragments.cpp.cxxopts + ctx.attr.copts,
            include_directories = of_deps.includes,
            quote_include_directories = of_deps.quote_includes,
            system_include_directories = of_deps.system_includes,
            preprocessor_defines = of_deps.defines,
            use_pic = True,
            add_legacy_cxx_options = True,
        ),
    )
    compiled = ctx.actions.declare_file(ctx.label.name + ".h.gch")
    ctx.actions.run(
        executable = cc_common.get_tool_for_action(feature_configuration = features, action_name = CPP_COMPILE_ACTION_NAME),
        arguments = options + ["-w", "-x", "c++-header", header.path, "-o", compiled.path],
        inputs = depset([header], transitive = [of_deps.headers, toolchain.all_files]),
        outputs = [compiled],
        env = {"PATH": "/bin:/usr/bin"},
        mnemonic = "PrecompileHeader",
        progress_message = "Precompiling %s" % header.short_path,
    )
    context = cc_common.create_compilation_context(headers = depset([header, compiled]))
    return [
        DefaultInfo(files = depset([compiled])),
        cc_common.merge_cc_infos(
            direct_cc_infos = [CcInfo(compilation_context = context)],
            cc_infos = [dep[CcInfo] for dep in ctx.attr.deps],
        ),
    ]

precompiled_header = rule(
    implementation = _precompiled_header_impl,
    attrs = {
        "common": attr.bool(doc = "begins with what most files without LibTorch include"),
        "includes": attr.string_list(doc = "headers, as files include them"),
        "copts": attr.string_list(doc = "options of the files that begin with it; g++ wants the same for both"),
        "deps": attr.label_list(providers = [CcInfo]),
        "_cc_toolchain": attr.label(default = Label("@bazel_tools//tools/cpp:current_cc_toolchain")),
    },
    toolchains = ["@bazel_tools//tools/cpp:toolchain_type"],
    fragments = ["cpp"],
)

def precompiled_records(name, copts, includes = [], deps = []):
    """A precompiled header of what code of records includes, and of `includes`."""
    precompiled_header(
        name = name,
        common = True,
        copts = copts,
        includes = _RECORD_HEADERS + includes,
        visibility = ["//visibility:public"],
        deps = _RECORD_DEPS + deps + ["@absl", "@protobuf"],
    )
