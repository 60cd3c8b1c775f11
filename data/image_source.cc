#include "data/image_source.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "core/in_parallel.h"
#include "core/logging.h"
#include "core/status_macros.h"

namespace openset {
namespace {

// The number of images that are in memory at once.
constexpr size_t kChunk = 64;

}  // namespace

absl::Status ImageSource::ReadEach(absl::Span<const int64_t> samples,
                                   const std::function<void(int64_t, Image)>& use) const {
  for (size_t begin = 0; begin < samples.size(); begin += kChunk) {
    OPENSET_ASSIGN_OR_RETURN(std::vector<Image> images, Read(samples.subspan(begin, kChunk)));
    InParallel(static_cast<int64_t>(images.size()),
               [&](int64_t i) { use(static_cast<int64_t>(begin) + i, std::move(images[i])); });
  }
  return absl::OkStatus();
}

namespace {

class MemorySource : public ImageSource {
 public:
  MemorySource(ImageSet set, std::string part) : set_(std::move(set)) {
    index_.label = std::move(set_.labels);
    index_.cluster = std::move(set_.cluster);
    index_.group_name = {std::move(part)};
  }

  const SampleIndex& index() const override { return index_; }
  ImageShape shape() const override { return {set_.channels, set_.height, set_.width}; }

  absl::StatusOr<std::vector<Image>> Read(absl::Span<const int64_t> samples) const override {
    std::vector<Image> images;
    images.reserve(samples.size());
    for (const int64_t sample : samples) {
      const auto begin = set_.pixels.begin() + sample * set_.image_bytes();
      images.push_back({set_.channels, set_.height, set_.width, {begin, begin + set_.image_bytes()}});
    }
    return images;
  }

 private:
  ImageSet set_;  // without its labels
  SampleIndex index_;
};

}  // namespace

std::shared_ptr<const ImageSource> MakeMemorySource(ImageSet set, std::string part) {
  return std::make_shared<MemorySource>(std::move(set), std::move(part));
}

namespace {

class JoinedSource : public ImageSource {
 public:
  explicit JoinedSource(std::vector<std::shared_ptr<const ImageSource>> sources) : sources_(std::move(sources)) {
    shape_ = sources_[0]->shape();
    for (const auto& source : sources_) {
      const ImageShape shape = source->shape();
      CHECK_EQ(shape.channels, shape_.channels) << "parts of different channels";
      if (shape.height != shape_.height || shape.width != shape_.width) shape_.height = shape_.width = 0;
      begin_.push_back(index_.size());
      Append(source->index());
    }
  }

  const SampleIndex& index() const override { return index_; }
  ImageShape shape() const override { return shape_; }

  absl::StatusOr<std::vector<Image>> Read(absl::Span<const int64_t> samples) const override {
    std::vector<Image> images(samples.size());
    const std::vector<Some> some_of = Divide(samples);
    for (size_t source = 0; source < sources_.size(); ++source) {
      if (some_of[source].sample.empty()) continue;
      OPENSET_ASSIGN_OR_RETURN(std::vector<Image> some, sources_[source]->Read(some_of[source].sample));
      for (size_t i = 0; i < some.size(); ++i) images[some_of[source].place[i]] = std::move(some[i]);
    }
    return images;
  }

  absl::Status ReadEach(absl::Span<const int64_t> samples,
                        const std::function<void(int64_t, Image)>& use) const override {
    const std::vector<Some> some_of = Divide(samples);
    for (size_t source = 0; source < sources_.size(); ++source) {
      if (some_of[source].sample.empty()) continue;
      const std::vector<int64_t>& place = some_of[source].place;
      OPENSET_RETURN_IF_ERROR(sources_[source]->ReadEach(
          some_of[source].sample, [&](int64_t i, Image image) { use(place[i], std::move(image)); }));
    }
    return absl::OkStatus();
  }

  std::string Describe(int64_t sample) const override {
    const size_t source = std::upper_bound(begin_.begin(), begin_.end(), sample) - begin_.begin() - 1;
    return sources_[source]->Describe(sample - begin_[source]);
  }

 private:
  // Samples of one source, and their positions in the request.
  struct Some {
    std::vector<int64_t> sample, place;
  };

  std::vector<Some> Divide(absl::Span<const int64_t> samples) const {
    std::vector<Some> some_of(sources_.size());
    for (size_t i = 0; i < samples.size(); ++i) {
      const size_t source = std::upper_bound(begin_.begin(), begin_.end(), samples[i]) - begin_.begin() - 1;
      some_of[source].sample.push_back(samples[i] - begin_[source]);
      some_of[source].place.push_back(static_cast<int64_t>(i));
    }
    return some_of;
  }

  void Append(const SampleIndex& part) {
    const auto first_group = static_cast<int32_t>(index_.group_name.size());
    index_.label.insert(index_.label.end(), part.label.begin(), part.label.end());
    if (part.group.empty()) {
      index_.group.resize(index_.label.size(), first_group);
    } else {
      std::transform(part.group.begin(), part.group.end(), std::back_inserter(index_.group),
                     [&](int32_t group) { return group + first_group; });
    }
    // If only some parts have clusters, each sample of the others is its own, with a negative number.
    if (!part.cluster.empty() || !index_.cluster.empty()) {
      const auto fill = [&](size_t size) {
        while (index_.cluster.size() < size) index_.cluster.push_back(-1 - static_cast<int64_t>(index_.cluster.size()));
      };
      fill(index_.label.size() - part.label.size());
      index_.cluster.insert(index_.cluster.end(), part.cluster.begin(), part.cluster.end());
      fill(index_.label.size());
    }
    index_.group_name.insert(index_.group_name.end(), part.group_name.begin(), part.group_name.end());
  }

  const std::vector<std::shared_ptr<const ImageSource>> sources_;
  std::vector<int64_t> begin_;  // the position of each source's first sample, ascending
  SampleIndex index_;
  ImageShape shape_;
};

}  // namespace

std::shared_ptr<const ImageSource> JoinSources(std::vector<std::shared_ptr<const ImageSource>> sources) {
  CHECK(!sources.empty()) << "no sources";
  if (sources.size() == 1) return sources[0];
  return std::make_shared<JoinedSource>(std::move(sources));
}

}  // namespace openset
