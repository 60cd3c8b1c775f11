#include "data/testing/damage.h"

#include <filesystem>
#include <fstream>

#include "core/files/files.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

void Overwrite(const std::string& path, const std::string& content) {
  // ext4 flushes a file that is truncated to nothing and written again, which takes milliseconds.
  std::filesystem::remove(path);
  std::ofstream file(path, std::ios::binary | std::ios::trunc);
  file << content;
}

}  // namespace

std::string WriteTestFile(const std::string& name, const std::string& content) {
  const std::string path = JoinPath(::testing::TempDir(), name);
  std::filesystem::create_directories(std::filesystem::path(path).parent_path());
  Overwrite(path, content);
  return path;
}

DamageReport ReadDamaged(const std::string& path, const std::string& content,
                         const std::function<absl::StatusOr<ImageSet>()>& read) {
  DamageReport report;
  const auto try_copy = [&](const std::string& copy) {
    Overwrite(path, copy);
    const absl::StatusOr<ImageSet> set = read();
    ++report.copies;
    if (!set.ok()) {
      ++(absl::IsDataLoss(set.status()) ? report.refused : report.other_error);
    } else if (set->size() == 0 || set->pixels.size() != set->size() * set->image_bytes()) {
      ++report.broken;
    }
  };
  for (size_t i = 0; i < content.size(); ++i) {
    try_copy(content.substr(0, i));
    for (const int flip : {0x01, 0x80, 0xff}) {
      std::string copy = content;
      copy[i] = static_cast<char>(copy[i] ^ flip);
      try_copy(copy);
    }
  }
  Overwrite(path, content);
  return report;
}

}  // namespace openset
