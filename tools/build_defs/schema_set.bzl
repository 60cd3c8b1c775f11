"""schema_set(): the schemas of some protos, with their comments, as one FileDescriptorSet."""

def _schema_set_impl(ctx):
    sets = depset(transitive = [dep[ProtoInfo].transitive_descriptor_sets for dep in ctx.attr.deps])
    out = ctx.actions.declare_file(ctx.label.name + ".binpb")

    # Concatenated sets are one set.
    ctx.actions.run_shell(
        inputs = sets,
        outputs = [out],
        command = "cat %s > %s" % (" ".join([file.path for file in sets.to_list()]), out.path),
    )
    return [DefaultInfo(files = depset([out]), runfiles = ctx.runfiles([out]))]

schema_set = rule(
    implementation = _schema_set_impl,
    attrs = {"deps": attr.label_list(providers = [ProtoInfo], mandatory = True)},
)
