"""package_sources(): the files of a package that tools/check_layers reads."""

def package_sources():
    native.filegroup(
        name = "sources",
        srcs = native.glob(["*"], exclude_directories = 1),
        visibility = ["//tools:__subpackages__"],
    )
