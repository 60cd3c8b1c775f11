"""component_fingerprints(): digests of the sources that the members of families are built from, as a C++ table."""

SourcesInfo = provider(fields = {
    "files": "depset of the repository's source files that a target is built from, with those of its dependencies; without schemas, which every member of a family shares",
    "of_dep": "of each direct dependency in this repository, by its name: the label, and the same files",
})

def _sources_aspect_impl(target, ctx):
    files = []
    for attribute in ["srcs", "hdrs", "textual_hdrs"]:
        files += [f for f in getattr(ctx.rule.files, attribute, []) if f.is_source and f.extension != "proto" and not f.owner.workspace_name]
    deps = [dep for dep in getattr(ctx.rule.attr, "deps", []) if SourcesInfo in dep]
    return [SourcesInfo(
        files = depset(files, transitive = [dep[SourcesInfo].files for dep in deps]),
        of_dep = {
            dep.label.name: (dep.label, dep[SourcesInfo].files)
            for dep in deps
            if not dep.label.workspace_name
        },
    )]

_sources_aspect = aspect(implementation = _sources_aspect_impl, attr_aspects = ["deps"])

def _row(families, member, label, files):
    # Without the sources that all components share (core).
    top = label.package.split("/")[0] + "/"
    own = sorted([f.path for f in files.to_list() if f.path.startswith(top)])
    return (families, member, label.package + "/" + label.name, own)

def _fingerprint_source_impl(ctx):
    rows = []
    for target, families in ctx.attr.families.items():
        info = target[SourcesInfo]
        families = families.split(" ")
        rows.append(_row(families, "", target.label, info.files))
        of_target = dict(info.of_dep)
        of_target.update({other.label.name: (other.label, other[SourcesInfo].files) for other in ctx.attr.others})
        members = {name: [name] for name in of_target}
        for alias, names in ctx.attr.aliases.items():
            if names.split(" ")[0] in of_target:
                members[alias] = names.split(" ")
        for member in sorted(members):
            targets = [of_target[name] for name in members[member]]
            rows.append(_row(families, member, targets[0][0], depset(transitive = [files for _, files in targets])))

    lines = [
        "set -eu",
        "echo '#include \"experiments/store/fingerprint_row.h\"'",
        "echo 'namespace openset {'",
        "echo 'extern const FingerprintRow %s[];'" % ctx.attr.symbol,
        "echo 'const FingerprintRow %s[] = {'" % ctx.attr.symbol,
    ]
    for families, member, source, paths in rows:
        lines.append("sum=$(sha256sum /dev/null %s | sha256sum)" % " ".join(["'%s'" % path for path in paths]))
        for family in families:
            lines.append("echo \"    {\\\"%s\\\", \\\"%s\\\", \\\"%s\\\", \\\"${sum%%%% *}\\\"},\"" % (family, member, source))
    lines.append("echo '    {}};'")
    lines.append("echo '}  // namespace openset'")
    script = ctx.actions.declare_file(ctx.label.name + ".sh")
    ctx.actions.write(script, "\n".join(lines) + "\n")
    ctx.actions.run_shell(
        command = "sh %s > %s" % (script.path, ctx.outputs.out.path),
        inputs = depset([script], transitive = [target[SourcesInfo].files for target in ctx.attr.families.keys() + ctx.attr.others]),
        outputs = [ctx.outputs.out],
        env = {"PATH": "/bin:/usr/bin"},
        mnemonic = "Fingerprint",
        progress_message = "Fingerprints of %s" % ctx.label,
    )

_fingerprint_source = rule(
    implementation = _fingerprint_source_impl,
    attrs = {
        "families": attr.label_keyed_string_dict(aspects = [_sources_aspect], mandatory = True),
        "aliases": attr.string_dict(),
        "others": attr.label_list(aspects = [_sources_aspect]),
        "symbol": attr.string(mandatory = True),
        "out": attr.output(mandatory = True),
    },
)

def component_fingerprints(name, families, symbol, aliases = {}, others = []):
    """NAME.cc: the table `symbol` of FingerprintRows (experiments/store/fingerprint_row.h).

    Args:
      name: of the rule.
      families: the target that makes the members of a family -> the names of the messages with the oneof of members,
          separated by spaces. A member is the target's dependency with its name. Its files are its sources and the
          sources of its dependencies in the same top folder. The member "" stands for the family as a whole.
      symbol: a C++ name.
      aliases: a member whose target has another name -> that name. If a member has several targets, their names are
          separated by spaces.
      others: targets of members that are no dependencies of their family's target.
    """
    _fingerprint_source(
        name = name + "_source",
        out = name + ".cc",
        families = families,
        aliases = aliases,
        others = others,
        symbol = symbol,
    )
    native.cc_library(
        name = name,
        srcs = [name + ".cc"],
        linkstatic = 1,
        visibility = ["//experiments:__subpackages__"],
        deps = ["//experiments/store"],
    )
