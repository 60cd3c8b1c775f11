"""Builds the wheel by Bazel for pip, pipx and uv (PEP 517); pyproject.toml names it."""
import pathlib
import shutil
import subprocess


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    subprocess.run(["./bazelw", "build", "//tools/python:wheel"], check=True)
    (wheel,) = pathlib.Path("bazel-bin/tools/python").glob("openset-*.whl")
    shutil.copy(wheel, wheel_directory)
    return wheel.name


def build_sdist(sdist_directory, config_settings=None):
    raise NotImplementedError("openset has no source distribution; clone the repository")
