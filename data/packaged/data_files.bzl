"""data_files(): files of another repository under the paths that the catalog gives them."""

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
