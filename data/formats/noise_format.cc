#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "data/formats/part_format.h"
#include "data/readers/noise_source.h"

namespace openset {
namespace {

class Noise : public PartFormat {
 public:
  void FindProblems(const DataSetInfo& info, const DataSetPart& part, const std::string& path,
                    std::vector<FieldProblem>* problems) const override {
    FindSizeProblems(info, path, problems);
    if (SamplesOfClass(part, 0) != part.samples()) {
      problems->push_back({absl::StrCat(path, ".noise"), "makes images of class 0 only"});
    }
  }

  absl::StatusOr<ImageSet> Read(const DataSetInfo& info, const FoundPart& /*found*/) const override {
    return absl::UnimplementedError(absl::StrCat("data set '", info.name(), "' is made, not stored"));
  }

  absl::StatusOr<std::shared_ptr<const ImageSource>> Open(const DataSetInfo& info,
                                                          const FoundPart& found) const override {
    return MakeNoiseSource(found.part.noise(), info.name(), found.part.name(), found.part.samples(),
                           {info.channels(), info.height(), info.width()});
  }
};

}  // namespace

const PartFormat& NoiseFormat() { return Only<Noise>(); }

}  // namespace openset
