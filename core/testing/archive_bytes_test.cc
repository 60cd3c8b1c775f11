#include "core/testing/archive_bytes.h"

#include "core/files/files.h"
#include "core/files/formats/zip_reader.h"
#include "core/testing/status_matchers.h"

namespace openset {
namespace {

std::string Written(const std::string& name, const std::string& bytes) {
  const std::string path = JoinPath(::testing::TempDir(), name);
  EXPECT_TRUE(WriteFileAtomically(path, bytes).ok());
  return path;
}

TEST(ZipBytes, AreRead) {
  const std::string path =
      Written("a.zip", ZipBytes({{"b", "stored"}, {"a", "packed ", true, 0100644, -1, 3}}, "comment"));
  ASSERT_OK_AND_ASSIGN(ZipReader zip, ZipReader::Open(path));
  EXPECT_THAT(zip.Names(), ElementsAre("a", "b"));
  EXPECT_EQ(zip.Read("b").value(), "stored");
  EXPECT_EQ(zip.Read("a").value(), "packed packed packed ");
}

}  // namespace
}  // namespace openset
