#include "data/readers/image_list.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "core/proto/proto_rules.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "data/testing/damage.h"

namespace openset {
namespace {

class ImageListTest : public ::testing::Test {
 protected:
  // `text`: the content of the list; `format`: fields of ImageListFiles.
  absl::StatusOr<std::shared_ptr<const ImageSource>> Open(const std::string& text, const std::string& format,
                                                          const std::string& table = "",
                                                          const std::string& clusters = "") {
    const ImageListFiles files = ParsedWithDefaults<ImageListFiles>(format);
    const std::string list = WriteTestFile("list.txt", text);
    const std::string part_table = table.empty() ? "" : WriteTestFile("table.txt", table);
    const std::string cluster_table = clusters.empty() ? "" : WriteTestFile("clusters.csv", clusters);
    return OpenImageList("root", {list}, part_table, cluster_table, files, {"cat", "dog", "owl"}, {3, 0, 0}, "train");
  }

  std::vector<std::string> Paths(const ImageSource& source) {
    std::vector<std::string> paths;
    for (int64_t i = 0; i < source.index().size(); ++i) paths.push_back(source.Describe(i));
    return paths;
  }
};

// The lists of OpenOOD and Places365: a path, a number.
TEST_F(ImageListTest, ClassesByNumber) {
  ASSERT_OK_AND_ASSIGN(const auto source, Open("b/2.jpg 2\n/a/1.jpg 0\r\n\n", ""));
  EXPECT_THAT(source->index().label, ElementsAre(2, 0));
  EXPECT_THAT(source->index().group_name, ElementsAre("train"));
  EXPECT_THAT(Paths(*source), ElementsAre("root/b/2.jpg", "root/a/1.jpg"));
  ASSERT_OK_AND_ASSIGN(const auto from_one, Open("1 b.jpg 3", "path_column: 1 class_column: 2 first_class: 1"));
  EXPECT_THAT(from_one->index().label, ElementsAre(2));
  for (const char* number : {"0", "4", "-9223372036854775808", "9223372036854775807"}) {
    for (const char* first : {"1", "-2147483648", "2147483647"}) {
      EXPECT_THAT(Open(absl::StrCat("b.jpg ", number), absl::StrCat("first_class: ", first)),
                  IsDataLoss(absl::StrCat("list.txt:1: '", number, "' is not a class (", first, " to ")));
    }
  }
}

// val_annotations.txt of TinyImageNet: tabs, a class's name, a box.
TEST_F(ImageListTest, ClassesByName) {
  ASSERT_OK_AND_ASSIGN(const auto source,
                       Open("val 0.JPEG\towl\t0\t32\t44\t62\nval_1.JPEG\tcat\t52\t55\t57\t59\n", "class_by: NAME"));
  EXPECT_THAT(source->index().label, ElementsAre(2, 0));
  EXPECT_THAT(Paths(*source), ElementsAre("root/val 0.JPEG", "root/val_1.JPEG"));
}

// images_variant_test.txt of FGVC-Aircraft: names without an extension; class names may have blanks.
TEST_F(ImageListTest, ClassesByTheRestOfTheLine) {
  ImageListFiles files;
  files.set_class_by(ImageListFiles::NAME);
  files.set_class_to_line_end(true);
  files.set_path_suffix(".jpg");
  FillDefaults(&files);
  const auto open = [&](const std::string& text) {
    return OpenImageList("root", {WriteTestFile("list.txt", text)}, "", "", files, {"DC-3", "Cessna 172", "F/A-18"},
                         {3, 0, 0}, "test");
  };
  ASSERT_OK_AND_ASSIGN(const auto source, open("0062781 F/A-18\n0056978 Cessna 172\r\n0062765 DC-3"));
  EXPECT_THAT(source->index().label, ElementsAre(2, 1, 0));
  EXPECT_THAT(Paths(*source), ElementsAre("root/0062781.jpg", "root/0056978.jpg", "root/0062765.jpg"));
  EXPECT_THAT(open("1 Cessna"), IsDataLoss(":1: there is no class 'Cessna'"));
  EXPECT_THAT(open("1 DC-3\n2"), IsDataLoss(":2: has 1 columns"));
}

// The lists of DTD.
TEST_F(ImageListTest, ClassesByFolder) {
  ASSERT_OK_AND_ASSIGN(const auto source, Open("dog/1.jpg\ntop/owl/2.jpg\n", "class_by: FOLDER"));
  EXPECT_THAT(source->index().label, ElementsAre(1, 2));
  EXPECT_THAT(Open("1.jpg", "class_by: FOLDER"), IsDataLoss("list.txt:1: there is no class ''"));
}

// meta/test.txt of Food-101.
TEST_F(ImageListTest, NamesWithoutExtension) {
  ASSERT_OK_AND_ASSIGN(const auto source, Open("dog/1\n", "class_by: FOLDER path_suffix: '.jpg'"));
  EXPECT_THAT(Paths(*source), ElementsAre("root/dog/1.jpg"));
}

TEST_F(ImageListTest, OneClassForAll) {
  ASSERT_OK_AND_ASSIGN(const auto source, Open("x/1.jpg -1\ny/2.jpg -1", "class_by: ONLY_CLASS"));
  EXPECT_THAT(source->index().label, ElementsAre(0, 0));
}

// images.txt and train_test_split.txt of CUB.
TEST_F(ImageListTest, TakesTheLinesOfAPart) {
  const std::string format = "path_column: 1 class_by: FOLDER part_table { path: '-' } part_value: '0'";
  ASSERT_OK_AND_ASSIGN(const auto source, Open("1 cat/1.jpg\n2 dog/2.jpg\n3 dog/3.jpg\n", format, "1 0\n2 1\n3 0\n"));
  EXPECT_THAT(Paths(*source), ElementsAre("root/cat/1.jpg", "root/dog/3.jpg"));
  EXPECT_THAT(Open("1 cat/1.jpg\n4 dog/2.jpg\n", format, "1 0\n2 1\n"), IsDataLoss("list.txt:2: '4' has no line in "));
  EXPECT_THAT(Open("1 cat/1.jpg\n", format, "1 0\n1 1\n"), IsDataLoss("table.txt:2: has '1' again"));
  EXPECT_THAT(Open("1 cat/1.jpg\n", format, "1\n"), IsDataLoss("table.txt:1: has 1 columns, not 2"));
}

// The third column is a video; the number of a video is the same in every list.
TEST_F(ImageListTest, ClustersByColumn) {
  ASSERT_OK_AND_ASSIGN(const auto source, Open("a/1.jpg 0 v7\na/2.jpg 1 v3\nb/3.jpg 1 v7\n", "cluster_column: 2"));
  const std::vector<int64_t> cluster = source->index().cluster;
  ASSERT_EQ(cluster.size(), 3);
  EXPECT_EQ(cluster[0], cluster[2]);
  EXPECT_NE(cluster[0], cluster[1]);
  EXPECT_GE(std::min(cluster[0], cluster[1]), 0);
  EXPECT_THAT((*Open("c/1.jpg 2 v3\n", "cluster_column: 2"))->index().cluster, ElementsAre(cluster[1]));
  EXPECT_THAT((*Open("c/1.jpg 2 v3\n", ""))->index().cluster, ElementsAre());
  EXPECT_THAT(Open("a.jpg 0 v7\nb.jpg 0", "cluster_column: 2"),
              IsDataLoss("list.txt:2: has 2 columns where 3 are needed"));
  EXPECT_THAT(Open("a.jpg\t\t0", "cluster_column: 1 class_column: 2"),
              IsDataLoss("list.txt:1: the image has no cluster"));
}

// A table as `openset data audit` writes it.
TEST_F(ImageListTest, ClustersByTable) {
  const std::string table = "cluster,set,image\n0,train,root/a/1.jpg\n1,train,root/a/2.jpg\n0,test,root/b/3.jpg\n";
  ASSERT_OK_AND_ASSIGN(const auto source,
                       Open("b/3 1\na/1 0\na/2 1\n", "path_suffix: '.jpg' clusters { path: '-' }", "", table));
  EXPECT_THAT(source->index().cluster, ElementsAre(0, 0, 1));
  EXPECT_THAT(
      Open("b/4.jpg 1\n", "clusters { path: '-' }", "", table),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr("clusters.csv: has no line for the image 'b/4.jpg' of "), HasSubstr("list.txt:1"))));
}

TEST_F(ImageListTest, ErrorsNameTheLine) {
  const auto code = absl::StatusCode::kDataLoss;
  EXPECT_THAT(Open("a.jpg 0\nb.jpg 3", ""), StatusIs(code, HasSubstr("list.txt:2: '3' is not a class (0 to 2)")));
  EXPECT_THAT(Open("a.jpg -1", ""), StatusIs(code, HasSubstr("'-1' is not a class")));
  EXPECT_THAT(Open("a.jpg x", ""), StatusIs(code, HasSubstr("'x' is not a class")));
  EXPECT_THAT(Open("a.jpg", ""), StatusIs(code, HasSubstr("list.txt:1: has 1 columns where 2 are needed")));
  EXPECT_THAT(Open("../a.jpg 0", ""), StatusIs(code, HasSubstr("list.txt:1: the path '../a.jpg' has '..' in it")));
  EXPECT_THAT(Open("a/../../b.jpg 0", ""), StatusIs(code, HasSubstr("has '..' in it")));
  EXPECT_THAT(Open("a.jpg 0\n//etc/passwd 0", ""),
              StatusIs(code, HasSubstr("list.txt:2: the path '/etc/passwd' begins with '/'")));
  EXPECT_THAT(Open(std::string("a\0.jpg 0", 9), ""),
              StatusIs(code, HasSubstr("list.txt:1: the path 'a .jpg' has a control")));
  EXPECT_THAT(Open("/ 0", ""), StatusIs(code, HasSubstr("is empty")));
  EXPECT_THAT(Open("a 0", "path_suffix: '/../../b'"), StatusIs(code, HasSubstr("has '..' in it")));
  EXPECT_THAT(Open("fox\t0", "class_by: NAME class_column: 0 path_column: 1"),
              StatusIs(code, HasSubstr("there is no class 'fox'")));
}

}  // namespace
}  // namespace openset
