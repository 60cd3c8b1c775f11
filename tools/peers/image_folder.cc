// Our half of tools/peers/image_folder_peer.py: a folder of images (a folder for each class) is indexed,
// or passed through as batches of f32 [B, 3, size, size] in [0, 1]. Prints a line of JSON.
#include <sys/resource.h>

#include <chrono>
#include <iostream>
#include <memory>
#include <numeric>

#include "absl/flags/flag.h"
#include "absl/flags/parse.h"
#include "absl/strings/str_format.h"
#include "core/in_parallel.h"
#include "core/process/exit_code.h"
#include "core/status_macros.h"
#include "core/tensor/torch_runtime.h"
#include "data/batch_stream.h"
#include "data/batcher.h"
#include "data/catalog.h"
#include "data/pipeline.h"
#include "data/sets/data_set.h"
#include "data/sets/folder_data_set.h"

ABSL_FLAG(bool, index, false, "Only find out which images there are, and how large their files.");
ABSL_FLAG(std::string, data_set, "", "A data set of --catalog with images of one size.");
ABSL_FLAG(std::string, part, "train", "Its part.");
ABSL_FLAG(std::string, catalog, "data/catalog", "The folder of the catalog.");
ABSL_FLAG(int, size, 224, "Of the images that come out.");
ABSL_FLAG(int, batch, 64, "Images of a batch.");
ABSL_FLAG(int, threads, 2, "Threads.");

namespace openset {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// All samples of a source.
SelectedSamples All(const ImageSource& source) {
  SelectedSamples samples;
  samples.index.resize(source.index().size());
  std::iota(samples.index.begin(), samples.index.end(), 0);
  samples.label.assign(source.index().label.begin(), source.index().label.end());
  return samples;
}

absl::Status ReadDataSet(const std::string& data_folder) {
  const std::string part = absl::GetFlag(FLAGS_part);
  OPENSET_ASSIGN_OR_RETURN(const Catalog catalog, Catalog::Open(absl::GetFlag(FLAGS_catalog)));
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(absl::GetFlag(FLAGS_data_set)));
  const Clock::time_point begin = Clock::now();
  OPENSET_ASSIGN_OR_RETURN(const auto source, OpenPart(*info, part, {data_folder}));
  OPENSET_ASSIGN_OR_RETURN(const Batcher batcher,
                           Batcher::Make(source, All(*source), static_cast<int>(info->channels()), at::kCPU));
  std::cout << absl::StrFormat("{\"images\": %d, \"seconds\": %.3f}\n", batcher.size(), SecondsSince(begin));
  return absl::OkStatus();
}

absl::Status Run(const std::string& folder) {
  at::set_num_threads(absl::GetFlag(FLAGS_threads));
  LimitThreads(absl::GetFlag(FLAGS_threads));
  if (!absl::GetFlag(FLAGS_data_set).empty()) return ReadDataSet(folder);
  const Clock::time_point begin = Clock::now();
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo info, DescribeFolder({"peer", folder}));
  const double described = SecondsSince(begin);
  OPENSET_ASSIGN_OR_RETURN(const std::shared_ptr<const ImageSource> source, OpenPart(info, "all", {}));
  const int64_t images = source->index().size();
  if (absl::GetFlag(FLAGS_index)) {
    rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    const double seconds = SecondsSince(begin);
    std::cout << absl::StrFormat("{\"images\": %d, \"seconds\": %.3f, \"of_it_described\": %.3f, \"peak_mb\": %.0f}\n",
                                 images, seconds, described, static_cast<double>(usage.ru_maxrss) / 1024);
    return absl::OkStatus();
  }
  OPENSET_ASSIGN_OR_RETURN(const Batcher batcher, Batcher::Make(source, All(*source), 3, at::kCPU));
  InputFormat format;
  format.size = absl::GetFlag(FLAGS_size);
  OPENSET_ASSIGN_OR_RETURN(const Pipeline pipeline, Pipeline::Make({}, format, at::kCPU));
  double sum = 0;
  double seconds = 0;
  {
    BatchStream stream(batcher, batcher.Epoch(absl::GetFlag(FLAGS_batch), /*drop_last=*/false, nullptr), pipeline,
                       nullptr);
    while (true) {
      OPENSET_ASSIGN_OR_RETURN(const std::optional<Batch> batch, stream.Next());
      seconds = SecondsSince(begin);
      if (!batch.has_value()) break;
      sum += batch->image.slice(0, 0, 1).mean().item<double>();
    }
  }
  std::cout << absl::StrFormat("{\"images\": %d, \"seconds\": %.3f, \"first_of_each_batch\": %.6f}\n", images, seconds,
                               sum);
  return absl::OkStatus();
}

}  // namespace
}  // namespace openset

int main(int argc, char** argv) {
  const std::vector<char*> arguments = absl::ParseCommandLine(argc, argv);
  const absl::Status status =
      arguments.size() == 2 ? openset::Run(arguments[1]) : absl::InvalidArgumentError("usage: image_folder FOLDER");
  if (!status.ok()) std::cerr << "image_folder: " << status.message() << "\n";
  return openset::ExitCode(status);
}
