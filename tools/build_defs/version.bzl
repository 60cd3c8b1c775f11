"""The version of openset: `openset --version`, the Python package, the archive."""

OPENSET_VERSION = "0.3.0"
