#!/usr/bin/env python3
"""A user's own folders of images: classes that are added and renamed, images that are changed, broken or away."""
import re
import struct
import sys

sys.path.insert(0, "tools/testing")
from program import ProgramTest, main, shipped  # noqa: E402

STUDY = """
name: "study" task: "pets" method: ["mcp", "max_logit"] split: [0, 1] seed: 0
override {
  model { osrci_cnn {} }
  input { size: 16 }
  training { epochs: 1 batch_size: 5 optimizer { learning_rate: 0.01 } }
}
metric { accuracy {} } metric { auroc {} }
"""
CHANGED = "its images have changed: bring the old ones back, or remove catalog/photos.textproto and describe the folder again"


def bmp(red, green, blue, side=16):
    """A picture of one colour: all of a side have the same number of bytes."""
    pixels = bytes((blue, green, red)) * side * side
    return struct.pack("<2sIIIIiiHHIIiiII", b"BM", 54 + len(pixels), 0, 54, 40, side, side, 1, 24, 0, len(pixels), 0, 0,
                       0, 0) + pixels


class OwnImagesTest(ProgramTest):
    def setUp(self):
        super().setUp()
        for c, name in enumerate(("cat", "dog", "fox", "owl")):
            self.add_class(name, c)

    def add_class(self, name, c, images=5):
        for i in range(images):
            self.write(f"photos/{name}/{i}.bmp", bmp(60 * c, 255 - 60 * c, 10 * i % 256))

    def describe_again(self):
        self.program.path("catalog/photos.textproto").unlink()
        self.out("data describe photos")

    # A task keeps its classes when others get their ids.
    def test_an_added_class_changes_no_task(self):
        self.out("data describe photos")
        self.out("task new pets --data=photos --known=dog,fox --unknown=owl --splits=1")
        self.says(self.read("tasks/pets.textproto"),
                  'split {\n  known_class: "dog"\n  known_class: "fox"\n  unknown_class: "owl"\n}\n')
        self.says(self.out("task splits pets"), "split 0: output 0 = dog, output 1 = fox")
        tested = self.out("task samples pets --format=csv")
        self.add_class("ant", 4)
        self.describe_again()
        self.says(self.out("task splits pets"), "split 0: output 0 = dog, output 1 = fox")
        self.assertEqual(self.out("task samples pets --format=csv"), tested)
        self.program.path("photos/dog").rename(self.program.path("photos/dogs"))
        self.says(self.run_program("task splits pets").err, "hint: results on photos may be missing: cannot list "
                  f"{self.program.folder}/photos/dog: no such folder; {CHANGED}")
        self.describe_again()
        self.refused("task splits pets", "pets.textproto:7: split[0].known_class[0]: data set 'photos': unknown class "
                     "'dog'; did you mean 'dogs'? (known: ant, cat, dogs, fox, owl)")

    # Ids are the order of the class folders: a task that was written with ids gets other classes, and says which.
    def test_a_task_with_ids_says_what_they_mean_today(self):
        self.out("data describe photos")
        self.write("tasks/old.textproto", 'name: "old" data_set: "photos"\nsplit { known: [0, 2] unknown: 3 }\n')
        hint = "tasks/old.textproto:2: split[0].known: 0 is '{0}', 2 is '{1}' today, and another class if one is added " \
               "to the folder: write known_class: [\"{0}\", \"{1}\"]\n"
        unknown = "split[0].unknown: 3 is 'owl' today, and another class if one is added to the folder: write " \
                  'unknown_class: "owl"\n'
        self.says(self.run_program("task splits old").err, hint.format("cat", "fox"), unknown)
        self.write("study.textproto", STUDY.replace("pets", "old").replace("[0, 1]", "0"))
        self.says(self.run_program("plan study.textproto --noprobe").err,
                  hint.format("cat", "fox"))
        self.add_class("ant", 4)
        self.describe_again()
        self.says(self.run_program("task splits old").err, hint.format("ant", "dog"))
        self.assertEqual(self.program.must_run("task splits fashion_mnist_6_4").err, "")

    # The lines of docs/decisions.md, as they are printed, but for the trials' ids.
    def test_a_study_becomes_a_detector(self):
        for c, name in enumerate(("cat", "dog", "fox", "owl")):
            self.add_class(name, c, 100)
        for i in range(3):
            self.write(f"new/{i}.bmp", bmp(200, 3 * i, 90))
        self.out("data describe photos")
        self.out("task new pets --data=photos --known=cat,dog --splits=1")
        self.write("study.textproto", STUDY.replace("[0, 1]", "0").replace('["mcp", "max_logit"]', '"knn"'))
        self.out("run study.textproto --devices=cpu")
        section = shipped("docs/decisions.md").split("## From a study to a detector")[1].split("\n## ")[0]
        lines = re.findall("^    openset (.*)$", section, re.MULTILINE)
        self.assertEqual(len(lines), 9)
        trial = None
        for line in lines:
            line = line.replace("NEW_TRIAL", str(trial)).replace("TRIAL", str(trial))
            if line.startswith("records ls"):
                trial, = (row["trial"] for row in self.json(line))
            else:
                self.out(line)
        samples = self.read("incoming/samples.csv").splitlines()
        decisions = self.read("decisions.csv").splitlines()
        self.assertEqual(len(decisions), len(samples))
        self.assertEqual([line.split("/")[-1] for line in samples if "/new/" in line], ["0.bmp", "1.bmp", "2.bmp"])
        # The network is the study's: the images that both have tested have the same decisions, to the bit.
        self.out("detector apply detector.npz deploy/outputs.npz --out=again.csv")
        again = self.read("again.csv").splitlines()
        known = [(line.split(",", 1)[1], decisions[i].split(",", 1)[1]) for i, line in enumerate(samples)
                 if ",cat," in line or ",dog," in line]
        before = [(line.split(",", 1)[1], again[i].split(",", 1)[1])
                  for i, line in enumerate(self.read("deploy/samples.csv").splitlines())]
        self.assertEqual(len(known), 40)
        self.assertLessEqual(set(known), set(before))
        self.fails("export network nothing deploy", 2)
        self.fails(f"export network {trial} deploy", 2, "has no network that openset trained")

    # One image is another for the run of one trial.
    def test_a_run_on_a_wrong_image_replaces_no_result(self):
        self.out("data describe photos")
        self.out("task new pets --data=photos --known=2 --unknown=2 --splits=2")
        self.write("study.textproto", STUDY)
        self.out("run study.textproto --devices=cpu")
        table = self.out("report study.textproto")
        image = self.program.path(self.out("task samples pets --split=0 --format=csv").split()[1].split(",")[-1])
        right = image.read_bytes()
        image.write_bytes(bmp(1, 2, 3))
        self.assertEqual(len(image.read_bytes()), len(right))
        changed = (f"hint: results on photos may be missing: the images of its part 'test' have changed since the last run "
                   f"on this store (the last to change was {image}): bring the old ones back, or run the study again")
        self.says(self.run_program("task splits pets").err, changed)
        self.out(["run", "study.textproto", "--devices=cpu", "--set", "split=[0]", "--methods=mcp"])
        image.write_bytes(right)
        self.says(self.out("report study.textproto"), "have changed since the last run")
        # Without the images, the content of four of the five records is the study's.
        photos = self.program.path("photos")
        photos.rename(self.program.path("away"))
        report = self.out("report study.textproto")
        self.assertTrue(" ".join(report.split()).startswith(
            "The images of photos, test are not on this machine: results are found by the digest that most records of the "
            "study have (4 of 5; 2 differ)."), report)
        self.assertEqual(report[report.index("\nmethod"):], table[table.index("\nmethod"):])
        self.says(self.out("status study.textproto"), "4 of 4 trials done")
        self.program.path("away").rename(photos)
        # A run that finds all done remembers the content, too.
        self.says(self.out("run study.textproto --devices=cpu"), "all 4 trials are done; nothing to run")
        self.assertEqual(self.out("report study.textproto"), table)

    def test_images_that_changed_are_named(self):
        self.out("data describe photos")
        self.out("task new pets --data=photos --known=2 --splits=1")
        self.write("photos/fox/3.bmp", bmp(0, 0, 0, side=8))
        self.fails("data verify photos", 2, "files are missing, new, renamed or of another size (the last to change was "
                   f"{self.program.folder}/photos/fox/3.bmp); {CHANGED}")

    def test_a_class_with_one_image_is_not_drawn(self):
        self.add_class("single", 1, images=1)
        self.out("data describe photos")
        drawn = self.out("task new pets --data=photos --known=3 --splits=2")
        self.says(drawn, "not used: single (no image to test on)\n", "split 1: known: ")
        self.assertEqual(self.read("tasks/pets.textproto").count("known_class"), 2 * 4)
        self.says_not(self.read("tasks/pets.textproto"), "single")
        self.out("task new far --data=photos --known=4 --splits=1 --far=uniform_noise")
        self.says_not(self.read("tasks/far.textproto"), "single", "unknown_class")
        self.refused("task new none --data=photos --known=4 --splits=1",
                     "--unknown: 1 unknown classes are more than the 0 other classes with images to test on")
        self.says(self.out("task new some --data=photos --known=2 --unknown=1 --splits=2"),
                  "not used: 1 class of each split; single (no image to test on)\n")

    def test_names_are_not_mixed_with_a_number(self):
        command = "task new pets --data=photos --splits=1 --known=cat,dog"
        self.refused(f"{command} --unknown=3", "--unknown: is the number 3, but --known names classes: name these, too "
                     "(class 3 is called owl); without --unknown, all others are unknown")
        self.refused(f"{command} --unknown=9", "--unknown: is the number 9, but --known names classes: name these, too; ")
        self.out(f"{command} --unknown=owl")
        self.out("task new digits --data=mnist --splits=1 --known=1,2 --unknown=3")  # classes of these names
        self.says(self.read("tasks/digits.textproto"), 'unknown_class: "3"')

    def test_names_that_others_have(self):
        self.refused("data describe photos --name=mnist", "'mnist' is the name of another data set (",
                     "data/catalog/mnist.textproto): choose another name")
        self.refused("task new cifar10 --data=photos --known=2 --splits=1", "'cifar10' is the name of another task (")
        self.out("data describe photos")
        self.refused("data describe photos --into=lab", "'photos' is the name of another data set (")
        self.program.path("photos").rename(self.program.path("Meine Fotos"))
        self.refused(["data", "describe", "Meine Fotos"], "'Meine Fotos' is not a valid name", "--name=Meine_Fotos")
        line = self.refused("task new pets --data=photo --known=2 --splits=1", "unknown data set 'photo'; did you mean 'photos'? "
                            "(known: photos, ", "others; 'openset data list' shows all)")
        self.assertEqual(line[line.index("(known"):].count(","), 4)

    def test_links_to_nothing(self):
        self.program.path("photos/owl/link.bmp").symlink_to("/nowhere/x.bmp")
        self.refused("data describe photos", "photos/owl/link.bmp: is a link to nothing; repair or remove it, or leave it "
                     "out: openset data describe --skip_damaged")
        self.write("photos/owl/broken.bmp", "no image")
        self.says(self.out("data describe photos --skip_damaged"), "20 in all", "left out: 1 corrupt image\n",
                  f"left out: a link to nothing: {self.program.folder}/photos/owl/link.bmp\n")
        self.says(self.out("data verify photos --images"), "photos all: 20 images, as counted in the folder")


if __name__ == "__main__":
    main()
