// Folders of images that people described, and tasks that they made of them.
#include <filesystem>
#include <vector>

#include "absl/strings/str_split.h"
#include "core/files/files.h"
#include "core/files/runfiles.h"
#include "tools/testing/people/situation.h"

namespace openset {
namespace {

std::string Stored(const std::string& name) {
  return *ReadFile(absl::StrCat(*RunfilesFolder(), "/openset/data/readers/testdata/", name));
}

// Writes `count` copies of a stored image for each class: "photos/ant photos/bee" are two.
void Put(const OpensetProgram& program, const std::string& folders, int count, const std::string& image = "rgb.png") {
  const std::string bytes = Stored(image);
  for (const absl::string_view folder : absl::StrSplit(folders, ' ')) {
    for (int i = 0; i < count; ++i) {
      program.Write(absl::StrCat(folder, "/", i, image.substr(image.find('.'))), bytes);
    }
  }
}

void Link(const OpensetProgram& program, const std::string& to, const std::string& path) {
  std::filesystem::create_symlink(to, program.folder() + "/" + path);
}

void MakeFolder(const OpensetProgram& program, const std::string& path) {
  std::filesystem::create_directories(program.folder() + "/" + path);
}

void Describe(const OpensetProgram& program, const std::string& folder) {
  const ProgramResult described = program.Run({"data", "describe", folder});
  ASSERT_EQ(described.exit_code, 0) << described.err;
}

void Pets(const OpensetProgram& program) {
  Put(program, "pets/ant pets/bee pets/cat", 6);
  Put(program, "pets/dog", 1);
  Put(program, "pets/elk", 2);
  Describe(program, "pets");
}

void OpenLayout(const OpensetProgram& program) {
  Put(program, "g/train/ant g/train/bee g/train/cat", 4);
  Put(program, "g/test/ant g/test/bee g/test/cat g/test/fox", 2);
}

void List(const OpensetProgram& program, const std::string& start, const std::string& line_end) {
  Put(program, "data/img/ant data/img/bee", 2);
  std::string list = start;
  for (const char* line : {"ant/0.png 0", "ant/1.png 0", "bee/0.png 1", "bee/1.png 1"}) list += line + line_end;
  program.Write("data/list.txt", list);
  program.Write("data/catalog/listed.textproto",
                "name: 'listed' class_name: ['ant', 'bee'] channels: 3 height: 0 width: 0 layout { part { name: 'test' "
                "samples: 4 samples_per_class: 2 image_list { path: 'img' list { path: 'list.txt' } } } }");
}

const std::vector<Situation> kFolders = {
    Answers("NumbersAreNames", "modestyachts/ImageNetV2#10",
            [](const OpensetProgram& program) {
              for (int i = 0; i < 12; ++i) Put(program, absl::StrCat("numbers/", i), 3);
              Describe(program, "numbers");
            },
            {"task", "new", "t", "--data=numbers", "--known=2,10", "--splits=1"},
            {"split 0: known: 2, 10 (4 images to train on, 2 known and 10 unknown ones to test on)"}),
    Answers("CompanionsOfImages", "pytorch/vision#79",
            [](const OpensetProgram& program) {
              Put(program, "d/ant d/bee d/cat", 3);
              for (const char* name : {"d/.DS_Store", "d/ant/.DS_Store", "d/bee/Thumbs.db", "d/cat/desktop.ini",
                                       "d/ant/._0.png", "d/__MACOSX/ant/._0.png", "d/README.md", "d/cat/0.png~"}) {
                program.Write(name, "x");
              }
              MakeFolder(program, "d/empty");
            },
            {"data", "describe", "d"},
            {"d: 3 classes, 6 in train, 3 in test, 9 in all", "left out: __MACOSX (no image), empty (empty)\n"},
            {"Thumbs", "README", "png~"}),
    Answers("OtherFormats", "huggingface/pytorch-image-models#1335",
            [](const OpensetProgram& program) {
              Put(program, "d/ant", 2);
              Put(program, "d/ant", 3, "rgb.bmp");
              Put(program, "d/bee", 5, "lzw.tif");
              Put(program, "d/bee", 1, "deflate.tiff");
              Put(program, "d/cat", 5, "moving.gif");
              Put(program, "d/dog", 2, "rgb.ppm");
              program.Write("d/dog/a.JFIF", Stored("rgb.jpg"));
              program.Write("d/dog/moving.webp", Stored("moving.webp"));
            },
            {"data", "describe", "d"}, {"d: 4 classes, 16 in train, 4 in test, 20 in all"}, {"left out"}),
    Answers(
        "FormatsThatAreNotRead", "lstein/PhotoMapAI#364",
        [](const OpensetProgram& program) {
          Put(program, "d/ant d/bee", 2);
          for (const char* name : {"d/cat/1.heic", "d/cat/2.HEIC", "d/cat/3.avif", "d/ant/4.heic"})
            program.Write(name, "x");
        },
        {"data", "describe", "d"},
        {"d: 2 classes", "left out: cat (1 .avif, 2 .heic)\n", "left out: 1 .heic in ant: these formats are not read"}),
    Refuses("OnlyFormatsThatAreNotRead", "tensorflow/tensorflow#24065",
            [](const OpensetProgram& program) { program.Write("d/cat/1.heic", "x"); }, {"data", "describe", "d"},
            {"no folder in it has images", "left out: cat (1 .heic)"}),
    Answers("ImagesInSubFolders", "keras-team/keras#4637",
            [](const OpensetProgram& program) { Put(program, "d/ant d/ant/day1 d/ant/day2 d/bee d/bee/day1", 3); },
            {"data", "describe", "d"},
            {"6 in all",
             "left out: images in sub-folders: 6 of ant, 3 of bee; only the images directly in a class's folder"}),
    Answers("ImagesInSubFoldersAreRead", "pytorch/vision#80",
            [](const OpensetProgram& program) { Put(program, "d/ant d/ant/day1 d/ant/day2/b d/bee d/bee/day1", 3); },
            {"data", "describe", "d", "--sub_folders"}, {"d: 2 classes, 12 in train, 3 in test, 15 in all"},
            {"left out"}),
    Refuses("TwoLevels", "pytorch/vision#80",
            [](const OpensetProgram& program) { Put(program, "d/animals/ant d/animals/bee d/plants/oak", 4); },
            {"data", "describe", "d"},
            {"no folder in it has images", "animals (8 images in sub-folders), plants (4 images in sub-folders)"}),
    Refuses("NoFoldersOfClasses", "huggingface/datasets#4015",
            [](const OpensetProgram& program) { Put(program, "flat", 6); }, {"data", "describe", "flat"},
            {"flat: its images are not in class folders: make one folder for each class", "--far="}),
    Answers(
        "AThirdPart", "ultralytics/ultralytics#13936",
        [](const OpensetProgram& program) {
          Put(program, "m/train/ant m/train/bee", 4);
          Put(program, "m/val/ant m/val/bee m/val/gnu m/test/ant m/test/bee m/more/ant", 1);
        },
        {"data", "describe", "m"},
        {"m: 2 classes, 8 in train, 2 in test, 2 in val\n", "left out: val/gnu (1 image, but no class has this name)\n",
         "left out: folders beside those of the parts: more (1 image)\n"}),
    Answers("APartLacksAClass", "huggingface/pytorch-image-models#957",
            [](const OpensetProgram& program) {
              Put(program, "d/train/ant d/train/bee d/train/cat", 4);
              Put(program, "d/val/ant d/val/bee", 2);
            },
            {"data", "describe", "d"}, {"hint: no image to test on: cat; a task has to leave such a class out\n"}),
    Answers("ADanglingFolder", "huggingface/datasets#5098",
            [](const OpensetProgram& program) {
              Put(program, "real/ant real/bee", 3);
              MakeFolder(program, "byclass");
              for (const std::string name : {"ant", "bee", "gone"}) Link(program, "../real/" + name, "byclass/" + name);
              Link(program, "..", "byclass/up");
            },
            {"data", "describe", "byclass"}, {"byclass: 2 classes", "left out: links to nothing: gone\n"}),
    Refuses("DamagedImages", "pytorch/vision#138",
            [](const OpensetProgram& program) {
              Put(program, "d/ant d/bee", 3);
              program.Write("d/ant/0.png", Stored("rgb.png").substr(0, 100));
              program.Write("d/bee/1.png", "<!DOCTYPE html>");
              program.Write("d/bee/2.png", "");
            },
            {"data", "describe", "d"}, {"ant/0.png", "bee/1.png", "bee/2.png", "3 images can't be decoded"}),
    Answers("AllImagesOfAClassAreDamaged", "lucidrains/stylegan2-pytorch#7",
            [](const OpensetProgram& program) {
              Put(program, "d/ant d/bee", 3);
              program.Write("d/cat/1.png", "");
              program.Write("d/cat/2.png", "no image");
            },
            {"data", "describe", "d", "--skip_damaged"},
            {"d: 2 classes", "left out: 2 corrupt images\n", "left out: class cat, all of whose images are corrupt\n"}),
    Answers("OneImageOfTwoWithItsNameIsDamaged", "Tencent/FaceDetection-DSFD#18",
            [](const OpensetProgram& program) {
              Put(program, "d/train/ant d/train/bee d/test/ant d/test/bee", 2);
              program.Write("d/train/ant/0.png", "");
            },
            {"data", "describe", "d", "--skip_damaged"}, {"3 in train, 4 in test", "left out: 1 corrupt image\n"}),
    Refuses("ANameOnTwoLines", "Alibaba-MIIL/ASL#26",
            [](const OpensetProgram& program) {
              Put(program, "d/ant", 3);
              program.Write("d/new\nline/1.png", Stored("rgb.png"));
            },
            {"data", "describe", "d"}, {"the name of the folder 'new line' has a control character in it", "rename it"},
            {"class_folder"}),
};

const std::vector<Situation> kTasks = {
    Answers("OthersAreUnknown", "huggingface/datasets#5532", Pets,
            {"task", "new", "t", "--data=pets", "--known=ant,bee", "--splits=1"},
            {"not used: dog (no image to test on)\n",
             "split 0: known: ant, bee (10 images to train on, 2 known and 2 unknown ones to test on)\n"}),
    Refuses("AClassWithOneImageIsUnknown", "huggingface/datasets#5532", Pets,
            {"task", "new", "t", "--data=pets", "--known=ant,bee", "--unknown=dog,elk"},
            {"split 0: unknown class dog has no image to test on in 'test' of data set 'pets': leave it out (unknown: "
             "elk), "
             "or "
             "add images"}),
    Refuses("AClassWithOneImageIsKnown", "davidsbatista/text-classification#1", Pets,
            {"task", "new", "t", "--data=pets", "--known=ant,dog"},
            {"split 0: known class dog has no image to test on", "leave it out (known: ant), or add images"}),
    Refuses("MoreFoldsThanImages", "v7labs/darwin-py#406", Pets,
            {"task", "new", "t", "--data=pets", "--known=ant,elk", "--folds=5", "--splits=1"},
            {"known class elk has no image to test on in 'train', 'test' of data set 'pets' (2 images in 5 folds)",
             "use fewer folds"}),
    Refuses("PlanNamesTheClass", "v7labs/darwin-py#406",
            [](const OpensetProgram& program) {
              Pets(program);
              program.Write("tasks/t.textproto", "name: 't' data_set: 'pets' split { known: [0, 1] unknown: [2, 3] }");
              program.Write(
                  "s.textproto",
                  "name: 's' task: 't' method: 'softmax+laptop' seed: 0 metric { accuracy {} } override { input { "
                  "size: 16 channels: 3 mean: [0.5, 0.5, 0.5] std: [0.2, 0.2, 0.2] } }");
            },
            {"plan", "s.textproto"}, {"unknown class dog has no image to test on"}),
    Answers("UnusedClasses", "ultralytics/ultralytics#13936", Pets,
            {"task", "new", "t", "--data=pets", "--known=ant", "--unknown=bee", "--splits=1"},
            {"not used: cat, elk (they are unknown if --unknown names them); dog (no image to test on)\n"}),
    Answers("TheTestHasMoreClasses", "huggingface/pytorch-image-models#957",
            [](const OpensetProgram& program) {
              OpenLayout(program);
              const ProgramResult described = program.Run({"data", "describe", "g"});
              EXPECT_THAT(described.err,
                          ::testing::HasSubstr("hint: no image to train on: fox; a task can only have such a "
                                               "class as an unknown one\n"));
            },
            {"task", "new", "t", "--data=g", "--known=ant,bee,cat", "--splits=1"},
            {"split 0: known: ant, bee, cat (12 images to train on, 6 known and 2 unknown ones to test on)\n"}),
    Answers("TheUsualOpenSetLayoutNeedsNoList", "huggingface/pytorch-image-models#957", OpenLayout,
            {"task", "new", "t", "--data=./g", "--splits=1"},
            {"split 0: known: ant, bee, cat (12 images to train on, 6 known and 2 unknown ones to test on)\n"}),
    Refuses("AClassOfTheTestOnlyIsKnown", "huggingface/pytorch-image-models#957", OpenLayout,
            {"task", "new", "t", "--data=./g", "--known=ant,fox", "--splits=1"},
            {"known class fox has no image to train on in 'train'"}),
    Answers(
        "AClassOfTheTestOnlyIsNotDrawn", "huggingface/pytorch-image-models#957", OpenLayout,
        {"task", "new", "t", "--data=./g", "--known=2", "--splits=3"},
        {"split 0: known: ", " (8 images to train on, 4 known and 4 unknown ones to test on)\n", "split 2: known: "}),
    Answers("UnknownImagesInAFolder", "huggingface/pytorch-image-models#211",
            [](const OpensetProgram& program) {
              Pets(program);
              for (int i = 0; i < 7; ++i) program.Write(absl::StrCat("my foxes/", i, ".png"), Stored("rgb.png"));
            },
            {"task", "new", "t", "--data=pets", "--known=ant,bee,cat", "--far=my foxes",
             "--splits=1"},  // Its images count as one class: 1 - sqrt(6 / 7).
            {"my_foxes: 7 images of 1 class, part all of folder:", "3 known and 7 unknown ones to test on",
             "openness 0.0741799\n",
             "not used: elk (they are unknown if --unknown names them); dog (no image to test on)\n"}),
    Answers("ADescribedFolderIsUnknownAsAWhole", "huggingface/pytorch-image-models#211",
            [](const OpensetProgram& program) {
              Pets(program);
              Put(program, "far/oak far/elm", 5);
              Describe(program, "far");
            },
            {"task", "new", "t", "--data=pets", "--known=ant,bee,cat", "--near=./far", "--splits=1"},
            {"far: 10 images of 2 classes, part all of far\n"}),
    Answers("AKnownClassAmongTheUnknownOnes", "huggingface/pytorch-image-models#211",
            [](const OpensetProgram& program) {
              Pets(program);
              Put(program, "far/ant far/elm", 5);
            },
            {"task", "new", "t", "--data=pets", "--known=ant,bee,cat", "--near=far", "--splits=1"},
            {"hint: unknown classes of far have the names of known ones: ant\n"}),
    Answers("TwoFormsOfAName", "renpy/renpy#2327",
            [](const OpensetProgram& program) { Put(program, "n/cafe\xcc\x81 n/caf\xc3\xa9 n/cat", 3); },
            {"data", "describe", "n"}, {"3 classes", "hint: two classes are called caf"}),
    Answers("ADecomposedName", "Garmelon/PFERD#141",
            [](const OpensetProgram& program) {
              Put(program, "n/cafe\xcc\x81 n/bee n/cat", 3);
              Describe(program, "n");
            },
            {"task", "new", "t", "--data=n", "--known=caf\xc3\xa9,bee", "--splits=1"},
            {"split 0: known: cafe\xcc\x81, bee"}),
    Refuses("ANameWithAComma", "Alibaba-MIIL/ASL#26",
            [](const OpensetProgram& program) {
              for (const char* name : {"n/big, dog/1.png", "n/big, dog/2.png", "n/cat/1.png", "n/cat/2.png"}) {
                program.Write(name, Stored("rgb.png"));
              }
              Describe(program, "n");
            },
            {"task", "new", "t", "--data=n", "--known=big, dog"},
            {"--known: unknown class 'big'", "for a name with a comma: --known=@FILE, with a name on each line"}),
    Answers("ANameWithACommaInAFile", "Alibaba-MIIL/ASL#26",
            [](const OpensetProgram& program) {
              for (const char* name : {"n/big, dog/1.png", "n/big, dog/2.png", "n/cat/1.png", "n/cat/2.png"}) {
                program.Write(name, Stored("rgb.png"));
              }
              Describe(program, "n");
              program.Write("known.txt",
                            "\xef\xbb\xbf"
                            "big, dog\r\n");
            },
            {"task", "new", "t", "--data=n", "--known=@known.txt", "--splits=1"}, {"split 0: known: big, dog ("}),
    Answers("AListFromWindows", "PolyU-VCLab/OpenOOD-VLM#3",
            [](const OpensetProgram& program) { List(program, "\xef\xbb\xbf", "\r\n"); },
            {"data", "verify", "listed", "--data=data", "--images"}, {"listed test: 4 images, as published"}),
    Refuses("AListWithBackslashes", "PolyU-VCLab/OpenOOD-VLM#5",
            [](const OpensetProgram& program) {
              List(program, "", "\n");
              program.Write("data/list.txt", "ant\\0.png 0\nant/1.png 0\nbee/0.png 1\nbee/1.png 1\n");
            },
            {"data", "verify", "listed", "--data=data"}, {"img/ant\\0.png: is listed in "}),
    Refuses("AMovedFolder", "Jingkang50/OpenOOD#121",
            [](const OpensetProgram& program) {
              Put(program, "pets/ant pets/bee", 3);
              Describe(program, "pets");
              std::filesystem::rename(program.folder() + "/pets", program.folder() + "/animals");
            },
            {"data", "verify", "pets"},
            {"data set 'pets': there is no folder ",
             "/pets; if it was moved, write its new path into catalog/pets.textproto"},
            {"data folders"}),
    Refuses(
        "AChangedImage", "huggingface/datasets#2887",
        [](const OpensetProgram& program) {
          Put(program, "pets/ant pets/bee", 3);
          Describe(program, "pets");
          program.Write("pets/ant/0.png", Stored("grey.png"));
        },
        {"data", "verify", "pets"},
        {"its images have changed: bring the old ones back, or remove catalog/pets.textproto and describe the folder "
         "again"},
        {"fetch"}),
};

INSTANTIATE_TEST_SUITE_P(Folders, PeopleTest, ::testing::ValuesIn(kFolders), NameOfSituation);
INSTANTIATE_TEST_SUITE_P(Tasks, PeopleTest, ::testing::ValuesIn(kTasks), NameOfSituation);

}  // namespace
}  // namespace openset
