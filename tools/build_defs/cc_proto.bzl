"""The C++ of a schema: X.pb.h, and X.proto.h, which only declares the messages of imported schemas."""

def _cc_proto_source_impl(ctx):
    proto = ctx.attr.proto[ProtoInfo]
    args = ctx.actions.args()
    args.add(ctx.bin_dir.path, format = "--cpp_out=proto_h:%s")
    args.add_all(proto.transitive_proto_path, format_each = "-I%s")
    args.add_all(proto.direct_sources)
    ctx.actions.run(
        executable = ctx.executable._protoc,
        arguments = [args],
        inputs = proto.transitive_imports,
        outputs = ctx.outputs.outs,
        mnemonic = "CcProto",
        progress_message = "C++ of %s" % ctx.label,
    )

_cc_proto_source = rule(
    implementation = _cc_proto_source_impl,
    attrs = {
        "proto": attr.label(providers = [ProtoInfo], mandatory = True),
        "outs": attr.output_list(mandatory = True),
        "_protoc": attr.label(default = Label("//third_party:protoc"), executable = True, cfg = "host"),
    },
)

def _light_impl(ctx):
    headers = cc_common.create_compilation_context(headers = depset([ctx.file.header]))
    return [cc_common.merge_cc_infos(
        direct_cc_infos = [CcInfo(compilation_context = headers)],
        cc_infos = [ctx.attr._runtime[CcInfo], CcInfo(linking_context = ctx.attr.full[CcInfo].linking_context)],
    )]

# A single header, linked with everything in `full`.
_light = rule(
    implementation = _light_impl,
    attrs = {
        "header": attr.label(allow_single_file = True, mandatory = True),
        "full": attr.label(providers = [CcInfo], mandatory = True),
        "_runtime": attr.label(default = Label("@protobuf")),
    },
)

def cc_proto(name, src, proto, visibility = None):
    """NAME_cc_proto, with SRC's .pb.h. NAME_cc_proto_h has a .proto.h that includes it, for generated code."""
    stem = src[:-len(".proto")]
    native.cc_proto_library(name = name + "_cc_proto", deps = [proto], visibility = visibility)
    native.genrule(
        name = name + "_cc_proto_alias",
        outs = [stem + ".proto.h"],
        cmd = "echo '#include \"%s/%s.pb.h\"' > $@" % (native.package_name(), stem),
    )
    native.cc_library(
        name = name + "_cc_proto_h",
        hdrs = [stem + ".proto.h"],
        visibility = visibility,
        deps = [name + "_cc_proto"],
    )

def light_cc_proto(name, src, proto, deps, visibility = None):
    """NAME_cc_proto, with SRC's .pb.h and .proto.h, and NAME_cc_proto_h, with .proto.h alone.

    Code that includes only .proto.h is not recompiled if an imported schema changes. It can store, copy and pass on
    messages. To use the fields of an imported message, it must include the .pb.h of that schema.
    """
    stem = src[:-len(".proto")]
    _cc_proto_source(
        name = name + "_cc_proto_source",
        proto = proto,
        outs = [stem + ".pb.cc", stem + ".pb.h", stem + ".proto.h"],
    )
    native.cc_library(
        name = name + "_cc_proto",
        srcs = [stem + ".pb.cc"],
        hdrs = [stem + ".pb.h", stem + ".proto.h"],
        linkstatic = 1,
        visibility = visibility,
        deps = deps + [dep + "_h" for dep in deps] + ["@protobuf"],
    )
    _light(
        name = name + "_cc_proto_h",
        full = name + "_cc_proto",
        header = stem + ".proto.h",
        visibility = visibility,
    )
