#!/usr/bin/env python3
"""openset data and openset task on folders of images: from the folder to a study."""
import collections
import hashlib
import re
import shutil
import struct
import sys
import zlib

sys.path.insert(0, "tools/testing")
from arrays import read_npz  # noqa: E402
from program import ROOT, ProgramTest, main, wait_for  # noqa: E402
from samples import png  # noqa: E402

SPEC = """
name: "study" split: 0 seed: 0 method: "softmax"
override {
  model { osrci_cnn {} }
  input { size: 16 }
  training { epochs: 1 batch_size: 5 optimizer { learning_rate: 0.01 } }
}
metric { accuracy {} } metric { auroc {} }
"""
PHOTOS = {"cat": 5, "dog": 10, "owl": 5}


def table_of(cluster):
    """A table of the photos' clusters; `cluster(i)` tells those of photo i of a class apart."""
    return "image,cluster,note\n" + "".join(f"{name}/{i}.png,{name}{cluster(i)},x\n"
                                            for name, photos in PHOTOS.items() for i in range(photos))


def png_rows(content):
    """The rows of the bytes of an RGB picture, and its width."""
    width, height = struct.unpack(">II", content[16:24])
    assert content[24:26] == b"\x08\x02", content[24:26]  # 8 bits, RGB
    data, at = b"", 8
    while at < len(content):
        length, kind = struct.unpack(">I4s", content[at:at + 8])
        data += content[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    data, rows, above = zlib.decompress(data), [], bytearray(3 * width)
    for y in range(height):
        kind, *row = data[y * (3 * width + 1):(y + 1) * (3 * width + 1)]
        for x in range(3 * width):  # undo the row's filter
            left, corner = (row[x - 3], above[x - 3]) if x >= 3 else (0, 0)
            near = min((left, above[x], corner), key=lambda value: abs(left + above[x] - corner - value))
            row[x] = (row[x] + (0, left, above[x], (left + above[x]) // 2, near)[kind]) % 256
        rows.append(row)
        above = row
    return rows, width


class DataTest(ProgramTest):
    def setUp(self):  # 5 red cats, 10 green dogs, 5 blue owls of two shades
        super().setUp()
        for name, photos in PHOTOS.items():
            for i in range(photos):
                blue = 255 if i < 2 else 204
                self.write(f"photos/{name}/{i}.png",
                           png(*{"cat": (255, 0, 0), "dog": (0, 255, 0), "owl": (0, 0, blue)}[name]))
        self.folder = self.program.folder

    def write_task_of_the_folder(self):
        self.write("tasks/photos.textproto",
                   f"name: 'photos' data_set: 'folder:{self.folder}/photos' split {{ known: [1, 0] }}")
        self.write("study.textproto", SPEC + "task: 'photos'")

    # Pairs of photos belong together.
    def test_parts_are_drawn_by_clusters(self):
        self.write("pairs.csv", table_of(lambda i: i // 2))
        self.out("data describe photos --clusters=pairs.csv --test_share=0.4")
        self.says(self.read("catalog/photos.textproto"), 'pairs.csv"')
        self.out("task new pets --data=photos --known=dog,cat --splits=1")
        tested = self.out("task samples pets --format=csv")
        pairs = collections.Counter(int(i) // 2 for i in re.findall("/dog/([0-9])", tested))
        self.assertEqual(sorted(pairs.values()), [2, 2])  # two of five pairs of dogs
        self.write("study.textproto", SPEC + "task: 'pets'")
        self.out("run study.textproto --devices=cpu")
        self.write("pairs.csv", "image\n")
        self.fails("data describe photos --name=again --clusters=pairs.csv", 2,
                   "pairs.csv: line 1: needs the columns 'image' and 'cluster'")
        self.fails("data describe photos --name=again --clusters=none.csv", 2, "none.csv")

    # Two lists of the photos. Pairs of photos belong together, and one of each pair is in each list.
    def test_folds_and_validation_keep_clusters_whole(self):
        lists, table = ["", ""], "cluster,set,image\n"
        for label, (name, photos) in enumerate(PHOTOS.items()):
            for i in range(photos):
                lists[i % 2] += f"{name}/{i}.png {label} {name}{i // 2}\n"
                table += f"{name}{i // 2},all,{self.folder}/photos/{name}/{i}.png\n"
        for i in (0, 1):
            self.write(f"list{i}.txt", lists[i])

        def put(name, clusters):
            layout = "".join(
                f'part {{ name: "{part}" samples: {n} samples_per_class: {per_class} image_list {{ path: "photos" '
                f'list {{ path: "{file}" }} {clusters} }} }}\n' for part, n, per_class, file in
                (("train", 11, [3, 5, 3], "list0.txt"), ("test", 9, [2, 5, 2], "list1.txt")))
            self.write(f"catalog/{name}.textproto", f'name: "{name}" class_name: ["cat", "dog", "owl"] channels: 3 '
                       f"height: 16 width: 20 layout {{ {layout} }}")
            self.write(f"tasks/{name}_folds.textproto", f'name: "{name}_folds" data_set: "{name}" '
                       "cross_validation { folds: 2 } split { known: [1, 0] unknown: 2 }")

        def put_table(name, file):
            digest = hashlib.sha256(self.read(file).encode()).hexdigest()
            put(name, f"clusters {{ path: '{file}' sha256: '{digest}' }}")

        data = f" --data={self.folder}"
        put("column", "cluster_column: 2")
        self.write("table.csv", table)
        put_table("table", "table.csv")
        folds, photos = collections.defaultdict(set), collections.Counter()  # of each pair
        for fold in (0, 1):
            options = f"_folds --split={fold} --format=csv" + data
            tested = self.out("task samples column" + options)
            self.assertEqual(self.out("task samples table" + options), tested)
            for name, i in re.findall("photos/([a-z]+)/([0-9])", tested):
                folds[f"{name}{int(i) // 2}"].add(fold)
                photos[f"{name}{int(i) // 2}"] += 1
        self.assertEqual(len(folds), 3 + 5 + 3)
        for pair, of_pair in folds.items():
            self.assertEqual((len(of_pair), photos[pair]), (1, 1 if pair in ("cat2", "owl2") else 2), pair)
        # Programs that train elsewhere get the clusters.
        self.out("task samples column_folds --split=0 --out=samples" + data)
        numbers = read_npz(self.program.path("samples/fit.npz"))["cluster"].values
        self.assertLess(len(set(numbers)), len(numbers))
        # One fold has two clusters of cats to train on, of which one is for validation; the other fold has only one.
        refused = 0
        for fold in (0, 1):
            self.write("study.textproto", SPEC.replace("split: 0", f"split: {fold}").replace(
                '"softmax"', "['softmax', 'mcp']") + "task: 'column_folds' validation_per_class: 1")
            run = self.run_program("run study.textproto --devices=cpu" + data)
            if run.code != 0:
                refused += 1
                self.says(run.err, "only clusters of class 0 (cat) that validation_per_class takes, which doesn't "
                          "divide them: keep fewer samples for validation, or leave the class out")
                continue
            clusters = sum(fold in of_pair for of_pair in folds.values())
            self.says(self.out("compare study.textproto" + data), f"replicates of {clusters} clusters, seed 0)")
        self.assertEqual(refused, 1)
        # What `audit` proposes is such a table. Here all cats are duplicates.
        self.out("data audit column --parts=train,test --clusters=audit.csv" + data)
        put_table("audited", "audit.csv")
        self.says(self.run_program("task splits audited_folds" + data).err,
                  "samples of class 1 (dog) in 1 cluster, which are not divided, and fold 1 of 2 gets none: use fewer "
                  "folds, leave the class out, or divide its clusters")

    # Each cluster has photos of all classes: two of p0 and p1, one of p2. The lists have one photo of p0 and p1 each.
    def test_clusters_in_training_and_test_are_hinted(self):
        lists = ["".join(f"{name}/{i}.png {label} p{i // 2}\n" for label, name in enumerate(PHOTOS)
                         for i in range(first, 5, 2)) for first in (0, 1)]
        layout = ""
        for part, n, content in (("train", 3, lists[0]), ("test", 2, lists[1]), ("all", 5, lists[0] + lists[1])):
            self.write(f"{part}.txt", content)
            layout += (f"part {{ name: '{part}' samples: {3 * n} samples_per_class: {[n] * 3} image_list {{ "
                       f"path: 'photos' list {{ path: '{part}.txt' }} cluster_column: 2 }} }} ")
        self.write("catalog/pets.textproto", "name: 'pets' class_name: ['cat', 'dog', 'owl'] channels: 3 height: 16 "
                   f"width: 20 layout {{ {layout} }}")

        def hints(name, of_task):
            self.write(f"tasks/{name}.textproto",
                       f"name: '{name}' data_set: 'pets' split {{ known: 0 unknown: 1 }} {of_task}")
            self.write("study.textproto", SPEC.replace("split: 0", "").replace('"softmax"', "'outlier_exposure'") +
                       f"task: '{name}'")
            return self.program.must_run(f"plan study.textproto --noprobe --data={self.folder}").err

        self.says(hints("parts", "external { data_set: 'pets' class_id: 2 }"),
                  "hint: task parts, split 0: 4 of 4 test samples are of clusters (2) that have training samples, too, "
                  "so the test is easier than new samples are: keep each cluster in one part",
                  "clusters (2) that have external images, too, so")
        # The folds keep clusters whole; a part that they don't divide does not.
        hint = hints("external", "cross_validation { folds: 2 } external { data_set: 'pets' part: 'all' class_id: 2 }")
        self.says(hint, "that have external images, too (and in 1 other splits), so the test is easier")
        self.says_not(hint, "training samples, too")
        # From a part that they divide, the external images are those of the training folds.
        self.says_not(hints("same", "cross_validation { folds: 2 } external { data_set: 'pets' class_id: 2 }"),
                      "hint: task")

    def test_from_a_folder_to_a_study(self):
        described = self.out("data describe photos")
        # A fifth of each class is for the test: 4 red and 8 green of 16 training images, whose means are 1/4 and 1/2
        # and whose standard deviations are sqrt(1/4 - 1/16) and 1/2.
        self.says(described, "photos: 3 classes, 16 in train, 4 in test, 20 in all", "mean 0.2500 0.5000",
                  "std 0.4330 0.5000", "\nall 20 x 16 pixels (width x height)\n",
                  'in a study:  method: "softmax+laptop_colour"\n             override { input { mean: [0.25, 0.5, ')
        self.says(self.read("catalog/photos.textproto"), 'class_name: "cat"', "listing_sha256", "mean: 0.25\n")
        self.out("data describe photos")
        self.says(self.out("data verify photos --images --parts=train"), "mean 0.2500 0.5000", "(as the catalog says)")
        self.fails("data describe photos --test_share=0.5", 2,
                   "catalog/photos.textproto: already exists with other content; choose another name")

        self.says(self.out("task new pets --data=photos --known=dog,cat --splits=2"), "split 1: known: dog, cat",
                  "openness 0.105")
        self.says(self.read("tasks/pets.textproto"), 'known_class: "dog"\n  known_class: "cat"\n  unknown_class: "owl"\n')
        # The lines for a study are a study's.
        lines = described[described.index("method: "):]
        self.write("pasted.textproto", f"name: 'pasted' task: 'pets' {lines[:lines.index('catalog/photos') - 2]} "
                   "seed: 0 metric { accuracy {} }")
        self.says(self.out("plan pasted.textproto --noprobe"), "\n  the whole study: unknown on ")
        self.assertRegex(self.out("task splits pets"), r"pets +0 +2 +1 +0\.1056 +12 +3 +1 ")

        self.write("study.textproto", SPEC + "task: 'pets'")
        self.says(self.out("run study.textproto --devices=cpu"), "known:unknown test samples 3:1",
                  "\ntime left: unknown until the first epoch, because nothing like it was measured here\n")
        self.assertRegex(self.out("status"), "\nby user: [^ ]+ [0-9.]+ [kM]?B\n")

        # Without the images, the study of a record is made all the same: the records say what the images were. From a
        # bundle, it finds its task there.
        trial = next(iter(self.program.records()))
        checked = self.out(f"records spec {trial}")
        self.says_not(checked, "unchecked")
        self.out("records export --bundle=pets.zip")
        self.program.path("photos").rename(self.program.path("moved"))
        other = self.another_program("other")
        shutil.copy(self.program.path("pets.zip"), other.folder)
        spec = other.must_run(f"records spec pets.zip {trial}")
        self.says_not(spec.out, "unchecked")
        self.assertEqual(spec.err, "")
        self.assertEqual(spec.out[spec.out.index("\n\n"):], checked[checked.index("\n\n"):])
        unchecked = other.run(f"reproduce pets.zip {trial}")
        self.assertEqual(unchecked.code, 2)
        self.says(unchecked.err, ": its id depends on data that is not on this machine: The images of photos, ")
        other.write("again.textproto", spec.out)
        self.says(other.run("plan again.textproto").out, "Data that is missing\n  photos: ")

    # Results of the earlier images are not shown, and every command says why. Only a run refuses.
    def test_changed_images_are_hinted(self):
        self.out("data describe photos")
        self.out("task new pets --data=photos --known=cat,dog --splits=1")
        self.write("study.textproto", SPEC + "task: 'pets'")
        self.out("run study.textproto --devices=cpu")
        self.says_not(self.run_program("status study.textproto").err, "hint: ")
        photo = self.program.path("photos/dog/0.png")
        photo.rename(self.program.path("dog.bin"))
        changed = ("its images have changed: bring the old ones back, or remove catalog/photos.textproto and describe "
                   "the folder again")
        for command in ("plan study.textproto", "compare study.textproto", "status study.textproto",
                        "report study.textproto --format=csv"):
            self.says(self.run_program(command).err, "hint: results on photos may be missing: ", changed)
        self.says(self.out("report study.textproto"), "results on photos may be missing:", "have no record yet")
        self.fails("run study.textproto --devices=cpu", 2, changed)
        self.program.path("dog.bin").rename(photo)
        self.says_not(self.out("report study.textproto"), "may be missing", "no record yet")

    # A folder without a catalog entry is what its images are: the store remembers those of its last run. A new image of
    # a folder with a table of clusters has no line there.
    def test_new_images_are_hinted(self):
        self.write_task_of_the_folder()
        self.out("run study.textproto --devices=cpu")
        self.write("single.csv", table_of(lambda i: i))
        self.out("data describe photos --name=single --clusters=single.csv")
        self.write("photos/cat/new.png", png(255, 0, 0))
        self.says(self.run_program("status study.textproto").err,
                  "have changed since the last run on this store (the last to change was ", "photos/cat/new.png): bring the "
                  "old ones back, or run the study again")
        self.fails("data verify single", 2, "photos/cat/new.png: the table of clusters has no line for this image; its "
                   "images have changed: bring the old ones back, or remove catalog/single.textproto")

    def test_a_task_may_name_a_folder(self):
        self.write_task_of_the_folder()
        run = self.program.must_run("run study.textproto --devices=cpu")
        self.says(run.out, "known:unknown test samples 3:1")
        # Also in a folder without classes.
        self.write("flat/0.png", png(255, 0, 0))
        self.write("flat/1.png", "no image")
        self.fails(f"data verify folder:{self.folder}/flat --images", 2, "flat/1.png: not a PNG")
        self.write("tasks/photos.textproto", "name: 'photos' data_set: 'folder:/nowhere' split { known: 0 }")
        self.fails("plan study.textproto", 2, "data_set: data set 'folder:/nowhere': no such folder: /nowhere")

    def test_corrupt_images_are_named_and_skipped_on_request(self):
        self.write("photos/owl/5.png", "no image")
        self.fails("data describe photos", 2, "photos/owl/5.png: not a PNG, JPEG, WebP, TIFF, GIF, BMP or PNM image",
                   "or leave them out with --skip_damaged")
        self.fails("data verify photos --images", 2, "photos/owl/5.png")
        self.says(self.out("data describe photos --skip_damaged --name=mine"), "mine: 3 classes, 16 in train",
                  "left out: 1 corrupt image")
        self.says(self.read("catalog/mine.textproto"), 'skip: "owl/5.png"')
        self.out("data verify mine --images")
        # An image that is left out needs no line in the table of clusters; another one does.
        table = table_of(lambda i: i)
        self.write("single.csv", table)
        clustered = "data describe photos --skip_damaged --name=some --clusters=single.csv"
        self.says(self.out(clustered), "left out: 1 corrupt image")
        self.says(self.read("catalog/some.textproto"), 'skip: "owl/5.png"', "clusters {")
        self.out("data verify some --images")
        self.program.path("catalog/some.textproto").unlink()
        self.write("single.csv", table.replace("cat/0.png", "cat/none.png"))
        self.fails(clustered, 2, "photos/cat/0.png: the table of clusters has no line for this image")
        # The folder's path means the data set that was described from it, unless a task says "folder:".
        self.out("data verify photos --images")
        self.out("task new pets --data=./photos/ --known=cat")
        self.says(self.read("tasks/pets.textproto"), 'data_set: "mine"')
        self.fails(f"data verify folder:{self.folder}/photos --images", 2)

    # 4 of 5 red, 9 of 10 green, 1 of 2 and 2 of 3 blue pictures are copies of the first.
    def test_audit_finds_copies(self):
        self.says(self.out("data audit photos --parts=all"), "photos/cat/1.png  =  all: ",
                  "... and 6 more of these two sets", "20 images in 1 sets", "16     0")
        # Without parts, they are train and test: each image is in one of them.
        audit = self.out("data audit photos")
        self.says(audit, "20 images in 2 sets")
        self.says_not(audit, "all: ")

    # Names before numbers look like groups; the table of clusters can stand beside the scores of the samples.
    def test_audit_proposes_clusters(self):
        images = ("cat/p1_1.png", "cat/p1_2.png", "cat/p2_1.png", "dog/p1_1.png", "dog/p3_1.png")
        for i, image in enumerate(images):
            self.write(f"scans/{image}", png(20 * i, 0, 99))
        self.says(self.out("data audit scans --parts=all --clusters=clusters.csv"),
                  "clusters: 1 of several samples, 3 samples in all, the largest has 3",
                  "3 groups by folder or name: p1, ...")
        lines = [f"{cluster},all,{self.folder}/scans/{image}" for cluster, image in zip("00102", images)]
        self.assertEqual(self.read("clusters.csv").splitlines(), ["cluster,set,image", *lines])
        self.write("scores.csv", "label,unknown_score,cluster,set,image\n" + "".join(
            f"{0 if i < 3 else -1},{i * 7 % 5},{line}\n" for i, line in enumerate(lines)))
        self.says(self.out("eval scores.csv --metrics=auroc --ci"), "of 3 clusters")
        self.fails("data audit scans --parts=all --clusters=c.npz", 2, "--clusters: must end in .csv for images")
        self.says(self.out("data audit photos --parts=all"),
                  "clusters: 4 of several samples, 20 samples in all, the largest has 10 (duplicates)")

    # Shifted images are tested as known samples, and audited like them.
    def test_audit_looks_at_the_shifted_images_of_a_task(self):
        self.write("cast/cat/0.png", png(255, 0, 0))
        self.write("cast/dog/0.png", png(0, 255, 1))
        self.write("tasks/pets.textproto", f"name: 'pets' data_set: 'folder:{self.folder}/photos' split {{ known: [1, "
                   f"0] }} shifted {{ group: 'cast' data_set: 'folder:{self.folder}/cast' part: 'all' }}")
        audit = self.out("data audit pets --exact")
        self.says(audit, "exact  cast: ", "cast/cat/0.png  =  train: ", "images in 4 sets")
        self.says_not(audit, "cast/dog/0.png")
        self.says(self.out("data show pets --per_class=1"), "known, dog", "cast, dog", "cast, cat")

    def test_the_preset_that_fits_grey_images(self):
        for name, value in (("day", 200), ("night", 50)):
            for i in range(5):
                self.write(f"grey/{name}/{i}.png", png(value, value, value))
        self.write("grey/day/more/5.png", png(200, 200, 200))
        self.says(self.out("data describe grey"), 'in a study:  method: "softmax+laptop"\n',
                  "\nto read these too, remove ", "catalog/grey.textproto and describe the folder with --sub_folders\n")
        self.program.path("catalog/grey.textproto").unlink()
        self.says(self.out("data describe grey --sub_folders"), "11 in all")

    def test_show_writes_a_sheet(self):
        self.says(self.out("data show photos --parts=all --per_class=4 --tile=10 --sheet=sheet.png"),
                  "row 1: all, cat", "row 3: all, owl")
        rows, width = png_rows(self.program.path("sheet.png").read_bytes())
        self.assertEqual((len(rows), width), (2 + 3 * 12, 6 + 2 + 4 * 12))
        # The first cat: red, in the middle of its tile, as it is wider than high.
        self.assertEqual(rows[7][3 * 10:3 * 10 + 2], [255, 0])

    def test_errors_say_what_is_wrong(self):
        for command, message in (
                ("data fech mnist", "unknown action of 'openset data' 'fech'; did you mean 'fetch'?"),
                ("data fetch", "usage: openset data fetch NAME"),
                ("data fetch minst", "did you mean 'mnist'?"),
                ("data fetch imagenet", "Register at https://image-net.org"),
                ("data describe nowhere", "no such folder: "),
                ("task new t --data=photos --known=fox", "--known: unknown class 'fox'"),
                ("task new t --data=photos --known=3", "--known: must be 1 to 2 of the 3 classes (is 3)"),
                ("task new t --data=photos", "--known: give the known classes by name (cat,dog)"),
                ("task new t --data=nowhere/photos --known=1", "nowhere/photos"),
                ("task new t --data=nowhere/photos --known=1", "no such folder"),
                ("task new t/u --data=photos --known=1", "'t/u' is not a valid name")):
            self.fails(command, 2, message)
        listed = self.out("data list")
        self.says(listed, "tinyimagenet", "3 x 64 x 64", "up to 212539")
        self.says_not(listed, "photos")


class FolderTest(ProgramTest):
    """A study on image folders: images of different sizes and formats, transforms at their own size, missing files."""

    CATALOG = """
name: "mixed" channels: 3 height: 0 width: 0 class_name: ["a", "b", "c", "d"]
layout {
  part { name: "photos" samples: 24 samples_per_class: 6 image_folder { path: "mixed/photos" } }
  part { name: "more" samples: 8 samples_per_class: 2 image_folder { path: "mixed/more" } }
}
"""
    TASK = 'name: "mixed" data_set: "mixed" train_part: "photos" test_part: "more" split { known: [2, 0] }'
    SPEC = """
name: "mixed_study" task: "mixed" split: 0 seed: 0 method: "softmax"
override {
  model { osrci_cnn {} }
  input { size: 16 test_shorter_side: 18 }
  augmentation { rand_augment {} } augmentation { random_resized_crop {} } augmentation { horizontal_flip {} }
  training { epochs: 2 batch_size: 5 optimizer { learning_rate: 0.01 } }
}
metric { accuracy {} } metric { auroc {} }
"""

    def setUp(self):
        super().setUp()
        images = ("rgb.jpg", "rgb.png", "grey.jpg", "lossless.webp", "grey.png")
        for part, files in (("photos", 6), ("more", 2)):
            for name in "abcd":
                for i in range(files):
                    image = images[i % 5]
                    self.write(f"images/mixed/{part}/{name}/{i}.{image.split('.')[1]}",
                               (ROOT / "data/readers/testdata" / image).read_bytes())
        self.write("data/catalog/mixed.textproto", self.CATALOG)
        self.write("data/tasks/mixed.textproto", self.TASK)
        self.write("mixed.textproto", self.SPEC)
        self.data = f" --data={self.program.folder}/images"
        self.run_command = "run mixed.textproto --devices=cpu" + self.data

    def test_trains_on_images_of_different_sizes_and_repeats_itself(self):
        self.says(self.out(self.run_command), "known:unknown test samples 4:4")
        records = self.program.records()
        self.assertEqual(len(records), 1)
        shutil.rmtree(self.program.store)
        self.out(self.run_command)
        self.assertEqual(self.program.records(), records)

    # One image is replaced after the first training, while the others are still to come, and put back after the run.
    def test_no_result_comes_from_images_that_change_meanwhile(self):
        run = "run mixed.textproto --seeds=0,1,2,3 --jobs=1" + self.data
        self.out(run)
        undisturbed = self.program.records()
        self.assertEqual(len(undisturbed), 4)
        shutil.rmtree(self.program.store)

        image = self.program.path("images/mixed/photos/c/0.jpg")
        before = image.read_bytes()
        process = self.program.start(run)
        wait_for(lambda: self.program.files("openset-store/checkpoints"))
        image.write_bytes(self.program.path("images/mixed/photos/c/1.png").read_bytes())
        self.ends(process, 1)
        said = self.read("out.txt") + self.read("err.txt")
        self.says(said, "photos/c/0.jpg: was changed while openset used it (part 'photos' of data set 'mixed')",
                  "repair the named files, then run the same command")
        self.says_not(said, "the method would fail again")
        kept = self.program.records()
        self.assertLess(len(kept), len(undisturbed))
        self.assertLessEqual(kept.items(), undisturbed.items())

        image.write_bytes(before)
        self.out(run)
        self.assertEqual(self.program.records(), undisturbed)

    # The hash of a split identifies the files' content, wherever it is printed.
    def test_a_split_has_one_hash(self):
        split = re.search("mixed +0 .* ([0-9a-f]{12})\n", self.out("task splits mixed" + self.data))[1]
        self.says(self.out("plan mixed.textproto --noprobe" + self.data), split)
        # Without the files, the hash differs, and the command says so.
        without = self.out("task splits mixed")
        self.says_not(without, split)
        self.says(without, "hash: The images of mixed, photos; mixed, more are not on this machine")

    # Records of another machine are found without its images.
    def test_a_report_needs_no_images(self):
        self.out(self.run_command)
        self.out("records export --bundle=all.zip")
        self.out("records merge all.zip --store=other")
        self.fails("report mixed.textproto --store=empty", 2)  # there is no store
        self.program.path("images").rename(self.program.path("elsewhere"))
        missing = "The images of mixed, photos; mixed, more are not on this machine"
        report = self.out("report mixed.textproto --store=other")
        self.assertTrue(report.startswith(missing + ": results are found by the digest"), report)
        self.says_not(report, "no record yet")
        self.says(self.out("status mixed.textproto --store=other"), "1 of 1 trial done")
        # If the store's records are of other data, nothing can be found, and the report says so first.
        self.write("mine.textproto", "name: 'mine' task: 'fashion_mnist_6_4' split: 0 seed: 0 method: 'softmax' "
                   "metric { accuracy {} } train_limit_per_class: 5 test_limit_per_class: 5 "
                   "override { training { epochs: 1 } }")
        self.out("run mine.textproto --store=third")
        untold = self.fails("report mixed.textproto --store=third", 1,
                            "no result was found; give the folder of the images with --data")
        self.assertTrue(untold.out.startswith(missing + ", and the store has no"), untold)

    def test_problems_of_files_are_reported_before_the_run(self):
        image = self.program.path("images/mixed/photos/c/3.webp")
        image.unlink()
        self.fails(self.run_command, 2,
                   "images/mixed/photos/c: has 5 images, not 6 as the catalog says of part 'photos'")
        self.assertFalse(self.program.store.exists())
        # An image that can't be decoded is found when it is read.
        image.write_text("no image")
        damaged = self.fails(self.run_command, 1)
        self.says(damaged.printed, "photos/c/3.webp: not a PNG, JPEG, WebP, TIFF, GIF, BMP or PNM image")


if __name__ == "__main__":
    main()
