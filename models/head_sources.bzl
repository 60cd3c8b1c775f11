"""The target in models/heads/ that has the code of each member of HeadSpec, for component_fingerprints()."""

HEAD_SOURCES = {
    "decomposed": "decomposed_head",
    "linear": "linear_head",
    "prototype": "point_head",
    "random_temperature": "random_temperature_head",
    "reciprocal_point": "point_head",
}
