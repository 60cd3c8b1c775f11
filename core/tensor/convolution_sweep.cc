// Computes each convolution that our networks can have, with its gradients, and compares the numbers with a plain loop.
// convolution_sweep_test.cc runs it under a malloc checker, once for each instruction set.
//
//   convolution_sweep [long] [unguarded]
//
// Each shape is printed before it is computed. Exits with 0 if all are right, with 1 if a number is wrong.
//   long        all channels from 1 to 16, instead of some
//   unguarded   only the shapes that the guard changes, without the guard (core/tensor/convolution_guard.h)
#include <array>
#include <cmath>
#include <cstdint>
#include <iostream>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/tensor/convolution_guard.h"
#include "core/tensor/torch.h"
#include "core/tensor/torch_library.h"

namespace openset {
namespace {

struct Shape {
  int64_t kernel;
  int64_t stride;
  int64_t in;
  int64_t out;
  int64_t groups;
};

struct Size {
  int64_t images;
  int64_t height;
  int64_t width;
};

// A sum of products, their number, and the sum of their magnitudes, which bound the rounding error in any order.
struct Sum {
  double value = 0;
  double magnitude = 0;
  int64_t count = 0;

  void Add(double product) {
    value += product;
    magnitude += std::abs(product);
    ++count;
  }
  bool IsNear(float other) const {
    return std::abs(other - value) <= count * magnitude * std::numeric_limits<float>::epsilon();
  }
};

struct Reference {
  std::vector<Sum> output, image, weight;  // row-major
};

// The convolution of `image` by `weight` by definition, and the gradients of sum(output * gradient).
Reference ByDefinition(const Shape& shape, int64_t padding, const at::Tensor& image, const at::Tensor& weight,
                       const at::Tensor& gradient) {
  const auto x = image.accessor<float, 4>();
  const auto w = weight.accessor<float, 4>();
  const auto g = gradient.accessor<float, 4>();
  const int64_t in = shape.in / shape.groups, out = shape.out / shape.groups;
  Reference reference{std::vector<Sum>(gradient.numel()), std::vector<Sum>(image.numel()),
                      std::vector<Sum>(weight.numel())};
  for (int64_t n = 0; n < image.size(0); ++n) {
    for (int64_t o = 0; o < shape.out; ++o) {
      for (int64_t i = 0; i < in; ++i) {
        const int64_t c = o / out * in + i;
        for (int64_t row = 0; row < gradient.size(2); ++row) {
          for (int64_t column = 0; column < gradient.size(3); ++column) {
            Sum& output = reference.output[((n * shape.out + o) * gradient.size(2) + row) * gradient.size(3) + column];
            for (int64_t ky = 0; ky < shape.kernel; ++ky) {
              const int64_t y = row * shape.stride + ky - padding;
              if (y < 0 || y >= image.size(2)) continue;
              for (int64_t kx = 0; kx < shape.kernel; ++kx) {
                const int64_t z = column * shape.stride + kx - padding;
                if (z < 0 || z >= image.size(3)) continue;
                output.Add(double{x[n][c][y][z]} * w[o][i][ky][kx]);
                reference.image[((n * shape.in + c) * image.size(2) + y) * image.size(3) + z].Add(
                    double{g[n][o][row][column]} * w[o][i][ky][kx]);
                reference.weight[((o * in + i) * shape.kernel + ky) * shape.kernel + kx].Add(
                    double{g[n][o][row][column]} * x[n][c][y][z]);
              }
            }
          }
        }
      }
    }
  }
  return reference;
}

bool Agrees(const std::string& what, const at::Tensor& values, const std::vector<Sum>& reference) {
  const at::Tensor flat = values.contiguous().flatten();
  for (int64_t k = 0; k < flat.numel(); ++k) {
    const float value = flat.data_ptr<float>()[k];
    if (reference[k].IsNear(value)) continue;
    std::cout << "wrong: " << what << ": element " << k << " is " << value << " instead of " << reference[k].value
              << "\n";
    return false;
  }
  return true;
}

using Numbers = std::array<at::Tensor, 3>;  // the output and the gradients of image and weight

Numbers Compute(const Shape& shape, int64_t padding, const at::Tensor& image, const at::Tensor& weight,
                const at::Tensor& gradient, bool guarded) {
  const std::array<int64_t, 2> stride = {shape.stride, shape.stride}, pad = {padding, padding}, one = {1, 1},
                               none = {0, 0};
  const std::array<bool, 3> wanted = {true, true, false};
  if (guarded) {
    const at::Tensor output = at::convolution(image, weight, {}, stride, pad, one, false, none, shape.groups);
    const auto [by_image, by_weight, bias] =
        at::convolution_backward(gradient, image, weight, {}, stride, pad, one, false, none, shape.groups, wanted);
    return {output, by_image, by_weight};
  }
  const at::Tensor output = at::compositeexplicitautograd::_convolution(image, weight, {}, stride, pad, one, false,
                                                                        none, shape.groups, false, false, false, false);
  const auto [by_image, by_weight, bias] = at::compositeexplicitautograd::convolution_backward(
      gradient, image, weight, {}, stride, pad, one, false, none, shape.groups, wanted);
  return {output, by_image, by_weight};
}

// All sizes and layouts of one shape.
bool IsRight(const Shape& shape, bool guarded, int64_t* computed) {
  bool right = true;
  for (const Size& size : {Size{2, 8, 8}, Size{3, 7, 9}, Size{1, 10, 7}}) {
    for (const int64_t padding : std::set<int64_t>{0, shape.kernel / 2}) {
      const at::Tensor image = at::randn({size.images, shape.in, size.height, size.width});
      const at::Tensor weight = at::randn({shape.out, shape.in / shape.groups, shape.kernel, shape.kernel});
      const auto outputs = [&](int64_t side) { return (side + 2 * padding - shape.kernel) / shape.stride + 1; };
      const at::Tensor gradient = at::randn({size.images, shape.out, outputs(size.height), outputs(size.width)});
      const Reference reference = ByDefinition(shape, padding, image, weight, gradient);
      for (const auto& [image_layout, weight_layout] :
           {std::pair{at::MemoryFormat::Contiguous, at::MemoryFormat::Contiguous},
            {at::MemoryFormat::ChannelsLast, at::MemoryFormat::ChannelsLast},
            {at::MemoryFormat::Contiguous, at::MemoryFormat::ChannelsLast}}) {
        const auto in_layout = [](const at::Tensor& tensor, at::MemoryFormat layout) {
          return at::empty(tensor.sizes(), tensor.options().memory_format(layout)).copy_(tensor);
        };
        const Numbers numbers = Compute(shape, padding, in_layout(image, image_layout),
                                        in_layout(weight, weight_layout), in_layout(gradient, image_layout), guarded);
        const std::string where =
            absl::StrCat(size.images, "x", size.height, "x", size.width, ", padding ", padding, ", ",
                         weight_layout == at::MemoryFormat::Contiguous  ? "contiguous"
                         : image_layout == at::MemoryFormat::Contiguous ? "channels-last weight"
                                                                        : "channels-last");
        right &= Agrees(absl::StrCat(where, ", output"), numbers[0], reference.output);
        right &= Agrees(absl::StrCat(where, ", gradient of the image"), numbers[1], reference.image);
        right &= Agrees(absl::StrCat(where, ", gradient of the weight"), numbers[2], reference.weight);
        ++*computed;
      }
    }
  }
  return right;
}

std::vector<Shape> Shapes(bool all, bool guarded) {
  std::vector<int64_t> in = {1, 3, 7, 8, 12}, out = {1, 6, 16};
  if (all) {
    in.clear();
    for (int64_t channels = 1; channels <= 16; ++channels) in.push_back(channels);
    out = in;
  }
  std::vector<Shape> shapes;
  for (const int64_t kernel : {1, 3, 5, 7}) {
    for (const int64_t stride : {1, 2}) {
      for (const int64_t from : in) {
        for (const int64_t to : out) {
          if (guarded || (kernel == 1 && stride == 2 && from < 8)) shapes.push_back({kernel, stride, from, to, 1});
        }
        if (guarded) shapes.push_back({kernel, stride, from, from, from});  // a filter for each channel
        if (guarded && from % 2 == 0) shapes.push_back({kernel, stride, from, 2 * from, 2});
      }
    }
  }
  return shapes;
}

int Sweep(bool all, bool guarded) {
  at::manual_seed(1);
  const at::NoGradGuard no_grad;
  const std::vector<Shape> shapes = Shapes(all, guarded);
  int64_t computed = 0, wrong = 0;
  for (const Shape& shape : shapes) {
    std::cout << "kernel " << shape.kernel << ", stride " << shape.stride << ", " << shape.in << " to " << shape.out
              << " channels, " << shape.groups << " groups" << std::endl;
    if (!IsRight(shape, guarded, &computed)) ++wrong;
  }
  std::cout << computed << " convolutions of " << shapes.size() << " shapes computed, " << GuardedConvolutions()
            << " outputs and gradients by the guard, " << wrong << " shapes wrong" << std::endl;
  return wrong == 0 ? 0 : 1;
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) {
  bool all = false, guarded = true;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "long") all = true;
    if (argument == "unguarded") guarded = false;
  }
  return openset::Sweep(all, guarded);
}
