"""Draws Vega-Lite specifications: vector_file.py JOBS, a JSON list of {"spec": ..., "format": "svg", "out": FILE}, each
with the width in "inches" or without."""
import json
import re
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


def within(encoding):
    """Expressions that are true for points within the ranges of the axes."""
    for axis in ("x", "y"):
        domain = encoding.get(axis, {}).get("scale", {}).get("domain")
        if domain:
            field = f"datum[{json.dumps(encoding[axis]['field'])}]"
            yield f"{field} >= {domain[0]} && {field} <= {domain[1]}"


def sized(svg, inches):
    """The picture, `inches` wide; its pixels are points from here on."""
    width, height = (float(re.search(rf'<svg[^>]*? {name}="([0-9.]+)"', svg)[1]) for name in ("width", "height"))
    points = 72 * inches
    root = re.match(r"<svg[^>]*>", svg)[0]
    new = re.sub(r' width="[^"]*"', f' width="{points:.6g}"', root, count=1)
    new = re.sub(r' height="[^"]*"', f' height="{points * height / width:.6g}"', new, count=1)
    return new + svg[len(root):]


def drawn_in(format, svg):
    """Of a picture whose pixels are points."""
    if format == "pdf":
        return vl_convert.svg_to_pdf(svg)
    if format == "png":
        return vl_convert.svg_to_png(svg, scale=1, ppi=300)
    root = re.match(r"<svg[^>]*>", svg)[0]
    return (re.sub(r' (width|height)="([0-9.e+]+)"', r' \1="\2pt"', root) + svg[len(root):]).encode()


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
    mark = kept.get("mark")
    if isinstance(mark, dict) and mark.get("type") == "point" and mark.get("clip"):
        # Whole circles at the ends of the axes; those beyond them are left out.
        kept["mark"] = {**mark, "clip": False}
        kept["transform"] = kept.get("transform", []) + [{"filter": text} for text in within(kept["encoding"])]
    if "layer" in kept:
        kept["layer"] = [x for x in kept["layer"] if x.get("encoding", {}).get("opacity", {}).get("value") != 0]
    return kept


def main():
    with open(sys.argv[1], encoding="utf-8") as jobs:
        for job in json.load(jobs):
            arguments = {"vl_spec": still(job["spec"]), "vl_version": VEGA_LITE, "config": CONFIG}
            if "inches" in job:
                drawn = drawn_in(job["format"], sized(vl_convert.vegalite_to_svg(**arguments), job["inches"]))
            elif job["format"] == "svg":
                drawn = vl_convert.vegalite_to_svg(**arguments).encode()
            elif job["format"] == "pdf":
                drawn = vl_convert.vegalite_to_pdf(**arguments)
            else:
                drawn = vl_convert.vegalite_to_png(**arguments, ppi=300)
            with open(job["out"], "wb") as file:
                file.write(drawn)


main()
