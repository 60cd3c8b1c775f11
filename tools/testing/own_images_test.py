#!/usr/bin/env python3
"""A user's own folders of images: classes that are added and renamed, images that are changed, broken or away."""
import struct
import sys

sys.path.insert(0, "tools/testing")
from program import ProgramTest, main  # noqa: E402

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
            self.write(f"photos/{name}/{i}.bmp", bmp(60 * c, 255 - 60 * c, 10 * i))

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
