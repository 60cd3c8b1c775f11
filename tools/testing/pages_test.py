#!/usr/bin/env python3
"""The blocks of documents, pasted: their files are written and their commands run, with data of the names they use."""
import random
import re
import shlex
import sys

sys.path.insert(0, "tools/testing")
from arrays import f32, f64, i64  # noqa: E402
from program import ProgramTest, blocks_of, main  # noqa: E402
from samples import cloud, outputs_of  # noqa: E402


class PagesTest(ProgramTest):
    def paste(self, page):
        """Writes the files and runs the commands, in order: (number of files, {command: what it prints})."""
        files, printed = 0, {}
        for block in blocks_of("docs/" + page):
            if name := re.match(r"# (.*\.textproto)\n", block):
                self.write(name[1], block)
                files += 1
            if block.startswith("openset "):
                for line in block.splitlines():
                    printed[line] = self.out(shlex.split(line)[1:])
        return files, printed

    # The study of docs/studies.md and the commands on it, planned instead of run.
    def test_studies(self):
        blocks = blocks_of("docs/studies.md")
        self.write("lambda.textproto", blocks[0])
        commands = [line.replace("openset run ", "plan ") for block in blocks for line in block.splitlines()
                    if line.startswith("openset run lambda ")]
        self.assertEqual(len(commands), 2)
        plans = [self.out(command + " --noprobe") for command in commands]
        # --methods=openauc: the study's openauc+laptop, with 3 values of lambda, 5 splits and 5 seeds.
        self.says(plans[0], "75 trials", "openauc+laptop")
        self.says_not(plans[0], "softmax")

    def test_bring_your_own(self):
        self.arrays("net.npz", **outputs_of(cloud(400, 300)))
        self.arrays("fit.npz", **outputs_of(cloud(200, seed=2)))
        self.arrays("validation.npz", **outputs_of(cloud(80, 60, 3)))
        self.program.path("runs").mkdir()
        for split in range(3):
            for seed in range(2):
                self.arrays(f"runs/fit_{split}_{seed}.npz", **outputs_of(cloud(200, 0, 20 + split), 0.1 * seed))
                self.arrays(f"runs/resnet_{split}_{seed}.npz", **outputs_of(cloud(100, 60, 10 + split), 0.1 * seed))
        draw = random.Random(5)  # ten classes of 40 samples
        self.arrays("clip.npz", label=i64(i % 10 for i in range(400)), features=f32(
            (draw.gauss(4 if axis == i % 10 else 0, 1) for i in range(400) for axis in range(12)), 400, 12))
        files, printed = self.paste("bring_your_own.md")
        self.assertEqual((files, len(printed)), (5, 6))
        self.says(printed["openset run net_study.textproto"], "net (tuned)")
        self.says(printed["openset run heads.textproto"], "arpl+features", "nearest_mean")

    def test_coming_from(self):
        self.program.path("scores").mkdir()
        for seed, name in enumerate(("cifar10", "cifar100", "svhn")):
            draw, is_known = random.Random(seed), name == "cifar10"
            self.arrays(f"scores/{name}.npz", conf=f64(draw.gauss(1 if is_known else 0, 1) for i in range(90)),
                        pred=i64(i % (10 if is_known and i % 7 else 9) for i in range(90)),
                        label=i64(i % 10 if is_known else -1 for i in range(90)))
        files, printed = self.paste("coming_from.md")
        self.assertEqual((files, len(printed)), (0, 2))
        for out in printed.values():
            self.says(out, "cifar100", "svhn")


if __name__ == "__main__":
    main()
