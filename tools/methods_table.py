"""The table of docs/methods.md that compares methods: what each needs, what other libraries call it, what it was checked
against.

    python3 tools/methods_table.py [--fix]

Names and papers come from experiments/methods, what a score needs is read in the schemas, and the
rest in tools/methods_table.tsv (its seconds are those that tools/score_seconds.py prints). Reports where the page
differs; --fix updates it.
"""

import os
import re
import sys

PAGE = "docs/methods.md"
TITLE = "## Methods and other libraries\n"
HEAD = ["method", "paper", "family", "needs", "OpenOOD", "pytorch-ood", "torch-uncertainty", "checked against",
        "CPU s"]
NEEDS = {"fit": "training outputs", "features": "features", "head": "last layer", "perturbed": "perturbed images",
         "member_uncertainty": "disagreement of passes", "stage_means": "feature maps", "stage_states": "feature maps, gradients",
         "stage_grams": "feature maps", "extra_output": "an output for the unknown"}
PLAIN = {"logit_level", "each_class", "calibrates", "no_logits"}  # conditions on logits and samples, not further inputs
# What a method needs in addition to its score and to a plain network's training and forward pass.
SAYS = {"external_images": "external images", "feature_mixup": "mixed features", "noise_images": "synthetic images",
        "overlay_images": "synthetic images", "confusing_images": "synthetic images", "mixed_images": "mixed images", "stage_mixup": "mixed features",
        "virtual_outliers": "synthetic features", "mc_dropout": "dropout",
        "ensemble": "several trainings", "input_perturbation": "gradients", "pixel_perturbation": "perturbed images", "rank_feat": "feature maps",
        "aug_mix": "its augmentation"}
TRAINING = ("loss {", "augmentation {", "open_set {", "pretraining {", "training {", "model {")


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def score_needs():
    """By member of ScoreSpec: what its message, or a field or value in it, needs (core/proto/traits.proto)."""
    text = read("eval/scores/score.proto") + read("eval/scores/feature_score.proto")
    messages = {}
    for name, body in re.findall(r"(?ms)^message (\w+) \{\n(.*?)^\}", text):
        found = re.findall(r"\((?:openset\.)?traits\w*\) = \{([^}]*)\}", body)
        messages[name] = [need for one in found for need in re.findall(r"(\w+): true", one)]
    return {name: messages[kind] for kind, name in re.findall(r"(?m)^    (\w+Spec) (\w+) = \d+;", text) if kind in messages}


class Method:
    def __init__(self, name, methods):
        text = read(f"experiments/methods/{name}.textproto")
        self.name = name
        self.text = re.sub(r"(?m)#.*$", "", text)
        base = re.search(r'(?m)^base: "(\w+)"', self.text)
        self.base = methods(base[1]) if base else None
        self.reference = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', re.search(r'(?m)^reference: ((?:"[^\n]*"\s*)+)',
                                                                             self.text)[1]))

    @property
    def paper(self):
        """Authors and year, if the reference names them."""
        named = re.match(r"[A-Z][\w' \-]*? (?:et al\. |and [\w\-]+ )?\d{4}", self.reference)
        return named[0] if named else re.split(r"[,:(]", self.reference)[0].strip()

    @property
    def trained(self):
        """Whether its training differs from that of the plain network mcp."""
        if any(re.search("(?m)^" + re.escape(part), self.text) for part in TRAINING if not self.name.startswith("mc_")):
            return self.name != "mcp"
        return self.base is not None and self.base.trained

    @property
    def score(self):
        """The member of ScoreSpec."""
        own = re.search(r"(?m)^score \{\s*(\w+)", self.text)
        return own[1] if own else self.base.score

    def says(self):
        found = [what for field, what in SAYS.items() if re.search(rf"\b{field} \{{", self.text)]
        return found + (self.base.says() if self.base else [])


KINDS = {"shaping": "adascale ash dice lts react scale vra weighted_energy", "combined": "combine",
         "gradients": "gradient_uncertainty gradnorm grood", "distances": "class_anchor nearest_mean one_vs_set osnn"}


def families(needs):
    """By member of ScoreSpec: its kind, or else what it reads."""
    kinds = {}
    for score, wanted in needs.items():
        reads = [what for what in ("stage", "head", "features") if any(need.startswith(what) for need in wanted)]
        kinds[score] = {"stage": "stages"}.get(reads[0], reads[0]) if reads else "logits"
    kinds.update({score: kind for kind, scores in KINDS.items() for score in scores.split()})
    return kinds


def table():
    made = {}

    def method(name):
        if name not in made:
            made[name] = Method(name, method)
        return made[name]

    names = sorted(file.split(".")[0] for file in os.listdir("experiments/methods") if file.endswith(".textproto"))
    rows = [line.split("\t") for line in read("tools/methods_table.tsv").removesuffix("\n").split("\n")[1:]]
    if [row[0] for row in rows] != names:
        differ = sorted(set(names) ^ {row[0] for row in rows}) or "the order"
        raise SystemExit(f"tools/methods_table.tsv: its methods are not those of experiments/methods: {differ}")
    needs = score_needs()
    folders = families(needs)
    lines = ["| " + " | ".join(HEAD) + " |", "| --- " * len(HEAD) + "|"]
    for name, openood, pytorch_ood, torch_uncertainty, checked, seconds in rows:
        of = method(name)
        members = [of.score]
        if of.score == "combine":
            members = re.findall(r"score \{ (\w+)", of.text)
        wanted = [NEEDS[field] for member in members for field in needs[member] if field not in PLAIN]
        if of.score == "combine":
            wanted.append(NEEDS["fit"])
        if of.trained:
            wanted.append("its training")
        if name in ("react_unified_benchmark", "odin", "odin_unified_benchmark"):  # whose parameters are set
            wanted = [what for what in wanted if what != NEEDS["fit"]]
        wanted += of.says()
        passes = any(what in of.says() for what in ("dropout", "several trainings"))
        family = "training" if of.trained else "passes" if passes else folders[of.score]
        cells = [f"`{name}`", of.paper, family, ", ".join(dict.fromkeys(wanted)), openood, pytorch_ood, torch_uncertainty,
                 checked, seconds]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    page = read(PAGE)
    before, title, after = page.partition(TITLE)
    intro, _, rest = after.partition("| method |")
    rest = rest.partition("\n\n")[2]
    wanted = before + title + intro + table() + ("\n" + rest if rest else "")
    if not title or wanted != page:
        if "--fix" not in sys.argv or not title:
            raise SystemExit(f"{PAGE}: its table is not that of tools/methods_table.py (--fix writes it)")
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(wanted)


if __name__ == "__main__":
    main()
