#!/usr/bin/env python3
"""Folders of images that people described, and tasks that they made of them."""
import pathlib
import sys

sys.path[:0] = ["tools/testing", "tools/testing/people"]
from program import main  # noqa: E402
from situation import PeopleTest, answers, refuses, write_files  # noqa: E402

NAMES = "Alibaba-MIIL/ASL#26"
OTHER_CLASSES = "huggingface/pytorch-image-models#957"
OTHER_IMAGES = "huggingface/pytorch-image-models#211"


def stored(name):
    return pathlib.Path("data/readers/testdata", name).read_bytes()


def images(folders, count, name="rgb.png"):
    """Copies of a stored image for each folder: images("d/ant d/bee", 3)."""
    end = pathlib.Path(name).suffix
    return {f"{folder}/{i}{end}": stored(name) for folder in folders.split() for i in range(count)}


def texts(names):
    return dict.fromkeys(names, "x")


def described(folder, files, then=lambda program: None):
    """Makes the files and describes the folder; `then` is called with the program."""
    def make(program):
        write_files(program, files)
        program.must_run(["data", "describe", folder])
        then(program)
    return make


PET_IMAGES = {**images("pets/ant pets/bee pets/cat", 6), **images("pets/dog", 1), **images("pets/elk", 2)}
PETS = described("pets", PET_IMAGES)
OPEN_LAYOUT = {**images("g/train/ant g/train/bee g/train/cat", 4),
               **images("g/test/ant g/test/bee g/test/cat g/test/fox", 2)}
BIG_DOG = {f"n/{name}/{i}.png": stored("rgb.png") for name in ("big, dog", "cat") for i in range(2)}


def with_list(text):
    return {**images("data/img/ant data/img/bee", 2), "data/list.txt": text, "data/catalog/listed.textproto": """
name: 'listed' class_name: ['ant', 'bee'] channels: 3 height: 0 width: 0
layout { part { name: 'test' samples: 4 samples_per_class: 2 image_list { path: 'img' list { path: 'list.txt' } } } }
"""}


def links(program):
    write_files(program, images("real/ant real/bee", 3))
    folder = program.path("byclass")
    folder.mkdir()
    for name in ("ant", "bee", "gone"):
        (folder / name).symlink_to("../real/" + name)
    (folder / "up").symlink_to("..")


def with_empty_folder(files):
    def make(program):
        write_files(program, files)
        program.path("d/empty").mkdir()
    return make


class ImagesTest(PeopleTest):
    def test_folders(self):
        companions = texts(("d/.DS_Store", "d/ant/.DS_Store", "d/bee/Thumbs.db", "d/cat/desktop.ini", "d/ant/._0.png",
                            "d/__MACOSX/ant/._0.png", "d/README.md", "d/cat/0.png~"))
        other_formats = {
            **images("d/ant", 2), **images("d/ant", 3, "rgb.bmp"), **images("d/bee", 5, "lzw.tif"),
            **images("d/bee", 1, "deflate.tiff"), **images("d/cat", 5, "moving.gif"), **images("d/dog", 2, "rgb.ppm"),
            "d/dog/a.JFIF": stored("rgb.jpg"), "d/dog/moving.webp": stored("moving.webp")}
        sub_folders = "d/ant d/ant/day1 d/bee d/bee/day1 "
        self.check(
            answers("numbers are names", "modestyachts/ImageNetV2#10",
                    described("numbers", images(" ".join(f"numbers/{i}" for i in range(12)), 3)),
                    "task new t --data=numbers --known=2,10 --splits=1",
                    "split 0: known: 2, 10 (4 images to train on, 2 known and 10 unknown ones to test on)"),
            answers("companions of images", "pytorch/vision#79",
                    with_empty_folder({**images("d/ant d/bee d/cat", 3), **companions}), "data describe d",
                    "d: 3 classes, 6 in train, 3 in test, 9 in all",
                    "left out: __MACOSX (no image), empty (empty)\n", never=("Thumbs", "README", "png~")),
            answers("other formats", "huggingface/pytorch-image-models#1335", other_formats, "data describe d",
                    "d: 4 classes, 16 in train, 4 in test, 20 in all", never=("left out",)),
            answers("formats that are not read", "lstein/PhotoMapAI#364",
                    {**images("d/ant d/bee", 2),
                     **texts(("d/cat/1.heic", "d/cat/2.HEIC", "d/cat/3.avif", "d/ant/4.heic"))},
                    "data describe d", "d: 2 classes", "left out: cat (1 .avif, 2 .heic)\n",
                    "left out: 1 .heic in ant: these formats are not read"),
            refuses("only formats that are not read", "tensorflow/tensorflow#24065", texts(("d/cat/1.heic",)),
                    "data describe d", "no folder in it has images", "left out: cat (1 .heic)"),
            answers("images in sub-folders", "keras-team/keras#4637", images(sub_folders + "d/ant/day2", 3),
                    "data describe d", "6 in all", "left out: images in sub-folders: 6 of ant, 3 of bee; only the "
                    "images directly in a class's folder"),
            answers("images in sub-folders are read", "pytorch/vision#80", images(sub_folders + "d/ant/day2/b", 3),
                    "data describe d --sub_folders", "d: 2 classes, 12 in train, 3 in test, 15 in all",
                    never=("left out",)),
            refuses("two levels", "pytorch/vision#80", images("d/animals/ant d/animals/bee d/plants/oak", 4),
                    "data describe d", "no folder in it has images",
                    "animals (8 images in sub-folders), plants (4 images in sub-folders)"),
            refuses("no folders of classes", "huggingface/datasets#4015", images("flat", 6), "data describe flat",
                    "flat: its images are not in class folders: make one folder for each class", "--far="),
            answers("a third part", "ultralytics/ultralytics#13936",
                    {**images("m/train/ant m/train/bee", 4),
                     **images("m/val/ant m/val/bee m/val/gnu m/test/ant m/test/bee m/more/ant", 1)},
                    "data describe m", "m: 2 classes, 8 in train, 2 in test, 2 in val\n",
                    "left out: val/gnu (1 image, but no class has this name)\n",
                    "left out: folders beside those of the parts: more (1 image)\n"),
            answers("a part lacks a class", OTHER_CLASSES,
                    {**images("d/train/ant d/train/bee d/train/cat", 4), **images("d/val/ant d/val/bee", 2)},
                    "data describe d", "hint: no image to test on: cat; a task has to leave such a class out\n"),
            answers("a dangling folder", "huggingface/datasets#5098", links, "data describe byclass",
                    "byclass: 2 classes", "left out: links to nothing: gone\n"))

    def test_damaged_images(self):
        self.check(
            refuses("some", "pytorch/vision#138",
                    {**images("d/ant d/bee", 3), "d/ant/0.png": stored("rgb.png")[:100],
                     "d/bee/1.png": "<!DOCTYPE html>", "d/bee/2.png": ""},
                    "data describe d", "ant/0.png", "bee/1.png", "bee/2.png", "3 images can't be decoded"),
            answers("all of a class", "lucidrains/stylegan2-pytorch#7",
                    {**images("d/ant d/bee", 3), "d/cat/1.png": "", "d/cat/2.png": "no image"},
                    "data describe d --skip_damaged", "d: 2 classes", "left out: 2 corrupt images\n",
                    "left out: class cat, all of whose images are corrupt\n"),
            answers("one of two with its name", "Tencent/FaceDetection-DSFD#18",
                    {**images("d/train/ant d/train/bee d/test/ant d/test/bee", 2), "d/train/ant/0.png": ""},
                    "data describe d --skip_damaged", "3 in train, 4 in test", "left out: 1 corrupt image\n"))

    def test_classes_of_tasks(self):
        folds, one_image = "v7labs/darwin-py#406", "huggingface/datasets#5532"

        def study(program):
            program.write("tasks/t.textproto", "name: 't' data_set: 'pets' split { known: [0, 1] unknown: [2, 3] }")
            program.write("s.textproto", """
name: 's' task: 't' method: 'softmax+laptop' seed: 0 metric { accuracy {} }
override { input { size: 16 channels: 3 mean: [0.5, 0.5, 0.5] std: [0.2, 0.2, 0.2] } }
""")

        self.check(
            answers("others are unknown", one_image, PETS, "task new t --data=pets --known=ant,bee --splits=1",
                    "not used: dog (no image to test on)\n",
                    "split 0: known: ant, bee (10 images to train on, 2 known and 2 unknown ones to test on)\n"),
            refuses("a class with one image is unknown", one_image, PETS,
                    "task new t --data=pets --known=ant,bee --unknown=dog,elk",
                    "split 0: unknown class dog has no image to test on in 'test' of data set 'pets': leave it out "
                    "(unknown: elk), or add images"),
            refuses("a class with one image is known", "davidsbatista/text-classification#1", PETS,
                    "task new t --data=pets --known=ant,dog", "split 0: known class dog has no image to test on",
                    "leave it out (known: ant), or add images"),
            refuses("more folds than images", folds, PETS,
                    "task new t --data=pets --known=ant,elk --folds=5 --splits=1",
                    "known class elk has no image to test on in 'train', 'test' of data set 'pets' (2 images in 5 "
                    "folds)",
                    "use fewer folds"),
            refuses("the plan names the class", folds, described("pets", PET_IMAGES, study), "plan s.textproto",
                    "unknown class dog has no image to test on"),
            answers("unused classes", "ultralytics/ultralytics#13936", PETS,
                    "task new t --data=pets --known=ant --unknown=bee --splits=1",
                    "not used: cat, elk (they are unknown if --unknown names them); dog (no image to test on)\n"))

    def test_classes_of_the_test_only(self):
        all_known = "split 0: known: ant, bee, cat (12 images to train on, 6 known and 2 unknown ones to test on)\n"
        self.check(
            answers("are described", OTHER_CLASSES, OPEN_LAYOUT, "data describe g",
                    "hint: no image to train on: fox; a task can only have such a class as an unknown one\n"),
            answers("are unknown", OTHER_CLASSES, described("g", OPEN_LAYOUT),
                    "task new t --data=g --known=ant,bee,cat --splits=1", all_known),
            answers("need no list", OTHER_CLASSES, OPEN_LAYOUT, "task new t --data=./g --splits=1", all_known),
            refuses("are not known", OTHER_CLASSES, OPEN_LAYOUT, "task new t --data=./g --known=ant,fox --splits=1",
                    "known class fox has no image to train on in 'train'"),
            answers("are not drawn", OTHER_CLASSES, OPEN_LAYOUT, "task new t --data=./g --known=2 --splits=3",
                    "split 0: known: ", " (8 images to train on, 4 known and 4 unknown ones to test on)\n",
                    "split 2: known: "))

    def test_other_folders_are_unknown(self):
        known = "task new t --data=pets --known=ant,bee,cat --splits=1 "

        def far(program):
            write_files(program, images("far/oak far/elm", 5))
            program.must_run("data describe far")

        self.check(
            # Its images count as one class: 1 - sqrt(6 / 7).
            answers("images in a folder", OTHER_IMAGES,
                    described("pets", {**PET_IMAGES, **{f"my foxes/{i}.png": stored("rgb.png") for i in range(7)}}),
                    known + "'--far=my foxes'", "my_foxes: 7 images of 1 class, part all of folder:",
                    "3 known and 7 unknown ones to test on", "openness 0.0741799\n",
                    "not used: elk (they are unknown if --unknown names them); dog (no image to test on)\n"),
            answers("a described folder as a whole", OTHER_IMAGES, described("pets", PET_IMAGES, far),
                    known + "--near=./far", "far: 10 images of 2 classes, part all of far\n"),
            answers("a known class among them", OTHER_IMAGES,
                    described("pets", {**PET_IMAGES, **images("far/ant far/elm", 5)}), known + "--near=far",
                    "hint: unknown classes of far have the names of known ones: ant\n"))

    def test_names(self):
        self.check(
            refuses("on two lines", NAMES, {**images("d/ant", 3), "d/new\nline/1.png": stored("rgb.png")},
                    "data describe d", "the name of the folder 'new line' has a control character in it", "rename it",
                    never=("class_folder",)),
            answers("two forms of one", "renpy/renpy#2327", images("n/cafe\u0301 n/caf\u00e9 n/cat", 3),
                    "data describe n", "3 classes", "hint: two classes are called caf"),
            answers("a decomposed one", "Garmelon/PFERD#141",
                    described("n", images("n/cafe\u0301 n/bee n/cat", 3)),
                    "task new t --data=n --known=caf\u00e9,bee --splits=1", "split 0: known: cafe\u0301, bee"),
            refuses("with a comma", NAMES, described("n", BIG_DOG), "task new t --data=n '--known=big, dog'",
                    "--known: unknown class 'big'",
                    "for a name with a comma: --known=@FILE, with a name on each line"),
            answers("with a comma in a file", NAMES,
                    described("n", {**BIG_DOG, "known.txt": "\ufeffbig, dog\r\n"}),
                    "task new t --data=n --known=@known.txt --splits=1", "split 0: known: big, dog ("))

    def test_lists(self):
        lines = ("ant/0.png 0", "ant/1.png 0", "bee/0.png 1", "bee/1.png 1")
        self.check(
            answers("from Windows", "PolyU-VCLab/OpenOOD-VLM#3",
                    with_list("\ufeff" + "".join(line + "\r\n" for line in lines)),
                    "data verify listed --data=data --images", "listed test: 4 images, as published"),
            refuses("with backslashes", "PolyU-VCLab/OpenOOD-VLM#5",
                    with_list("\n".join(("ant\\0.png 0", *lines[1:], ""))), "data verify listed --data=data",
                    "img/ant\\0.png: is listed in "))

    def test_changes(self):
        two = images("pets/ant pets/bee", 3)
        self.check(
            refuses("a moved folder", "Jingkang50/OpenOOD#121",
                    described("pets", two, lambda program: program.path("pets").rename(program.path("animals"))),
                    "data verify pets", "data set 'pets': there is no folder ",
                    "/pets; if it was moved, write its new path into catalog/pets.textproto", never=("data folders",)),
            refuses("a changed image", "huggingface/datasets#2887",
                    described("pets", two, lambda program: program.write("pets/ant/0.png", stored("grey.png"))),
                    "data verify pets", "its images have changed: bring the old ones back, or remove "
                    "catalog/pets.textproto and describe the folder again", never=("fetch",)))


if __name__ == "__main__":
    main()
