"""The version of openset: `openset --version`, the Python package, the archive."""

# Also in CITATION.cff and at the top of CHANGELOG.md (tools/checks/docs.py compares them).
OPENSET_VERSION = "0.4.0-dev"

# The same as Python's packages write it (PEP 440).
PYTHON_VERSION = OPENSET_VERSION.replace("-dev", ".dev0")
