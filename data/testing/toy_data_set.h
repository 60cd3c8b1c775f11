// A small catalog entry for tests, in two forms.
#ifndef OPENSET_DATA_TESTING_TOY_DATA_SET_H_
#define OPENSET_DATA_TESTING_TOY_DATA_SET_H_

#include <string>

#include "absl/strings/str_cat.h"
#include "core/testing/parsed.h"
#include "data/catalog.pb.h"

namespace openset {

// Two SHA-256, in hexadecimal.
inline constexpr char kSum[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
inline constexpr char kOtherSum[] = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";

// Two classes of 2 x 1 x 1 images: 3 + 1 in "train", 2 + 2 in "test".
inline constexpr char kToy[] = R"(
  name: "toy"
  class_name: "a"
  class_name: "b"
  channels: 2
  height: 1
  width: 1
  layout {
    part {
      name: "train"
      samples: 4
      samples_per_class: 3
      samples_per_class: 1
      cifar_binary { file { path: "toy/train.bin" } }
    }
    part {
      name: "test"
      samples: 4
      samples_per_class: 2
      cifar_binary { file { path: "toy/test.bin" } }
    }
  }
)";

// The toy data set with a part that is an image folder.
inline std::string FolderToy(const std::string& sizes, const std::string& more) {
  return absl::StrCat("name: 'toy' class_name: 'a' class_name: 'b' ", sizes,
                      " layout { part { name: 'train' samples: 4 samples_per_class: 2 image_folder { path: 'toy' ",
                      more, " } } }");
}

}  // namespace openset

#endif  // OPENSET_DATA_TESTING_TOY_DATA_SET_H_
