"""package_sources(): the files of a package that tools/checks/layers.py reads."""

def package_sources(subfolders = []):
    native.filegroup(
        name = "sources",
        srcs = native.glob(["*"] + [subfolder + "/*" for subfolder in subfolders], exclude_directories = 1),
        visibility = ["//tools:__subpackages__"],
    )
