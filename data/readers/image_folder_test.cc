#include "data/readers/image_folder.h"

#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "core/files/digest.h"
#include "core/files/file_state.h"
#include "core/files/files.h"
#include "core/testing/status_matchers.h"
#include "data/testing/damage.h"

namespace openset {
namespace {

class FolderListingTest : public ::testing::Test {
 protected:
  FolderListingTest() {
    std::filesystem::remove_all(root_);
    std::filesystem::remove_all(memory_);
    for (const char* name : {"cat/b.png", "cat/a.JPG", "cat/.c.png", "cat/README", "cat/d.webp.txt", "dog/1.jpeg"}) {
      Put(name);
    }
  }

  void Put(const std::string& name) { WriteTestFile(absl::StrCat("listed/", name), ""); }
  ListingMemory Memory(int64_t min_images = 1) { return ListingMemory(memory_, min_images); }
  // Returns the names in `folder`, from the memory if it is valid.
  std::vector<std::string> Names(const std::string& folder) {
    const auto listing = Memory().List(root_, {"cat", "dog"});
    EXPECT_THAT(listing, IsOk());
    const auto names = listing->images[folder == "cat" ? 0 : 1].Split();
    return {names.begin(), names.end()};
  }
  std::vector<std::string> Entries() { return ListFolder(memory_).value_or(std::vector<std::string>{}); }
  // Waits until the folders are old enough to be remembered: the times of an inode can't be set back.
  void Settle() {
    for (const char* folder : {"/cat", "/dog"}) {
      struct stat info;
      ASSERT_EQ(stat((root_ + folder).c_str(), &info), 0);
      while (std::time(nullptr) < info.st_ctim.tv_sec + FileState::kSettled) usleep(20000);
    }
  }

  const std::string root_ = JoinPath(::testing::TempDir(), "listed");
  const std::string memory_ = JoinPath(::testing::TempDir(), "memory");
};

TEST_F(FolderListingTest, ListsImagesInOrder) {
  ASSERT_OK_AND_ASSIGN(const auto listing, ListingMemory("").List(root_, {"dog", "cat", "cow"}));
  EXPECT_EQ(listing.root, root_);
  EXPECT_THAT(listing.images[0].Split(), ElementsAre("1.jpeg"));
  EXPECT_THAT(listing.images[1].Split(), ElementsAre("a.JPG", "b.png"));
  EXPECT_EQ(listing.images[1].count, 2);
  EXPECT_TRUE(listing.images[1].is_there);
  EXPECT_FALSE(listing.images[2].is_there);
  EXPECT_THAT(listing.images[2].Split(), IsEmpty());
}

// Any change of a folder invalidates its remembered listing.
TEST_F(FolderListingTest, RemembersSettledFolders) {
  EXPECT_THAT(Names("cat"), ElementsAre("a.JPG", "b.png"));
  EXPECT_THAT(Entries(), IsEmpty()) << "too new";
  Settle();
  EXPECT_THAT(Names("cat"), ElementsAre("a.JPG", "b.png"));
  ASSERT_THAT(Entries(), SizeIs(1));
  const std::string entry = JoinPath(memory_, Entries()[0]), content = *ReadFile(entry);
  EXPECT_NE(content.find(std::string("a.JPG\0b.png\0", 12)), std::string::npos);

  Put("cat/e.png");
  EXPECT_THAT(Names("cat"), ElementsAre("a.JPG", "b.png", "e.png"));
  std::filesystem::rename(root_ + "/cat/e.png", root_ + "/cat/f.png");
  EXPECT_THAT(Names("cat"), ElementsAre("a.JPG", "b.png", "f.png"));
  std::filesystem::remove(root_ + "/cat/f.png");
  EXPECT_THAT(Names("cat"), ElementsAre("a.JPG", "b.png"));
  EXPECT_EQ(*ReadFile(entry), content) << "dog has not changed, cat is too new";
  Settle();
  EXPECT_THAT(Names("cat"), ElementsAre("a.JPG", "b.png"));
  EXPECT_NE(*ReadFile(entry), content);

  // Replaces a folder by another one.
  std::filesystem::rename(root_ + "/dog", root_ + "/was_dog");
  Put("dog/2.png");
  EXPECT_THAT(Names("dog"), ElementsAre("2.png"));
  std::filesystem::remove_all(root_ + "/dog");
  EXPECT_THAT(Names("dog"), IsEmpty());
}

// A wrong name in the memory shows that the folder was not listed.
TEST_F(FolderListingTest, DoesNotListARememberedFolder) {
  Settle();
  EXPECT_THAT(Names("dog"), ElementsAre("1.jpeg"));
  const std::string entry = Entries().at(0), content = *ReadFile(JoinPath(memory_, entry));
  std::string forged = content.substr(content.find('\n') + 1);
  forged.replace(forged.find("1.jpeg"), 6, "9.jpeg");
  const uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(forged.data()), forged.size());
  WriteTestFile("memory/" + entry, absl::StrCat("openset image names 2 ", sum, "\n", forged));
  EXPECT_THAT(Names("dog"), ElementsAre("9.jpeg"));
  EXPECT_THAT(Names("cat"), ElementsAre("a.JPG", "b.png"));
  Put("dog/2.png");
  EXPECT_THAT(Names("dog"), ElementsAre("1.jpeg", "2.png"));
}

// 4.6 MB, whose checksum is computed in two pieces.
TEST_F(FolderListingTest, RemembersManyNames) {
  for (int i = 0; i < 22000; ++i) Put(absl::StrCat("cat/", std::string(200, 'x'), i, ".png"));
  Settle();
  EXPECT_THAT(Names("cat"), SizeIs(22002));
  const std::string content = *ReadFile(JoinPath(memory_, Entries().at(0)));
  const size_t begin = content.find('\n') + 1;
  const uLong sum = crc32_z(0, reinterpret_cast<const Bytef*>(&content[begin]), content.size() - begin);
  EXPECT_EQ(content.substr(0, begin), absl::StrCat("openset image names 2 ", sum, "\n"));
  EXPECT_GT(content.size(), 1 << 22);
  EXPECT_THAT(Names("cat"), SizeIs(22002));
}

TEST_F(FolderListingTest, IgnoresCorruptMemories) {
  Settle();
  Names("cat");
  const std::string name = Entries().at(0), content = *ReadFile(JoinPath(memory_, name));
  for (size_t at = 0; at < content.size(); ++at) {
    std::string damaged = content;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x20);
    WriteTestFile("memory/" + name, damaged);
    EXPECT_THAT(Names("cat"), ElementsAre("a.JPG", "b.png")) << at;
    WriteTestFile("memory/" + name, content.substr(0, at));
    EXPECT_THAT(Names("dog"), ElementsAre("1.jpeg")) << at;
  }
}

TEST_F(FolderListingTest, FewImagesAreNotRemembered) {
  Settle();
  EXPECT_THAT(Memory(/*min_images=*/4).List(root_, {"cat", "dog"}), IsOk());
  EXPECT_THAT(Entries(), IsEmpty());
  EXPECT_THAT(Memory(/*min_images=*/3).List(root_, {"cat", "dog"}), IsOk());
  EXPECT_THAT(Entries(), SizeIs(1));
}

class ImageFolderTest : public ::testing::Test {
 protected:
  ImageFolderTest() {
    std::filesystem::remove_all(root_);
    Put("cat/b.png", "grey.png");
    Put("cat/a.JPG", "rgb.jpg");
    Put("dog/1.webp", "lossless.webp");
    Put("dog/10.png", "rgb.png");
    Put("dog/2.jpeg", "grey.jpg");
    WriteTestFile("folder/cat/.hidden.png", "");
    WriteTestFile("folder/cat/README", "");
  }

  void Put(const std::string& name, const std::string& file) {
    WriteTestFile(JoinPath("folder", name), *ReadFile(JoinPath("data/readers/testdata", file)));
  }
  absl::StatusOr<std::shared_ptr<const ImageSource>> Open(const ImageShape& shape) {
    return OpenImageFolder(root_, {"dog", "cat"}, shape, "train");
  }

  const std::string root_ = JoinPath(::testing::TempDir(), "folder");
};

TEST_F(ImageFolderTest, ListsByClassAndName) {
  const auto source = *Open({3, 0, 0});
  EXPECT_THAT(source->index().label, ElementsAre(0, 0, 0, 1, 1));
  EXPECT_THAT(source->index().group_name, ElementsAre("train"));
  EXPECT_EQ(source->shape().bytes(), 0);
  // 1.webp, 10.png, 2.jpeg, a.JPG, b.png, of the sizes in make_image_golden.py.
  const std::vector<Image> images = *source->Read({4, 0, 2, 2});
  ASSERT_EQ(images.size(), 4);
  EXPECT_EQ(images[0].height, 9);
  EXPECT_EQ(images[1].width, 22);
  EXPECT_EQ(images[2].height, 9);
  EXPECT_EQ(images[3].pixels, images[2].pixels);
  EXPECT_EQ(images[0].pixels.size(), 3 * 9 * 14);
  EXPECT_EQ((*(*Open({1, 0, 0}))->Read({0}))[0].pixels.size(), 17 * 22);
}

TEST_F(ImageFolderTest, ErrorsNameTheFile) {
  const std::string gone = JoinPath(root_, "dog/10.png");
  const auto source = *Open({3, 0, 0});
  std::filesystem::remove(gone);
  EXPECT_EQ(source->Read({0, 1}).status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(source->Read({0, 1}).status().message()), HasSubstr(gone));
  WriteTestFile("folder/dog/10.png", "no image");
  EXPECT_EQ(
      source->Read({1}).status(),
      absl::DataLossError(absl::StrCat(gone, ": not a PNG, JPEG, WebP, TIFF, GIF, BMP or PNM image, at byte 0 of 8")));
  EXPECT_TRUE(source->Read({0, 2, 3, 4}).ok());
  EXPECT_EQ(OpenImageFolder(root_, {"cow"}, {3, 0, 0}, "train").status().code(), absl::StatusCode::kNotFound);
}

TEST_F(ImageFolderTest, RefusesImagesOfAnotherSize) {
  const auto source = *Open({3, 17, 22});
  EXPECT_EQ(source->shape().bytes(), 3 * 17 * 22);
  EXPECT_TRUE(source->Read({0, 1, 3}).ok());
  EXPECT_EQ(source->Read({2}).status(),
            absl::DataLossError(
                absl::StrCat(JoinPath(root_, "dog/2.jpeg"), ": is 14 x 9 pixels, not 22 x 17 as the catalog says")));
}

TEST_F(ImageFolderTest, ReadsManyInOrder) {
  const auto source = *Open({3, 0, 0});
  std::vector<int64_t> samples;
  for (int64_t i = 0; i < 500; ++i) samples.push_back(i % 5);
  const std::vector<Image> images = *source->Read(samples);
  for (int64_t i = 0; i < 500; ++i) EXPECT_EQ(images[i].pixels, images[i % 5].pixels);
}

TEST_F(ImageFolderTest, TheDigestDetectsMissingNewAndTruncatedFiles) {
  const auto size = [](const std::string& file) { return ReadFile(JoinPath("data/readers/testdata", file))->size(); };
  const std::string digest = *ListingDigest(root_, {"cat"});
  EXPECT_EQ(digest, Sha256Hex(absl::StrCat("cat/a.JPG ", size("rgb.jpg"), "\ncat/b.png ", size("grey.png"), "\n")));
  WriteTestFile("folder/cat/b.png", "x");
  EXPECT_NE(*ListingDigest(root_, {"cat"}), digest);
  Put("cat/b.png", "grey.png");
  EXPECT_EQ(*ListingDigest(root_, {"cat"}), digest);
  Put("cat/c.png", "grey.png");
  EXPECT_NE(*ListingDigest(root_, {"cat"}), digest);
  const std::string three = *ListingDigest(root_, {"cat"});
  std::filesystem::create_symlink("nowhere.png", JoinPath(root_, "cat/0.png"));
  EXPECT_THAT(std::string(ListingDigest(root_, {"cat"}).status().message()),
              HasSubstr(JoinPath(root_, "cat/0.png") + ": is a link to nothing; repair or remove it"));
  const FolderListing listing = *ListingMemory("").List(root_, {"cat"});
  EXPECT_THAT(LinksToNothing(listing), testing::ElementsAre("cat/0.png"));
  EXPECT_NE(*ListingDigest(root_, {"cat"}, false, {"cat/0.png"}), three);
  std::filesystem::remove(JoinPath(root_, "cat/0.png"));
  EXPECT_EQ(*ListingDigest(root_, {"cat"}, false, {"cat/0.png"}), three);
  // It is there, but can't be looked at.
  std::filesystem::create_symlink("d.png", JoinPath(root_, "cat/d.png"));
  EXPECT_THAT(ListingDigest(root_, {"cat"}), IsDataLoss("cannot look at " + JoinPath(root_, "cat/d.png")));
}

TEST_F(ImageFolderTest, LeavesOutSkippedFiles) {
  ImageFolderOptions options;
  options.skip = {"dog/10.png", "cat/a.JPG"};
  const auto source = *OpenImageFolder(root_, {"dog", "cat"}, {3, 0, 0}, "train", options);
  EXPECT_THAT(source->index().label, ElementsAre(0, 0, 1));
  EXPECT_EQ(source->Describe(1), JoinPath(root_, "dog/2.jpeg"));
  options.skip.insert("dog/11.png");
  EXPECT_EQ(OpenImageFolder(root_, {"dog", "cat"}, {3, 0, 0}, "train", options).status(),
            absl::NotFoundError(JoinPath(root_, "dog/11.png") + ": is listed in skip, but does not exist"));
}

TEST_F(ImageFolderTest, ReadsTheFirstOfEachClass) {
  ImageFolderOptions options;
  options.first_per_class = 1;
  const auto source = *OpenImageFolder(root_, {"dog", "cat"}, {3, 0, 0}, "train", options);
  EXPECT_THAT(source->index().label, ElementsAre(0, 1));
  EXPECT_EQ(source->Describe(0), JoinPath(root_, "dog/1.webp"));
}

TEST_F(ImageFolderTest, AnEmptyClassNeedsNoFolder) {
  const auto source = *OpenImageFolder(root_, {"cow", "cat"}, {3, 0, 0}, "train", {}, {true, false});
  EXPECT_THAT(source->index().label, ElementsAre(1, 1));
}

// The two shares are all images, each once, and agree for all folders of one name.
TEST_F(ImageFolderTest, SharesAreDisjointAndExhaustive) {
  for (int64_t n = 0; n < 40; ++n) {
    const auto test = PlacesOfShare({7, 0.2, true}, "cat", n);
    const auto train = PlacesOfShare({7, 0.2, false}, "cat", n);
    // round(n / 5), half up, at least 1 and at most n - 1.
    EXPECT_EQ(test.size(), n < 2 ? 0 : std::max<int64_t>(1, (2 * n + 5) / 10)) << n;
    std::vector<int64_t> all(train);
    all.insert(all.end(), test.begin(), test.end());
    std::sort(all.begin(), all.end());
    ASSERT_EQ(all.size(), n);
    for (int64_t i = 0; i < n; ++i) EXPECT_EQ(all[i], i);
    EXPECT_TRUE(std::is_sorted(train.begin(), train.end()));
  }
  EXPECT_NE(PlacesOfShare({7, 0.2, true}, "cat", 40), PlacesOfShare({7, 0.2, true}, "dog", 40));
  EXPECT_NE(PlacesOfShare({7, 0.2, true}, "cat", 40), PlacesOfShare({8, 0.2, true}, "cat", 40));
}

TEST_F(ImageFolderTest, ReadsAShare) {
  ImageFolderOptions options;
  options.share = {0, 0.5, true};
  const auto source = *OpenImageFolder(root_, {"dog", "cat"}, {3, 0, 0}, "test", options);
  EXPECT_THAT(source->index().label, ElementsAre(0, 0, 1));  // round(1.5) and 1
}

// Three clusters of two images each of class a, and one that class b shares: a fifth of 6 is 1 image, so one cluster.
TEST(ClusterShare, KeepsClustersWhole) {
  for (uint64_t seed = 0; seed < 20; ++seed) {
    ClusterShare share({seed, 0.2, false});
    const std::vector<bool> a = share.AddClass("a", {0, 0, 1, 1, 2, 2});
    EXPECT_EQ(std::count(a.begin(), a.end(), true), 2);
    for (int i = 0; i < 6; i += 2) EXPECT_EQ(a[i], a[i + 1]);
    // Class b has a fifth of 5: 1 image. If its first two are test images already, no more are drawn.
    const std::vector<bool> b = share.AddClass("b", {1, 1, 3, 4, 5});
    EXPECT_EQ(b[0], a[2]);
    EXPECT_EQ(b[1], a[2]);
    EXPECT_EQ(std::count(b.begin(), b.end(), true), a[2] ? 2 : 1);
  }
}

TEST_F(ImageFolderTest, ClustersStayInOneShare) {
  ImageFolderOptions options;
  const std::vector<std::string> names = {"dog/1.webp", "dog/10.png", "dog/2.jpeg", "cat/a.JPG", "cat/b.png"};
  for (size_t i = 0; i < names.size(); ++i) options.clusters[names[i]] = static_cast<int64_t>(i / 2);
  std::map<int64_t, std::set<bool>> shares;
  int64_t images = 0;
  for (const bool test : {false, true}) {
    options.share = {3, 0.5, test};
    const auto source = *OpenImageFolder(root_, {"dog", "cat"}, {3, 0, 0}, "x", options);
    images += source->index().size();
    for (int64_t i = 0; i < source->index().size(); ++i) {
      const std::string path = source->Describe(i).substr(root_.size() + 1);
      EXPECT_EQ(source->index().cluster[i], options.clusters.at(path));
      shares[source->index().cluster[i]].insert(test);
    }
  }
  EXPECT_EQ(images, static_cast<int64_t>(names.size()));
  for (const auto& [cluster, of] : shares) EXPECT_THAT(of, SizeIs(1)) << cluster;
  options.clusters.erase(names[0]);
  EXPECT_THAT(OpenImageFolder(root_, {"dog", "cat"}, {3, 0, 0}, "x", options).status().message(),
              ::testing::HasSubstr(absl::StrCat(names[0], ": the table of clusters has no line for this image")));
}

TEST(ReadImageClusters, ReadsATable) {
  const auto read = [](const std::string& text) {
    WriteTestFile("clusters.csv", text);
    return ReadImageClusters(JoinPath(::testing::TempDir(), "clusters.csv"), "/data/photos");
  };
  ASSERT_OK_AND_ASSIGN(
      const auto clusters,
      read("cluster,set,image\nsun,train,/data/photos/a/1.png\nmoon,test,a/2.png\nsun,x,/else/3.png\n"));
  EXPECT_EQ(clusters, (ImageClusters{{"a/1.png", 1}, {"a/2.png", 0}}));
  EXPECT_THAT(read("cluster,file\n1,a\n").status().message(),
              ::testing::HasSubstr("clusters.csv: line 1: needs the columns 'image' and 'cluster'"));
  EXPECT_THAT(read("image,cluster\na/1.png,\n").status().message(), ::testing::HasSubstr("line 2: the image has no"));
  EXPECT_THAT(read("image,cluster\na/1.png,x\n/data/photos/a/1.png,y\n").status().message(),
              ::testing::HasSubstr("line 3: the image 'a/1.png' is in cluster 'x', too"));
  EXPECT_THAT(read("image,cluster\na\n").status().message(), ::testing::HasSubstr("line 2: has 1 cells"));
}

}  // namespace
}  // namespace openset
