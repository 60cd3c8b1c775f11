"""The file in models/heads/ that has the code of members of HeadSpec with other names, for component_fingerprints()."""

HEAD_SOURCES = {
    "prototype": "points",
    "reciprocal_point": "points",
}
