"""Draws a command and its output as a picture of a terminal, for the documentation.

    bazel-bin/tools/openset report quickstart | python3 tools/terminal_picture.py '$ COMMAND' > docs/quickstart.svg
"""

import html
import sys

FONT_SIZE, CHARACTER, LINE, MARGIN = 14, 8.43, 19, 16
NO_BREAK_SPACE = "\u00a0"  # other spaces are merged


def picture(command, output):
    lines = [command] + output.rstrip("\n").split("\n")
    width = round(max(len(line) for line in lines) * CHARACTER + 2 * MARGIN)
    height = len(lines) * LINE + 2 * MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">',
        f'<rect width="{width}" height="{height}" rx="6" fill="#1e2430"/>',
        f'<g font-family="DejaVu Sans Mono, Menlo, Consolas, monospace" font-size="{FONT_SIZE}">',
    ]
    for number, line in enumerate(lines):
        colour = "#8fd18f" if number == 0 else "#e6e6e6"
        y = MARGIN + FONT_SIZE + number * LINE
        length = f' textLength="{len(line) * CHARACTER:.1f}"' if line else ""
        parts.append(f'<text x="{MARGIN}" y="{y}" fill="{colour}"{length}>{html.escape(line).replace(" ", NO_BREAK_SPACE)}</text>')
    return "\n".join(parts + ["</g>", "</svg>"]) + "\n"


if __name__ == "__main__":
    sys.stdout.write(picture(sys.argv[1], sys.stdin.read()))
