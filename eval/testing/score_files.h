// Small files of scores, for tests.
#ifndef OPENSET_EVAL_TESTING_SCORE_FILES_H_
#define OPENSET_EVAL_TESTING_SCORE_FILES_H_

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "core/files/formats/npz.h"
#include "eval/files/sample_set.h"
#include "gtest/gtest.h"

namespace openset {

inline NpyArray Reals(std::vector<double> values) { return MakeNpy(values, {static_cast<int64_t>(values.size())}); }
inline NpyArray Wholes(std::vector<int64_t> values) { return MakeNpy(values, {static_cast<int64_t>(values.size())}); }
inline NpyArray Matrix(std::vector<float> values, int64_t columns) {
  return MakeNpy(values, {static_cast<int64_t>(values.size()) / columns, columns});
}

inline std::string Path(const std::string& name) { return testing::TempDir() + "/" + name; }

inline std::string WriteArrays(const std::string& name, const NpzArrays& arrays) {
  EXPECT_TRUE(WriteNpz(Path(name), arrays).ok());
  return Path(name);
}

inline std::string WriteText(const std::string& name, const std::string& text) {
  std::ofstream(Path(name), std::ios::binary | std::ios::trunc) << text;  // without the sync of core/files
  return Path(name);
}

// The error's text without the folder, "" for none.
inline std::string ErrorOf(const std::vector<std::string>& files, const SetRoles& roles = {}) {
  std::string message(ReadSampleSet(files, roles).status().message());
  for (size_t at; (at = message.find(testing::TempDir())) != std::string::npos;) {
    message.erase(at, testing::TempDir().size() + 1);
  }
  return message;
}

inline NpzArrays Scores() {
  return {{"label", Wholes({0, 1, -1})}, {"prediction", Wholes({0, 0, 2})}, {"unknown_score", Reals({0.1, 0.2, 0.3})}};
}

inline NpzArrays With(NpzArrays arrays, const std::string& name, const NpyArray& array) {
  arrays[name] = array;
  return arrays;
}

}  // namespace openset

#endif  // OPENSET_EVAL_TESTING_SCORE_FILES_H_
