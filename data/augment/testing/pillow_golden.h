// Images, and Pillow's results: testdata/pillow.npz, written by tools/peers/make_rand_augment_golden.py with Pillow
// 13.0.0 on x86-64.
#ifndef OPENSET_DATA_AUGMENT_TESTING_PILLOW_GOLDEN_H_
#define OPENSET_DATA_AUGMENT_TESTING_PILLOW_GOLDEN_H_

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <vector>

#include "absl/strings/string_view.h"
#include "core/files/formats/npz.h"
#include "core/tensor/torch.h"

namespace openset {

// u8, of the array's shape.
at::Tensor ToTensor(const NpyArray& array);

// u8 [batch, channels, 32, 32], with most of the values in each image.
at::Tensor Images(int64_t batch, int64_t channels = 3);

// u8 [1, 1, 1, n]
at::Tensor Row(std::initializer_list<int> values);

// The values of each parameter, one value per image.
using PillowParameters = std::vector<std::vector<double>>;

// Expects that `apply`, on each stored batch of images and their parameters, gives bit for bit what Pillow gave for the
// single images. Fails if there is no batch for `operation`.
void ExpectEqualsPillow(absl::string_view operation,
                        const std::function<at::Tensor(const at::Tensor&, const PillowParameters&)>& apply);

}  // namespace openset

#endif  // OPENSET_DATA_AUGMENT_TESTING_PILLOW_GOLDEN_H_
