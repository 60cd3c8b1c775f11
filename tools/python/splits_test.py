#!/usr/bin/env python3
"""Tests openset.splits, with the tasks that it writes read by the program. Runs in the folder of the source tree."""
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, "tools/python")
from openset import splits  # noqa: E402

# thing > animal > {dog > poodle, cat}, thing > tool > {bread knife, saw}; Rex is an instance of poodle.
SMALL = """  1 A licence, which begins with blanks.
00000001 03 n 01 thing 0 000 | what there is
00000002 03 n 02 animal 0 beast 1 002 @ 00000001 n 0000 ~ 00000003 n 0000 | it moves; "| yes"
00000003 05 n 03 dog 0 domestic_dog 0 hound 3 001 @ 00000002 n 0000 | barks
00000004 05 n 01 poodle 0 001 @ 00000003 n 0000 | curls
00000005 05 n 01 cat 0 001 @ 00000002 n 0000 | no
00000006 06 n 01 tool 0 001 @ 00000001 n 0000 |
00000007 06 n 02 bread_knife 0 knife 0 001 @ 00000006 n 0000 |
00000008 06 n 01 saw 0 002 @ 00000006 n 0000 + 00000009 v 0101 |
00000009 05 n 01 Rex 0 001 @i 00000004 n 0000 |
"""


class Draws(unittest.TestCase):
    def test_are_those_of_the_program(self):
        # core/random_test.cc expects the same order.
        self.assertEqual(splits.permutation(8, 7, "order"), [7, 3, 5, 0, 6, 2, 4, 1])
        self.assertEqual(splits.permutation(0, 7, "order"), [])
        self.assertEqual(sorted(splits.permutation(1000, 2**64 - 1, "p")), list(range(1000)))


class Attributes(unittest.TestCase):
    def test_have_a_line_for_each_class(self):
        parse = lambda text: splits.parse_attributes(text, "file")  # noqa: E731
        self.assertEqual(parse("1 0\t2.5\r\n\n0,-3,1e1\n"), [[1, 0, 2.5], [0, -3, 10]])
        self.assertEqual(parse("1e-200 0\n5e-324 1e308\n"), [[1e-200, 0], [5e-324, 1e308]])
        for text, problem in (("1 2\n1 x\n", "file:2: 'x' is not a finite number"),
                              ("1 nan\n", "file:1: 'nan' is not a finite number"),
                              ("1 1_0\n", "file:1: '1_0' is not a finite number"),
                              ("1 1e999\n", "file:1: '1e999' is not a finite number"),
                              ("1 2\n\n1 2 3\n", "file:3: has 3 numbers, and the first line 2"),
                              ("1 2\n0 0\n", "file:2: all attributes are 0, so no cosine is defined"),
                              ("\n", "file: has no line of numbers")):
            with self.assertRaisesRegex(splits.SplitError, "^" + re.escape(problem) + "$"):
                parse(text)

    # Directions of 0, 90, 45, 30, 90 and 180 degrees; lengths don't matter. Class 2 is equally near to both: the
    # earlier known class.
    def test_rank_unknown_classes_by_the_nearest_known_one(self):
        height = math.sqrt(0.75)
        ranked = splits.rank_unknown_classes([[2, 0], [0, 5], [1, 1], [height, 0.5], [0, 1], [-1, 0]], [1, 0])
        self.assertEqual([(one[0], one[2]) for one in ranked], [(4, 1), (3, 0), (2, 1), (5, 1)])
        for one, cosine in zip(ranked, (1, height, math.sqrt(0.5), 0)):
            self.assertAlmostEqual(one[1], cosine, delta=1e-15)

    # The squares of 1e200 are infinite, and the squares of 1e-200 are 0.
    def test_may_have_any_magnitude(self):
        rows = [[1e200, 0], [0, 1e-200], [3e200, 4e200], [12e-200, 5e-200], [-1e308, -1e308]]
        ranked = splits.rank_unknown_classes(rows, [0, 1])
        self.assertEqual([one[0] for one in ranked], [3, 2, 4])
        self.assertEqual([one[2] for one in ranked[:2]], [0, 1])  # the last is as near to both, up to rounding
        for one, cosine in zip(ranked, (12 / 13, 0.8, -math.sqrt(0.5))):
            self.assertAlmostEqual(one[1], cosine, delta=1e-15)

    def test_are_cut_into_levels(self):
        self.assertEqual([splits.equal_levels(*of) for of in ((100, 3), (101, 3), (6, 2), (1, 2))],
                         [[34, 33, 33], [34, 34, 33], [3, 3], [1, 0]])


class WordNet(unittest.TestCase):
    def setUp(self):
        self.small = splits.WordNet(SMALL, "data.noun")

    def test_reads_its_nouns(self):
        small = self.small
        self.assertEqual(small.hypernyms["n00000004"], ["n00000003"])
        self.assertEqual(small.hyponyms["n00000002"], ["n00000003", "n00000005"])
        self.assertEqual(small.above("n00000009"), {"n00000001", "n00000002", "n00000003", "n00000004"})
        self.assertEqual(small.above("n00000001"), set())
        self.assertEqual(small.name["n00000007"], "bread knife")
        for words, found in (("Domestic dog", ["n00000003"]), ("dog", ["n00000003"]), ("bread-knife", ["n00000007"]),
                             ("bread", ["n00000007"]), ("read", []), ("rex", ["n00000009"]), ("mouse", [])):
            self.assertEqual(small.with_words(words), found, words)

    def test_names_the_invalid_line(self):
        for text, problem in [(SMALL + "0000000a 05 n 01 never 0 000 |", ":11: is not a line of WordNet's data.noun: "
                               "0000000a 05 n 01 never 0 000 |"),
                              (SMALL + "00000001 03 n 01 again 0 000 |", ":11: n00000001 is listed twice"),
                              ("\n00000001 03 n 01 thing 0 001 @ 00000009 n 0000 |",
                               ":2: n00000001 has the hypernym n00000009, which does not exist"),
                              ("  a licence\n", ": has no synset")] + [
                                  (line, ":1: is not a line of WordNet's data.noun: " + line) for line in
                                  ("00000001 03 v 01 go 0 000 | a verb", "00000001 03 n 00 000 | no word",
                                   "00000001 03 n 01 thing 0 | no pointers",
                                   "00000001 03 n 01 thing 0 001 @ 00000001 n | half a pointer",
                                   "0000001 03 n 01 thing 0 000 |", "00000001 03 n zz thing 0 000 |", "thing")]:
            with self.assertRaisesRegex(splits.SplitError, "^data.noun" + re.escape(problem) + "$"):
                splits.WordNet(text, "data.noun")

    # Known: cat, whose direct hypernym is animal. The poodle is below it; animal itself is not. The dogs have no other
    # class below them.
    def test_near_classes_share_a_direct_hypernym(self):
        classes = ["n00000004", "n00000005", "n00000007", "n00000008", "n00000002"]
        for known, near in (("n00000005", ["n00000004"]), ("n00000004", []), ("n00000008", ["n00000007"])):
            self.assertEqual(self.small.near_candidates([known], classes), near)

    def test_overlapping_classes_are_at_or_below(self):
        self.assertEqual(self.small.overlapping(["n00000006", "n00000003"],
                                                ["n00000004", "n00000005", "n00000006", "n00000008"]),
                         [("n00000004", "n00000003"), ("n00000006", "n00000006"), ("n00000008", "n00000006")])

    def test_the_far_rule_names_the_synset(self):
        why = splits.FarRule(self.small, ["n00000004", "n00000008"]).why_not_far
        for name, reason in (("poodles", "poodle (n00000004) is one of them"),
                             ("hot_dog", "dog (n00000003) is above one of them"),
                             ("Bread-Knives", "bread (bread knife, n00000007) has a sibling among them"),
                             ("beast", "beast (animal, n00000002) is above one of them"),
                             ("rex", "rex (n00000009) is below one of them"),
                             ("pocket knives", ""), ("cat", ""), ("the car of pizza", "")):
            self.assertEqual(why(name), reason, name)
        self.assertEqual(why("pocket knives", ["knife"]), "knife (bread knife, n00000007) has a sibling among them")
        self.assertEqual(splits.FarRule(self.small, ["n00000003"]).why_not_far("cat"),
                         "cat (n00000005) has a sibling among them")


class ImageNet(unittest.TestCase):
    """The splits that an independent program computed by the same rules from all of WordNet 3.0.

    The test's file has only the synsets that matter: the 1,000 classes of ImageNet and those assigned to CIFAR-100's,
    all synsets that a keyword of a far class names, one synset that is too near for each other class, and all synsets
    above these.
    """

    @classmethod
    def setUpClass(cls):
        with open("data/tasks/testdata/imagenet.noun") as file:
            cls.wordnet = splits.WordNet(file.read(), file.name)
        with open("data/tasks/testdata/imagenet_splits.json") as file:
            cls.published = json.load(file)

    def test_near_candidates_and_external_classes(self):
        classes = self.published["wnid_all"]
        known = sorted(classes[i] for i in self.published["imagenet_200"])
        self.assertEqual(known, self.published["wnid"])
        near = self.wordnet.near_candidates(known, classes)
        self.assertEqual(near, sorted(classes[i] for i in self.published["near_candidates"]))
        self.assertEqual(len(near), 405)
        external = [one for one in classes if one not in known and one not in near]
        self.assertEqual(external, sorted(classes[i] for i in self.published["external"]))
        self.assertEqual(len(external), 395)  # the paper counts 394

    def test_tiny_imagenet_158(self):
        removed = self.published["tinyimagenet_158_removed"]
        found = self.wordnet.overlapping(sorted({one["via_synset"] for one in removed}), self.published["wnid"])
        self.assertEqual([one for one, _ in found], [one["wnid"] for one in removed])
        self.assertEqual(len(found), 42)

    def test_classes_of_other_data_sets_that_are_far(self):
        rule = splits.FarRule(self.wordnet, self.published["wnid_all"])
        for data_set, count in (("food101", 31), ("caltech256", 41), ("places365", 77)):
            with open(f"data/catalog/{data_set}.textproto") as file:
                names = re.findall('^class_name: "(.*)"', file.read(), re.MULTILINE)
            far = [i for i, name in enumerate(names) if not rule.why_not_far(name)]
            self.assertEqual(far, self.published["far"][data_set], data_set)
            self.assertEqual(len(far), count)


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.write("data.noun", SMALL)
        # Classes of Fashion-MNIST. The directions of 1 to 9 are 80, 45, 10 ... degrees from that of 0.
        self.write("matrix.txt", "1 0\n0.17 0.98\n1 1\n0.98 0.17\n" + "0 1\n" * 6)

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w") as file:
            file.write(text)

    def read(self, name):
        with open(os.path.join(self.folder, "tasks", name + ".textproto")) as file:
            return file.read()

    def run_it(self, *arguments):
        done = subprocess.run([sys.executable, "-m", "openset.splits", *arguments], cwd=self.folder, text=True,
                              env=dict(os.environ, PYTHONPATH=os.path.abspath("tools/python")), capture_output=True)
        return done.returncode, done.stdout, done.stderr

    def task(self, name):
        """What the program says about the task's split."""
        done = subprocess.run([os.path.abspath("tools/openset_unstamped"), "task", "splits", name, "--library=."],
                              cwd=self.folder, text=True, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def refuse(self, problem, *arguments):
        code, _, error = self.run_it(*arguments)
        self.assertEqual((code, error), (2, f"openset.splits: {problem}\n"))

    def test_attributes_make_a_task_that_the_program_reads(self):
        attributes = ("attributes", "mine", "--data=fashion_mnist", "--matrix=matrix.txt")
        code, out, error = self.run_it(*attributes, "--known=0", "--levels=1,1,7")
        self.assertEqual((code, error), (0, ""))
        self.assertEqual(out, "hard: 1 classes, cosine 0.9853 to 0.9853\nmedium: 1 classes, cosine 0.7071 to 0.7071\n"
                         "easy: 7 classes, cosine 0.1709 to 0.0000\n./tasks/mine.textproto\n")
        self.assertIn('unknown {\n  group: "easy"\n  data_set: "fashion_mnist"\n  class_id: [\n    1, 4, 5, 6, 7, 8, '
                      "9\n  ]\n}\nsplit {\n  known: [\n    0\n  ]\n}\n", self.read("mine"))
        self.assertRegex(self.task("mine"), "mine +0 +1 +9 ")
        self.refuse("./tasks/mine.textproto exists; choose another name, or remove it", *attributes, "--known=0")
        # Drawn: the first of permutation(10, 3, "attributes/known").
        drawn = ("attributes", "drawn", *attributes[2:], "--draw=2", "--seed=3", "--levels=2")
        self.assertEqual(self.run_it(*drawn)[0], 0)
        known = ", ".join(map(str, splits.permutation(10, 3, "attributes/known")[:2]))
        self.assertIn(f"known: [\n    {known}\n", self.read("drawn"))
        self.assertRegex(self.task("drawn"), "drawn +0 +2 +8 ")

    def test_attributes_refuse(self):
        def refuse(problem, *more):
            self.refuse(problem, "attributes", "mine", "--data=fashion_mnist", "--matrix=matrix.txt", *more)
        refuse("--known: give the known classes, or how many --draw draws")
        refuse("--known: give the known classes, or how many --draw draws", "--known=0", "--draw=1")
        refuse("--known: '10' is not a class id (0 to 9)", "--known=10")
        refuse("--known: 1 is repeated", "--known=1,01")
        refuse("--known: has all classes, so that none is unknown", "--known=0,1,2,3,4,5,6,7,8,9")
        refuse("--draw: must be 1 to 9 of the 10 classes (is 10)", "--draw=10")
        refuse("--levels: sum to 4 classes, but 9 are unknown", "--known=0", "--levels=2,2")
        refuse("--levels: '0' is not a number of classes", "--known=0", "--levels=0")
        refuse("--levels: 10 levels are more than the 9 unknown classes", "--known=0", "--levels=10")
        refuse("argument --seed: '-1' is not a number from 0 to 2^64 - 1", "--draw=1", "--seed=-1")
        self.refuse("--matrix: /dev/zero: there is no such file", "attributes", "mine", "--data=fashion_mnist",
                    "--matrix=/dev/zero", "--known=0")
        self.refuse("'../x' is not a valid name: use letters, digits, '_', '-', '.', '+'", "attributes", "../x",
                    "--data=fashion_mnist", "--matrix=matrix.txt", "--known=0")
        self.refuse("argument --data: 'a\"' is not the name of a data set", "attributes", "mine", '--data=a"',
                    "--matrix=matrix.txt", "--known=0")
        self.refuse("the following arguments are required: ACTION")

    def test_wordnet_makes_a_task_that_the_program_reads(self):
        self.write("wnids.txt", "# four of ten\nn00000004\n\nn00000005\nn00000007\nn00000003\n")
        near = ("near", "mine", "--data=fashion_mnist", "--wordnet=data.noun", "--wnids=@wnids.txt",
                "--known=n00000005")
        code, out, error = self.run_it(*near)
        self.assertEqual((code, error), (0, ""))
        self.assertEqual(out, "1 known, 2 near candidates, 1 external\n./tasks/mine.textproto\n")
        self.assertEqual(
            self.read("mine"),
            "# proto-file: data/task.proto\n# proto-message: openset.TaskSpec\n\n"
            '# 1 known, 2 near candidates, 1 external\n\nname: "mine"\ndata_set: "fashion_mnist"\nunknown {\n'
            '  group: "near"\n  data_set: "fashion_mnist"\n'
            "  distance: NEAR\n  class_id: [\n    0, 3\n  ]\n}\nsplit {\n  known: [\n    1\n  ]\n}\nexternal {\n"
            '  data_set: "fashion_mnist"\n  validation_part: "train"\n  class_id: [\n    2\n  ]\n}\n')
        self.assertRegex(self.task("mine"), "mine +0 +1 +2 ")
        self.assertEqual(self.run_it("near", "drawn", *near[2:], "--draw=1", "--seed=5")[0], 0)
        self.assertIn(f"class_id: [\n    {[0, 3][splits.permutation(2, 5, 'wordnet/near')[0]]}\n", self.read("drawn"))
        self.refuse("--draw: must be 1 to 2, the near candidates (is 3)", *near, "--draw=3")
        self.refuse("--known: 'cat' is not a noun of this WordNet; ids look like n02084071", *near[:-1], "--known=cat")
        self.refuse("--known: n00000008 is not in --wnids", *near[:-1], "--known=n00000008")
        self.refuse("--known: no class of --wnids is below a direct hypernym of a known class: none is near",
                    *near[:-1], "--known=n00000007")
        self.write("data.noun", "thing\n")
        self.refuse("data.noun:1: is not a line of WordNet's data.noun: thing", *near)

    def test_wordnet_prints_parts_of_a_task(self):
        wordnet = ("--data=other", "--wordnet=data.noun", "--wnids=n00000004,n00000005,n00000008")
        self.assertEqual(self.run_it("overlap", *wordnet, "--synsets=n00000003"), (
            0, "# n00000004 poodle is below n00000003 dog\n# 1 overlap, 2 do not\nexternal {\n"
            '  data_set: "other"\n  class_id: [\n    1, 2\n  ]\n}\n', ""))
        self.write("spellings.txt", "chair: seat, Beast\n")
        self.assertEqual(self.run_it("far", *wordnet, "--names=hot dog,stool,chair", "--spellings=@spellings.txt"), (
            0, "# hot dog: dog (n00000003) is above one of them\n# stool is far\n"
            "# chair: beast (animal, n00000002) is above one of them\n# 1 of 3 are far\n"
            'unknown {\n  group: "other"\n  data_set: "other"\n  distance: FAR\n  class_id: [\n    1\n  ]\n}\n', ""))
        self.refuse("--spellings: 'seat' is not NAME: SPELLING, SPELLING", "far", *wordnet, "--names=chair",
                    "--spellings=seat")
        self.refuse("--spellings: 'stool' is not in --names", "far", *wordnet, "--names=chair", "--spellings=stool:x")
        self.refuse("--names: the list is empty", "far", *wordnet, "--names=,")


if __name__ == "__main__":
    unittest.main()
