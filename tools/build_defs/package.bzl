"""program_package(): a program with its runfiles as one file to install, a wheel or an archive."""

# Not in a package: LibTorch (also its CUDA library, of --config=cuda) and the drawing of figures, which are separate Python
# packages, and Fashion-MNIST, which is fetched on request.
_LEFT_OUT = ["_solib_k8/_U@libtorch", "../vl_convert/", "../libtorch/", "../libtorch_cuda/", "data/packaged/fashion_mnist/"]

def _program_package_impl(ctx):
    runfiles = depset(transitive = [
        target[DefaultInfo].default_runfiles.files
        for target in (ctx.attr.program, ctx.attr.library)
    ]).to_list()
    kept = ctx.files.also + [file for file in runfiles if not [1 for part in _LEFT_OUT if file.short_path.startswith(part)]]
    manifest = ctx.actions.declare_file(ctx.label.name + ".manifest.json")
    ctx.actions.write(manifest, struct(
        version = ctx.attr.version,
        torch_version = ctx.attr.torch_version,
        torch_also = ctx.attr.torch_also,
        runfiles = [struct(name = file.short_path, path = file.path) for file in kept],
        package = [struct(name = file.basename, path = file.path) for file in ctx.files.package] +
                  [struct(name = "gpu_check/" + file.basename, path = file.path) for file in ctx.files.gpu_check],
        readme = ctx.file.readme.path,
        license = ctx.file.license.path,
    ).to_json())
    ctx.actions.run_shell(
        command = "python3 %s %s %s" % (ctx.file._script.path, manifest.path, ctx.outputs.out.path),
        inputs = kept + ctx.files.package + ctx.files.gpu_check + [
            manifest,
            ctx.file._script,
            ctx.file.license,
            ctx.file.readme,
        ],
        outputs = [ctx.outputs.out],
        mnemonic = "Package",
        progress_message = "Packing %s" % ctx.outputs.out.basename,
    )
    files = [ctx.outputs.out]
    return [DefaultInfo(files = depset(files), runfiles = ctx.runfiles(files = files))]

program_package = rule(
    doc = "Packs a program, stripped; tools/python/make_package.py says what lies where.",
    implementation = _program_package_impl,
    attrs = {
        "program": attr.label(mandatory = True),
        "library": attr.label(mandatory = True, doc = "What the Python package loads; among the runfiles too."),
        "package": attr.label_list(allow_files = True, doc = "The Python package's files."),
        "also": attr.label_list(allow_files = True, doc = "Files that are not the program's, at their places among its files."),
        "gpu_check": attr.label_list(allow_files = True, doc = "The files of its part `gpu_check`."),
        "readme": attr.label(allow_single_file = True, mandatory = True),
        "license": attr.label(allow_single_file = True, mandatory = True),
        "version": attr.string(mandatory = True),
        "torch_version": attr.string(mandatory = True),
        "torch_also": attr.string_list(doc = "Other minor versions with which the worker was tested."),
        "out": attr.output(mandatory = True),
        "_script": attr.label(default = "//tools/python:make_package.py", allow_single_file = True),
    },
)
