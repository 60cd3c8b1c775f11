"""Class splits by rules: python -m openset.splits ACTION --help.

    python -m openset.splits attributes birds --data=cub200 --matrix=FILE --known=@known.txt --levels=34,34,32
    python -m openset.splits near mine --data=imagenet --part=val --wordnet=data.noun --wnids=@wnids.txt \\
        --known=@known.txt --draw=200
    python -m openset.splits far --data=food101 --wordnet=data.noun --wnids=@wnids.txt --names=@food101.txt
    python -m openset.splits overlap --data=tinyimagenet --wordnet=data.noun --wnids=@tiny.txt --synsets=@cifar100.txt

`attributes` and `near` write a task, tasks/NAME.textproto in the library --into. `far` and `overlap` print a part of a
task. A list has commas, or is a file with one item on each line, @FILE. Class ids are positions in --wnids, in --names
or among the lines of --matrix. Draws use core/random.h: the same seed gives the same classes everywhere.
"""
from __future__ import annotations

import argparse
import hashlib
import math
import os
import re
import struct
import sys
import textwrap

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Callable, Dict, Iterable, List, NoReturn, Optional, Sequence, Set, Tuple


class SplitError(ValueError):
    """What is wrong with a request or a file, and where."""


def permutation(n: int, seed: int, stream: str) -> List[int]:
    """A random order of 0, ..., n - 1: RandomStream(seed, stream).Permutation(n) of core/random.h (xoshiro256++)."""
    mask = 2**64 - 1
    a, b, c, d = struct.unpack("<4Q", hashlib.sha256(f"{seed}/{stream}".encode()).digest())
    order = list(range(n))
    for i in range(n - 1, 0, -1):
        bits = -1
        while bits < 2**64 % (i + 1):  # the incomplete last block of 2^64
            total = (a + d) & mask
            bits = (((total << 23) | (total >> 41)) + a) & mask
            t = (b << 17) & mask
            c ^= a
            d ^= b
            b ^= c
            a ^= d
            c ^= t
            d = ((d << 45) | (d >> 19)) & mask
        j = bits % (i + 1)
        order[i], order[j] = order[j], order[i]
    return order


# By attributes. Source: Vaze et al. 2022, section 5. The rule was reconstructed from its published lists: with the 312
# attributes of CUB-200-2011 and levels of 34, 34 and 32 classes it gives these lists, in their order.


def parse_attributes(text: str, file: str) -> List[List[float]]:
    """Numbers between blanks, tabs or commas, a line for each class. SplitError "FILE:LINE: problem"."""
    rows: List[List[float]] = []
    for number, line in enumerate(text.split("\n"), 1):
        cells = re.split(r"[ \t,\r]+", line.strip(" \t,\r\f\v"))
        if cells == [""]:
            continue
        for cell in cells:
            if not re.fullmatch(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?", cell) or math.isinf(float(cell)):
                raise SplitError(f"{file}:{number}: '{_printable(cell)}' is not a finite number")
        rows.append([float(cell) for cell in cells])
        if len(cells) != len(rows[0]):
            raise SplitError(f"{file}:{number}: has {len(cells)} numbers, and the first line {len(rows[0])}")
        if not any(rows[-1]):
            raise SplitError(f"{file}:{number}: all attributes are 0, so no cosine is defined")
    if not rows:
        raise SplitError(f"{file}: has no line of numbers")
    return rows


def rank_unknown_classes(attributes: Sequence[Sequence[float]],
                         known: Sequence[int]) -> List[Tuple[int, float, int]]:
    """(class id, cosine, nearest known class) of each unknown class, the hardest to tell from known ones first.

    The nearest known class has the largest cosine of the angle between the two rows (ties: the earlier known class).
    Sorted by that cosine (ties: the smaller class id). Attributes may have any magnitude: rows are first multiplied by
    the power of two that brings their largest magnitude into [1, 2).
    """
    rows = [[math.ldexp(value, 1 - math.frexp(max(map(abs, row)))[1]) for value in row] for row in attributes]

    def dot(a: Sequence[float], b: Sequence[float]) -> float:
        total = 0.0
        for x, y in zip(a, b):  # sum() rounds in another way in newer Pythons
            total += x * y
        return total

    norm = [math.sqrt(dot(row, row)) for row in rows]
    ranked = []
    for unknown in sorted(set(range(len(rows))) - set(known)):
        cosines = [dot(rows[unknown], rows[k]) / (norm[unknown] * norm[k]) for k in known]
        nearest = max(range(len(known)), key=cosines.__getitem__)
        ranked.append((unknown, cosines[nearest], known[nearest]))
    return sorted(ranked, key=lambda one: (-one[1], one[0]))


def equal_levels(classes: int, levels: int) -> List[int]:
    """How many classes are in each level: sizes that differ by at most 1, larger ones first."""
    return [classes // levels + (level < classes % levels) for level in range(levels)]


# By WordNet. Source: Kim et al. 2023 (unified benchmark), sections 3.1 and 3.2.


def _spoken(word: str) -> str:
    return word.lower().replace("_", " ").replace("-", " ")


# "OFFSET FILE TYPE WORDS (2, hexadecimal) [WORD LEX_ID]... POINTERS (3, decimal) [SYMBOL OFFSET POS SOURCE_TARGET]...
# | gloss"
def _parse_synset(line: str) -> Optional[Tuple[str, List[str], List[str]]]:
    fields = [field for field in line.split("|", 1)[0].split(" ") if field]
    if len(fields) < 4 or not re.fullmatch("[0-9]{8}", fields[0]) or fields[2] != "n":
        return None
    if not re.fullmatch("[0-9a-fA-F]+", fields[3]) or int(fields[3], 16) < 1:
        return None
    end = 4 + 2 * int(fields[3], 16)
    if end >= len(fields) or not re.fullmatch("[0-9]+", fields[end]):
        return None
    above = []
    pointers = int(fields[end])
    if end + 1 + 4 * pointers > len(fields):
        return None
    for at in range(end + 1, end + 1 + 4 * pointers, 4):
        symbol, offset, part_of_speech = fields[at:at + 3]
        if symbol in ("@", "@i") and part_of_speech == "n":
            if not re.fullmatch("[0-9]{8}", offset):
                return None
            above.append("n" + offset)
    return "n" + fields[0], fields[4:end:2], above


class WordNet:
    """The nouns of WordNet 3.0, from the content of data.noun (wndb(5WN)); lines that begin with a blank are skipped.

    A synset's id is "n02084071": "n" and the eight digits at the beginning of its line. A synset is below all synsets
    that a chain of hypernym pointers ("@", and "@i" for instances) leads to. SplitError "FILE:LINE: problem".
    """

    def __init__(self, text: str, file: str) -> None:
        self.name: Dict[str, str] = {}  # the first one, with blanks between its words
        self.hypernyms: Dict[str, List[str]] = {}
        self.hyponyms: Dict[str, List[str]] = {}
        self._of_words: Dict[str, Set[str]] = {}
        lines: Dict[str, int] = {}
        for number, line in enumerate(text.split("\n"), 1):
            if not line or line[0] == " ":
                continue
            parsed = _parse_synset(line)
            if parsed is None:
                raise SplitError(f"{file}:{number}: is not a line of WordNet's data.noun: {_printable(line[:60])}")
            synset, words, above = parsed
            if synset in lines:
                raise SplitError(f"{file}:{number}: {synset} is listed twice")
            lines[synset] = number
            self.name[synset] = words[0].replace("_", " ")
            self.hypernyms[synset] = above
            self.hyponyms[synset] = []
            for word in words:
                parts = _spoken(word).split(" ")
                for begin in range(len(parts)):
                    for last in range(begin, len(parts)):
                        self._of_words.setdefault(" ".join(parts[begin:last + 1]), set()).add(synset)
        if not lines:
            raise SplitError(f"{file}: has no synset")
        for synset, number in lines.items():
            for above_it in self.hypernyms[synset]:
                if above_it not in lines:
                    raise SplitError(f"{file}:{number}: {synset} has the hypernym {above_it}, which does not exist")
                self.hyponyms[above_it].append(synset)

    def above(self, synset: str) -> Set[str]:
        """All synsets above one, without itself."""
        found: Set[str] = set()
        left = [synset]
        while left:
            new = set(self.hypernyms[left.pop()]) - found
            found |= new
            left.extend(new)
        return found

    def with_words(self, words: str) -> List[str]:
        """The synsets with a name that contains these words side by side: "knife" is in "paper knife"."""
        return sorted(self._of_words.get(_spoken(words), ()))

    def near_candidates(self, known: Sequence[str], classes: Sequence[str]) -> List[str]:
        """The `classes` that are not known and are below a direct hypernym of a known class."""
        parents = {above for synset in known for above in self.hypernyms[synset]}
        known_synsets = set(known)
        return [synset for synset in classes if synset not in known_synsets and parents & self.above(synset)]

    def overlapping(self, synsets: Sequence[str], classes: Sequence[str]) -> List[Tuple[str, str]]:
        """The `classes` that are equal to or below one of `synsets`, with the first such synset."""
        found = []
        for one in classes:
            at_or_above = self.above(one) | {one}
            first = next((synset for synset in synsets if synset in at_or_above), None)
            if first is not None:
                found.append((one, first))
        return found


class FarRule:
    """Decides which classes of other data sets are far from `classes`.

    A class is not far if a synset with a name that contains one of the class's keywords (i) is one of `classes`, (ii)
    has a sibling that is one, or (iii) is above or below one. The keywords are the class's name, the name without
    blanks, each of its words except "and", "of" and "the", each also without and with a plural ending, and other
    spellings that were found by hand.

    Far from the 1,000 classes of ImageNet are 31 of Food-101's classes, 41 of Caltech-256's and 77 of Places365's. The
    paper has 32, 45 and 82, with spellings that it does not list. It describes the match as "a node including knife in
    its name"; if a keyword had to be the complete name, 40, 58 and 148 would be far.
    """

    def __init__(self, wordnet: WordNet, classes: Iterable[str]) -> None:
        self._wordnet = wordnet
        self._classes = set(classes)
        self._above = {above for synset in self._classes for above in wordnet.above(synset)}

    def why_not_far(self, class_name: str, spellings: Sequence[str] = ()) -> str:
        """"steak (n07658123) is above one of them", or "" if the class is far."""
        wordnet = self._wordnet
        for keyword in _keywords(class_name, spellings):
            for synset in wordnet.with_words(keyword):
                name = wordnet.name[synset]
                named = f"{keyword} ({'' if _spoken(name) == keyword else name + ', '}{synset})"
                if synset in self._classes:
                    return f"{named} is one of them"
                if synset in self._above:
                    return f"{named} is above one of them"
                if wordnet.above(synset) & self._classes:
                    return f"{named} is below one of them"
                if any(sibling in self._classes for above in wordnet.hypernyms[synset]
                       for sibling in wordnet.hyponyms[above]):
                    return f"{named} has a sibling among them"
        return ""


def _keywords(class_name: str, spellings: Sequence[str]) -> List[str]:
    words = [word for word in re.split("[ /]+", _spoken(class_name)) if word not in ("", "and", "of", "the")]
    keywords: Set[str] = set()
    for word in words + [" ".join(words), "".join(words)] + [_spoken(spelling) for spelling in spellings]:
        keywords |= {word, word + "s"}
        for ending, instead in (("s", ""), ("es", ""), ("ies", "y")):
            if word.endswith(ending):
                keywords.add(word[:len(word) - len(ending)] + instead)
    return sorted(keywords - {""})


# The command.


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else "?" for c in text)


def _read(flag: str, path: str) -> str:
    if not os.path.isfile(path):  # neither a device nor a pipe
        raise SplitError(f"--{flag}: {_printable(path)}: there is no such file")
    try:
        with open(path, encoding="utf-8-sig", errors="surrogateescape", newline="\n") as file:
            return file.read()
    except OSError as error:
        raise SplitError(f"--{flag}: {_printable(path)}: {error.strerror}") from error


def _list(flag: str, value: str) -> List[str]:
    items = _read(flag, value[1:]).split("\n") if value.startswith("@") else value.split(",")
    items = [item.strip() for item in items]
    items = [item for item in items if item and not item.startswith("#")]
    if not items:
        raise SplitError(f"--{flag}: the list is empty")
    return items


def _no_repeats(flag: str, items: Sequence[str]) -> None:
    seen: Set[str] = set()
    for item in items:
        if item in seen:
            raise SplitError(f"--{flag}: {_printable(item)} is repeated")
        seen.add(item)


def _synsets(flag: str, value: str, wordnet: WordNet) -> List[str]:
    ids = _list(flag, value)
    for synset in ids:
        if synset not in wordnet.name:
            raise SplitError(f"--{flag}: '{_printable(synset)}' is not a noun of this WordNet; ids look like n02084071")
    _no_repeats(flag, ids)
    return ids


def _ids(field: str, ids: Iterable[int]) -> str:
    listed = textwrap.fill(", ".join(map(str, ids)), 120, initial_indent="    ", subsequent_indent="    ")
    return f"  {field}: [\n{listed}\n  ]\n"


def _unknown(group: str, data_set: str, part: str, distance: str, ids: Iterable[int]) -> str:
    return (f'unknown {{\n  group: "{group}"\n  data_set: "{data_set}"\n' +
            (f'  part: "{part}"\n' if part != "test" else "") + (f"  distance: {distance}\n" if distance else "") +
            _ids("class_id", ids) + "}\n")


def _write_task(options: argparse.Namespace, remarks: Sequence[str], blocks: str) -> None:
    if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,99}", options.name):
        raise SplitError(f"'{_printable(options.name)}' is not a valid name: use letters, digits, '_', '-', '.', '+'")
    path = os.path.join(options.into, "tasks", options.name + ".textproto")
    text = "# proto-file: data/task.proto\n# proto-message: openset.TaskSpec\n\n"
    text += "".join(f"# {remark}\n" for remark in remarks)
    text += f'\nname: "{options.name}"\ndata_set: "{options.data}"\n'
    text += (f'test_part: "{options.part}"\n' if options.part != "test" else "") + blocks
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError as error:
        raise SplitError(f"{path} exists; choose another name, or remove it") from error
    except OSError as error:
        raise SplitError(f"{path}: {error.strerror}") from error
    print("\n".join(remarks))
    print(path)


def _attributes(options: argparse.Namespace) -> None:
    matrix = parse_attributes(_read("matrix", options.matrix), options.matrix)
    classes = len(matrix)
    if (options.known is None) == (options.draw is None):
        raise SplitError("--known: give the known classes, or how many --draw draws")
    if options.draw is not None:
        if not 1 <= options.draw < classes:
            raise SplitError(f"--draw: must be 1 to {classes - 1} of the {classes} classes (is {options.draw})")
        known = permutation(classes, options.seed, "attributes/known")[:options.draw]
    else:
        items = _list("known", options.known)
        for item in items:
            if not re.fullmatch("[0-9]{1,9}", item) or int(item) >= classes:
                raise SplitError(f"--known: '{_printable(item)}' is not a class id (0 to {classes - 1})")
        known = [int(item) for item in items]
        _no_repeats("known", [str(one) for one in known])
        if len(known) == classes:
            raise SplitError("--known: has all classes, so that none is unknown")
    ranked = rank_unknown_classes(matrix, known)
    sizes = []
    for item in options.levels.split(","):
        if not re.fullmatch("[0-9]{1,9}", item) or int(item) < 1:
            raise SplitError(f"--levels: '{_printable(item)}' is not a number of classes")
        sizes.append(int(item))
    if len(sizes) == 1:
        if sizes[0] > len(ranked):
            raise SplitError(f"--levels: {sizes[0]} levels are more than the {len(ranked)} unknown classes")
        sizes = equal_levels(len(ranked), sizes[0])
    if sum(sizes) != len(ranked):
        raise SplitError(f"--levels: sum to {sum(sizes)} classes, but {len(ranked)} are unknown")
    names = {1: ["unknown"], 2: ["hard", "easy"], 3: ["hard", "medium", "easy"]}
    remarks, blocks, at = [], "", 0
    for level, size in enumerate(sizes):
        of_level = ranked[at:at + size]
        at += size
        name = names[len(sizes)][level] if len(sizes) in names else f"level_{level}"
        remarks.append(f"{name}: {size} classes, cosine {of_level[0][1]:.4f} to {of_level[-1][1]:.4f}")
        blocks += _unknown(name, options.data, options.part, "", [one[0] for one in of_level])
    _write_task(options, remarks, blocks + "split {\n" + _ids("known", known) + "}\n")


def _near(options: argparse.Namespace) -> None:
    wordnet, classes = _wordnet(options)
    position = {synset: place for place, synset in enumerate(classes)}
    known = _synsets("known", options.known, wordnet)
    for synset in known:
        if synset not in position:
            raise SplitError(f"--known: {synset} is not in --wnids")
    candidates = wordnet.near_candidates(known, classes)
    near, drawn = candidates, ""
    if options.draw is not None:
        if not 1 <= options.draw <= len(candidates):
            raise SplitError(f"--draw: must be 1 to {len(candidates)}, the near candidates (is {options.draw})")
        order = permutation(len(candidates), options.seed, "wordnet/near")
        near = [candidates[place] for place in order[:options.draw]]
        drawn = f", of them {options.draw} drawn by seed {options.seed}"
    if not near:
        raise SplitError("--known: no class of --wnids is below a direct hypernym of a known class: none is near")
    inside = set(known) | set(candidates)
    external = [synset for synset in classes if synset not in inside]
    remark = f"{len(known)} known, {len(candidates)} near candidates{drawn}, {len(external)} external"
    blocks = _unknown("near", options.data, options.part, "NEAR", sorted(position[synset] for synset in near))
    blocks += "split {\n" + _ids("known", sorted(position[synset] for synset in known)) + "}\n"
    if external:
        blocks += (f'external {{\n  data_set: "{options.data}"\n  validation_part: "train"\n' +
                   _ids("class_id", [position[synset] for synset in external]) + "}\n")
    _write_task(options, [remark], blocks)


def _far(options: argparse.Namespace) -> None:
    wordnet, classes = _wordnet(options)
    names = _list("names", options.names)
    spellings: Dict[str, List[str]] = {}
    for line in _list("spellings", options.spellings) if options.spellings else []:
        name, colon, others = line.partition(":")
        if not colon:
            raise SplitError(f"--spellings: '{_printable(line)}' is not NAME: SPELLING, SPELLING")
        if name not in names:
            raise SplitError(f"--spellings: '{_printable(name)}' is not in --names")
        spellings[name] = [other.strip() for other in others.split(",") if other.strip()]
    rule = FarRule(wordnet, classes)
    far = []
    for position, name in enumerate(names):
        why = rule.why_not_far(name, spellings.get(name, ()))
        print(f"# {_printable(name)}" + (f": {_printable(why)}" if why else " is far"))
        if not why:
            far.append(position)
    print(f"# {len(far)} of {len(names)} are far")
    if far:
        print(_unknown(options.data, options.data, options.part, "FAR", far), end="")


def _overlap(options: argparse.Namespace) -> None:
    wordnet, classes = _wordnet(options)
    synsets = _synsets("synsets", options.synsets, wordnet)
    found = wordnet.overlapping(synsets, classes)
    for one, above in found:
        print(f"# {one} {_printable(wordnet.name[one])} is " +
              ("one of them" if one == above else f"below {above} {_printable(wordnet.name[above])}"))
    overlapping = dict(found)
    others = [place for place, synset in enumerate(classes) if synset not in overlapping]
    print(f"# {len(found)} overlap, {len(others)} do not")
    if others:
        print(f'external {{\n  data_set: "{options.data}"\n{_ids("class_id", others)}}}')


def _wordnet(options: argparse.Namespace) -> Tuple[WordNet, List[str]]:
    wordnet = WordNet(_read("wordnet", options.wordnet), options.wordnet)
    return wordnet, _synsets("wnids", options.wnids, wordnet)


def _data_set(text: str) -> str:
    if not text.isprintable() or '"' in text or "\\" in text or not text:
        raise argparse.ArgumentTypeError(f"'{_printable(text)}' is not the name of a data set")
    return text


def _seed(text: str) -> int:
    if not re.fullmatch("[0-9]{1,20}", text) or int(text) >= 2**64:
        raise argparse.ArgumentTypeError(f"'{_printable(text)}' is not a number from 0 to 2^64 - 1")
    return int(text)


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise SplitError(_printable(message))


def main(arguments: Optional[Sequence[str]] = None) -> int:
    parser = _Parser(prog="python -m openset.splits", description=__doc__, allow_abbrev=False,
                     formatter_class=argparse.RawDescriptionHelpFormatter)
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)

    every, task, wordnet = (_Parser(add_help=False) for _ in range(3))
    every.add_argument("--data", required=True, type=_data_set, help="the data set of the classes")
    every.add_argument("--part", default="test", type=_data_set, help="its part to test on (default: test)")
    task.add_argument("name", metavar="NAME", help="the task's name")
    task.add_argument("--into", default=".", help="the library to write tasks/NAME.textproto into (default: .)")
    task.add_argument("--seed", default=0, type=_seed, help="of the draw (default: 0)")
    wordnet.add_argument("--wordnet", required=True,
                         help="WordNet's file of nouns, data.noun (Debian's package wordnet-base has it)")
    wordnet.add_argument("--wnids", required=True,
                         help="WordNet ids of all classes (n01440764 ...), in the order of the class ids")

    def action(name: str, run: Callable[[argparse.Namespace], None], parents: List[_Parser],
               summary: str) -> argparse.ArgumentParser:
        added = actions.add_parser(name, help=summary, description=summary, allow_abbrev=False, parents=parents)
        added.set_defaults(run=run)
        return added

    one = action("attributes", _attributes, [every, task],
                 "Ranks unknown classes by the cosine between their attributes and those of the nearest known class.")
    one.add_argument("--matrix", required=True,
                     help="a text file with a line of numbers for each class, in the order of the class ids")
    one.add_argument("--known", help="ids of the known classes")
    one.add_argument("--draw", type=int, help="instead: how many known classes to draw")
    one.add_argument("--levels", default="3",
                     help='numbers of hard, medium and easy unknown classes ("34,34,32"), or of levels (default: 3)')
    one = action("near", _near, [every, task, wordnet],
                 "Unknown classes below a direct hypernym of a known class are near; all others are external.")
    one.add_argument("--known", required=True, help="WordNet ids of the known classes")
    one.add_argument("--draw", type=int, help="draw this many of the near candidates (default: all)")
    one = action("far", _far, [every, wordnet],
                 "Prints which classes of another data set are far from those of --wnids.")
    one.add_argument("--names", required=True, help="names of the other data set's classes, in the order of its ids")
    one.add_argument("--spellings", help='other spellings: @FILE with a line "NAME: SPELLING, SPELLING" for each name')
    one = action("overlap", _overlap, [every, wordnet],
                 "Prints the classes that are neither one of --synsets nor below one, as external ones.")
    one.add_argument("--synsets", required=True, help="WordNet ids")
    try:
        options = parser.parse_args(arguments)
        options.run(options)
    except SplitError as error:
        print(f"openset.splits: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
