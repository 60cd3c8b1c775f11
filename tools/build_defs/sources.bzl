"""package_sources(): the files of a package that tools/checks/layers.py reads."""

def package_sources():
    native.filegroup(
        name = "sources",
        srcs = native.glob(["*"], exclude_directories = 1),
        visibility = ["//tools:__subpackages__"],
    )
