"""Draws Vega-Lite specifications: vector_file.py JOBS, a JSON list of {"spec": ..., "format": "svg", "out": FILE}."""
import json
import sys

try:
    import vl_convert
except ImportError:
    sys.exit(f"this Python has no vl-convert-python: {sys.executable} -m pip install vl-convert-python")

VEGA_LITE = "5.21"
CONFIG = {
    "background": "white",
    "font": "sans-serif",
    "title": {"anchor": "start", "fontSize": 11, "subtitleFontSize": 9},
    "axis": {"labelFontSize": 9, "titleFontSize": 10, "titleFontWeight": "normal", "gridColor": "#e3e3e3"},
    "legend": {"labelFontSize": 10, "symbolOpacity": 1},
}


def still(spec):
    """Without what only a reader's pointer uses: selections, and points that are there to be hovered over."""
    if isinstance(spec, list):
        return [still(part) for part in spec]
    if not isinstance(spec, dict):
        return spec
    kept = {name: still(part) for name, part in spec.items() if name != "params"}
    opacity = kept.get("encoding", {}).get("opacity", {})
    if "condition" in opacity:
        kept["encoding"]["opacity"] = {"value": opacity["condition"]["value"]}
    if "layer" in kept:
        kept["layer"] = [x for x in kept["layer"] if x.get("encoding", {}).get("opacity", {}).get("value") != 0]
    return kept


def main():
    with open(sys.argv[1], encoding="utf-8") as jobs:
        for job in json.load(jobs):
            arguments = {"vl_spec": still(job["spec"]), "vl_version": VEGA_LITE, "config": CONFIG}
            if job["format"] == "svg":
                drawn = vl_convert.vegalite_to_svg(**arguments).encode()
            elif job["format"] == "pdf":
                drawn = vl_convert.vegalite_to_pdf(**arguments)
            else:
                drawn = vl_convert.vegalite_to_png(**arguments, ppi=300)
            with open(job["out"], "wb") as file:
                file.write(drawn)


main()
