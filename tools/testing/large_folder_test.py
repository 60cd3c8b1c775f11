#!/usr/bin/env python3
"""The memory of a training whose images do not fit in memory: an epoch over 200,000 PNG files in ten folders.

Run by hand; it prints the result.
"""
import os
import resource
import shutil
import sys

sys.path.insert(0, "tools/testing")
from program import ROOT, ProgramTest, main  # noqa: E402

CLASSES = 10
PARTS = {"train": 20000, "test": 50}  # images of each class

TASK = """
name: "large_folder" title: "Many small files" data_set: "large_folder"
split { known: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9] }
unknown { group: "fashion" data_set: "fashion_mnist" }
"""
SPEC = """
name: "large" task: "large_folder" split: 0 seed: 0 method: "softmax"
override {
  model { osrci_cnn {} }
  input { size: 32 channels: 3 }
  training { epochs: 1 batch_size: 512 }
}
test_limit_per_class: 50
metric { accuracy {} } metric { auroc {} }
"""


class LargeFolderTest(ProgramTest):
    def make_class(self, folder, i, files):
        """Hard links to one of ten images, 32 x 32 in colour (in memory, the data takes 600 MB)."""
        folder.mkdir(parents=True)
        # In some file systems, a file can have at most 65,000 links.
        shutil.copyfile(ROOT / f"tools/testing/testdata/folder_images/{i}.png", folder / "00000.png")
        for n in range(1, files):
            os.link(folder / "00000.png", folder / f"{n:05}.png")

    def test_trains_an_epoch_in_less_than_500_megabytes(self):
        catalog = "name: 'large_folder' channels: 3 height: 32 width: 32\n"
        catalog += "".join(f"class_name: 'class{i}'\n" for i in range(CLASSES))
        layout = ""
        for part, files in PARTS.items():
            for i in range(CLASSES):
                self.make_class(self.program.path(f"images/large_folder/{part}/class{i}"), i, files)
            layout += (f"part {{ name: '{part}' samples: {CLASSES * files} samples_per_class: {files} image_folder {{ "
                       f"path: 'large_folder/{part}' }} }}")
        self.write("data/catalog/large_folder.textproto", f"{catalog}layout {{ {layout} }}")
        self.write("data/tasks/large_folder.textproto", TASK)
        self.write("large.textproto", SPEC)
        print(self.out(f"run large.textproto --devices=cpu --jobs=1 --data={self.program.folder}/images"))
        # In KiB, of the largest child that has ended: the worker.
        megabytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e6
        print(f"peak resident memory of the worker: {megabytes:.0f} MB")
        self.assertGreater(megabytes, 150, "less than LibTorch takes: was the worker waited for?")
        self.assertLess(megabytes, 500)


if __name__ == "__main__":
    main()
