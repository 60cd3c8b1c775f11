#include "eval/scores/fits/gaussian.h"

#include <algorithm>
#include <limits>
#include <map>

#include "Eigen/Eigenvalues"
#include "absl/strings/str_cat.h"
#include "core/in_parallel.h"
#include "eval/scores/input.h"
#include "eval/softmax.h"

namespace openset {
namespace {

constexpr double kMostValues = 1LL << 29;

}  // namespace

absl::StatusOr<std::vector<FeaturesOfClass>> FeaturesByClass(const ScoreInput& train,
                                                             absl::Span<const int32_t> labels) {
  const int64_t dim = train.feature_dim;
  std::map<int32_t, int64_t> counts;
  for (const int32_t label : labels) ++counts[label];
  if (static_cast<double>(counts.size()) * static_cast<double>(dim) * static_cast<double>(dim) > kMostValues) {
    return absl::InvalidArgumentError(
        absl::StrCat("a covariance for each of ", counts.size(), " classes of ", dim,
                     " features takes more than 4 GiB; take a score with one covariance (mahalanobis)"));
  }
  std::vector<FeaturesOfClass> classes;
  std::map<int32_t, size_t> place;
  for (const auto& [label, count] : counts) {
    place[label] = classes.size();
    classes.push_back({label, {}});
    classes.back().features.reserve(count * dim);
  }
  for (int64_t row = 0; row < train.num_samples; ++row) {
    const absl::Span<const float> x = train.features.subspan(row * dim, dim);
    std::vector<float>& features = classes[place[labels[row]]].features;
    features.insert(features.end(), x.begin(), x.end());
  }
  return classes;
}

namespace {

constexpr int64_t kFeaturesATurn = 64;
constexpr int64_t kBlocksATurn = 16;
constexpr int64_t kTile = 128;

// The tiles of the lower triangle of a matrix.
struct Tile {
  int64_t row, column, height, width;
};

// Squares of kTile; the last ones are up to twice as high or wide. They depend only on the matrix's size.
std::vector<Tile> TilesOf(int64_t dim) {
  const int64_t bands = std::max<int64_t>(1, dim / kTile);
  const auto size = [&](int64_t band) { return band + 1 == bands ? dim - band * kTile : kTile; };
  std::vector<Tile> tiles;
  for (int64_t column = 0; column < bands; ++column) {
    for (int64_t row = column; row < bands; ++row) {
      tiles.push_back({row * kTile, column * kTile, size(row), size(column)});
    }
  }
  return tiles;
}

}  // namespace

std::vector<Eigen::VectorXd> ClassMeans(absl::Span<const float> features, int64_t dim, absl::Span<const int32_t> labels,
                                        int64_t num_classes, RowScale scale) {
  std::vector<Eigen::VectorXd> means(num_classes);
  std::vector<int64_t> counts(num_classes, 0);
  for (const int32_t label : labels) {
    if (label >= 0 && ++counts[label] == 1) means[label] = Eigen::VectorXd::Zero(dim);
  }
  const auto features_of = [&](int64_t row) {
    return Eigen::Map<const Eigen::VectorXf>(features.data() + row * dim, dim);
  };
  const int64_t rows = static_cast<int64_t>(labels.size());
  std::vector<double> norms(scale == RowScale::kUnitLength ? rows : 0);
  ForEachRowInParallel(static_cast<int64_t>(norms.size()),
                       [&](int64_t row) { norms[row] = Eigen::VectorXd(features_of(row).cast<double>()).norm(); });
  // Some features of all rows, which are added in their order.
  InParallelRanges(dim, kFeaturesATurn, [&](int64_t begin, int64_t end) {
    for (int64_t row = 0; row < rows; ++row) {
      if (labels[row] < 0) continue;
      const auto x = features_of(row).segment(begin, end - begin).cast<double>();
      auto mean = means[labels[row]].segment(begin, end - begin);
      if (!norms.empty() && norms[row] > 0) {
        mean += x / norms[row];
      } else {
        mean += x;
      }
    }
  });
  for (int64_t c = 0; c < num_classes; ++c) {
    if (counts[c] > 0) means[c] /= static_cast<double>(counts[c]);
  }
  return means;
}

absl::StatusOr<std::vector<Eigen::VectorXd>> MeansOfCorrect(absl::Span<const float> rows, int64_t dim,
                                                            const ScoreInput& train, absl::Span<const int32_t> labels) {
  std::vector<int32_t> correct(labels.begin(), labels.end());
  for (int64_t row = 0; row < train.num_samples; ++row) {
    if (ArgMax(LogitsOf(train, row)) != labels[row]) correct[row] = -1;
  }
  std::vector<Eigen::VectorXd> means = ClassMeans(rows, dim, correct, train.num_outputs);
  for (const int32_t label : labels) {
    if (means[label].size() == 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("no training sample of class ", label, " is classified correctly"));
    }
  }
  return means;
}

Eigen::VectorXd Mean(absl::Span<const float> features, int64_t dim, RowScale scale) {
  return ClassMeans(features, dim, std::vector<int32_t>(features.size() / dim, 0), 1, scale)[0];
}

Eigen::MatrixXd Covariance(absl::Span<const float> features, absl::Span<const int32_t> labels,
                           const std::vector<Eigen::VectorXd>& centres, RowScale scale) {
  const int64_t dim = centres[labels[0]].size();
  Eigen::MatrixXd scatter = Eigen::MatrixXd::Zero(dim, dim);
  const std::vector<Tile> tiles = TilesOf(dim);
  const int64_t rows = static_cast<int64_t>(labels.size());
  std::vector<Eigen::MatrixXd> blocks;
  for (int64_t begin = 0; begin < rows; begin += kBlocksATurn * kRowBlock) {
    const int64_t size = std::min(rows - begin, kBlocksATurn * kRowBlock);
    blocks.resize((size + kRowBlock - 1) / kRowBlock);
    ForEachRowBlockInParallel(features.subspan(begin * dim, size * dim), dim,
                              [&](int64_t first, int64_t count, Eigen::MatrixXd* block) {
                                if (scale == RowScale::kUnitLength) NormaliseColumns(block);
                                for (int64_t j = 0; j < count; ++j) block->col(j) -= centres[labels[begin + first + j]];
                                blocks[first / kRowBlock] = *block;
                              });
    // To each tile the blocks are added in their order.
    InParallel(static_cast<int64_t>(tiles.size()), [&](int64_t t) {
      const Tile& tile = tiles[t];
      auto part = scatter.block(tile.row, tile.column, tile.height, tile.width);
      for (const Eigen::MatrixXd& block : blocks) {
        const auto left = block.middleRows(tile.row, tile.height);
        if (tile.row == tile.column) {
          part.selfadjointView<Eigen::Lower>().rankUpdate(left);
        } else {
          part.noalias() += left * block.middleRows(tile.column, tile.width).transpose();
        }
      }
    });
  }
  scatter /= static_cast<double>(labels.size());
  return scatter.selfadjointView<Eigen::Lower>();
}

Eigen::MatrixXd CovarianceAbout(absl::Span<const float> features, const Eigen::VectorXd& centre, RowScale scale) {
  return Covariance(features, std::vector<int32_t>(features.size() / centre.size(), 0), {centre}, scale);
}

absl::StatusOr<Eigen::MatrixXd> Whitening(const Eigen::MatrixXd& covariance) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(covariance);
  const int64_t dim = covariance.rows();
  const double largest = eigen.eigenvalues()[dim - 1];  // they ascend
  const double smallest = dim * std::numeric_limits<double>::epsilon() * largest;
  const int64_t rank = (eigen.eigenvalues().array() > smallest).count();
  if (!(largest > 0) || rank == 0) return absl::InvalidArgumentError("the training features have no variance");
  return eigen.eigenvalues().tail(rank).cwiseSqrt().cwiseInverse().asDiagonal() *
         eigen.eigenvectors().rightCols(rank).transpose();
}

}  // namespace openset
