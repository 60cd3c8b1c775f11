"""Writes the pages of results/ from the records in the bundles, through the program.

    python3 results/pages.py OPENSET [--check]

Each page has a template: results/NAME/page.md.in gives results/NAME/README.md; results/README.md.in and
results/claims.md.in are the templates of the pages next to them. A study without a bundle has no page yet; other pages
mark its values as open. In a template, {{ ... }} is an expression over the functions of Study (study_values.py); the rest
is text. Text has no number with a decimal point, so that each such number comes from a record; one that no record of the
study has (of a run elsewhere, of a paper, a setting) is in backticks or an indented block. --check writes nothing and
fails if a page, a digest or a size is wrong.
"""

import glob
import hashlib
import os
import re
import sys

from study_values import NotRun, Studies

HERE = os.path.dirname(os.path.abspath(__file__))
MOST_BYTES = 20 * 1000 * 1000
# The parts of a template's text that may have a point between digits.
NOT_RESULTS = re.compile(r"v?\b\d+\.\d+\.\d+\b|`[^`]*`|Python \d\.\d+|^ {4}.*$", re.MULTILINE)


def answer(study, text):
    """The text with [...] replaced by expressions over the study; of a study that has not been run, that."""
    if isinstance(study, NotRun):
        return "no records yet"
    names = {field: getattr(study, field) for field in dir(study) if not field.startswith("_")}
    return re.sub(r"\[(.*?)\]", lambda found: str(eval(found.group(1), {}, names)), text)


def page_of(template, studies):
    """(the page's path, its text)."""
    folder = os.path.dirname(template)
    name = os.path.basename(folder)
    path = os.path.join(folder, "README.md") if template.endswith("page.md.in") else template.removesuffix(".in")
    with open(template, encoding="utf-8") as file:
        text = file.read()
    parts = re.split(r"\{\{(.*?)\}\}", text, flags=re.DOTALL)
    for part in parts[::2]:
        for number in re.findall(r"\d+\.\d+", NOT_RESULTS.sub("", part)):
            sys.exit(f"{template}: {number} is not from a record")
    study = studies[name] if template.endswith("page.md.in") else None
    names = {field: getattr(study, field) for field in dir(study) if not field.startswith("_")} if study else {}
    names["of"] = lambda other: studies[other]
    names["line"] = lambda other, text: answer(studies[other], text)
    names["link"] = lambda other: other if isinstance(studies[other], NotRun) else f"[{other}]({other}/README.md)"
    out = [part if i % 2 == 0 else str(eval(part.strip(), {}, names)) for i, part in enumerate(parts)]
    return path, "".join(out)


def main(words):
    check = "--check" in words
    program, = (word for word in words if not word.startswith("--"))
    studies, problems = Studies(program, HERE), []
    templates = sorted(glob.glob(os.path.join(HERE, "*", "page.md.in")) + glob.glob(os.path.join(HERE, "*.md.in")))
    templates = [t for t in templates if t.endswith("README.md.in") or t.endswith("claims.md.in")
                 or not isinstance(studies[os.path.basename(os.path.dirname(t))], NotRun)]
    for template in templates:
        path, text = page_of(template, studies)
        if not check:
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            continue
        with open(path, encoding="utf-8") as file:
            written = file.read().splitlines()
        made = text.splitlines()
        for number, (left, right) in enumerate(zip(written + [""] * len(made), made), 1):
            if left != right:
                problems.append(f"{path}:{number}: is '{left}', and the records give '{right}'")
        if len(written) > len(made):
            problems.append(f"{path}: has {len(written) - len(made)} lines more than its template gives")
    bundles = glob.glob(os.path.join(HERE, "*", "*.zip"))
    total = sum(os.path.getsize(bundle) for bundle in bundles)
    if total > MOST_BYTES:
        problems.append(f"the bundles have {total} bytes, and may have {MOST_BYTES}")
    with open(os.path.join(HERE, "SHA256SUMS"), "r" if check else "w", encoding="utf-8") as file:
        sums = "".join(f"{hashlib.sha256(open(b, 'rb').read()).hexdigest()}  {os.path.relpath(b, HERE)}\n"
                       for b in sorted(bundles))
        if not check:
            file.write(sums)
        elif file.read() != sums:
            problems.append("SHA256SUMS: is not of these bundles")
    for problem in problems:
        print(problem)
    print(f"{len(templates)} pages, {len(bundles)} bundles, {total} bytes, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
