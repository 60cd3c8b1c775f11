"""package_sources(): what tools/check_layers reads of a package."""

def package_sources():
    native.filegroup(
        name = "sources",
        srcs = native.glob(["*"], exclude_directories = 1),
        visibility = ["//tools:__subpackages__"],
    )
