#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "core/files/files.h"
#include "core/files/formats/npz.h"
#include "core/files/runfiles.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/name.h"
#include "core/text/one_line.h"
#include "core/text/suggest.h"
#include "core/text/table.h"
#include "core/text/terminal.h"
#include "data/catalog.h"
#include "data/class_names.h"
#include "data/fetch/fetch_data_set.h"
#include "data/image_source.h"
#include "data/inspect/channel_statistics.h"
#include "data/inspect/clusters.h"
#include "data/inspect/contact_sheet.h"
#include "data/inspect/duplicates.h"
#include "data/readers/feature_file.h"
#include "data/selection.h"
#include "data/sets/data_set.h"
#include "data/sets/data_set_parts.h"
#include "data/sets/data_set_problems.h"
#include "data/sets/feature_data_set.h"
#include "data/sets/folder_data_set.h"
#include "data/task.h"
#include "experiments/spec/spec_folders.h"
#include "tools/cli/commands.h"
#include "tools/cli/data/data_flags.h"
#include "tools/cli/flags/flags.h"
#include "tools/cli/flags/run_config.h"

namespace openset {
namespace {

// An image that can't be decoded.
struct DamagedImage {
  int64_t sample;
  std::string reason;  // names the file
};

constexpr int64_t kBatch = 512;

bool IsDamage(const absl::Status& status) { return absl::IsDataLoss(status) || absl::IsNotFound(status); }

// Calls `use` with each image of a source, in order. Returns the images that can't be decoded. Prints progress, named
// `what`, to standard error. Errors: other errors of reading.
absl::StatusOr<std::vector<DamagedImage>> ForEachImage(
    const std::string& what, const ImageSource& source,
    const std::function<void(int64_t sample, const Image& image)>& use) {
  std::vector<DamagedImage> damaged;
  const int64_t size = source.index().size();
  ProgressLine line = ProgressLine::ToStandardError("images");
  for (int64_t begin = 0; begin < size; begin += kBatch) {
    std::vector<int64_t> samples(std::min(kBatch, size - begin));
    std::iota(samples.begin(), samples.end(), begin);
    absl::StatusOr<std::vector<Image>> images = source.Read(samples);
    if (images.ok()) {
      for (size_t i = 0; i < samples.size(); ++i) use(samples[i], (*images)[i]);
    } else if (IsDamage(images.status())) {  // find the corrupt ones
      for (const int64_t sample : samples) {
        const absl::StatusOr<std::vector<Image>> one = source.Read({sample});
        if (one.ok()) {
          use(sample, (*one)[0]);
        } else if (IsDamage(one.status())) {
          damaged.push_back({sample, std::string(one.status().message())});
        } else {
          return one.status();
        }
      }
    } else {
      return images.status();
    }
    line.Update(what, begin + static_cast<int64_t>(samples.size()), size);
  }
  return damaged;
}

// Returns kDataLoss with the number of these images and the first of them.
absl::Status DamagedStatus(const std::vector<DamagedImage>& damaged) {
  const size_t others = damaged.size() - 1;
  return absl::DataLossError(absl::StrCat(
      damaged[0].reason, others > 0 ? absl::StrCat("; ", others, " other images can't be decoded either") : ""));
}

struct NamedSamples {
  enum Role { PLAIN, TRAIN, KNOWN, UNKNOWN, EXTERNAL };
  std::string name;  // "train", "test of svhn"
  Role role = PLAIN;
  std::shared_ptr<const ImageSource> source;
  SelectedSamples samples;
  std::vector<std::string> class_name;  // of each label; its title if the data set has titles
};

std::string ClassText(const DataSetInfo& info, int id) {
  return id < info.class_title_size() ? absl::StrCat(info.class_title(id), " (", info.class_name(id), ")")
                                      : info.class_name(id);
}

absl::Status NotOfImages(const std::string& name) {
  return absl::InvalidArgumentError(absl::StrCat(
      name, ": its samples are feature vectors, not images; only `openset data audit features:FILE` looks ",
      "at them"));
}

absl::Status CheckIsOfImages(const DataSetInfo& info) {
  return HasFeatures(info) ? NotOfImages(info.name()) : absl::OkStatus();
}

absl::StatusOr<std::vector<NamedSamples>> OfDataSet(const DataSetInfo& info, const std::vector<std::string>& folders,
                                                    const RunConfig& config) {
  OPENSET_RETURN_IF_ERROR(CheckIsOfImages(info));
  std::vector<std::string> parts = config.parts;
  const bool all = parts.empty();
  for (int p = 0; all && p < info.layout(0).part_size(); ++p) {
    const std::string& part = info.layout(0).part(p).name();
    // It consists of the others.
    if (part != "all" || info.layout(0).part_size() == 1) parts.push_back(part);
  }
  std::vector<NamedSamples> sets;
  absl::Status missing;
  for (const std::string& part : parts) {
    const absl::Status found = FindPartFiles(info, part, folders).status();
    if (!found.ok() && all && absl::IsNotFound(found)) {
      missing = found;
      continue;
    }
    OPENSET_RETURN_IF_ERROR(found);
    NamedSamples& set = sets.emplace_back();
    set.name = part;
    OPENSET_ASSIGN_OR_RETURN(set.source, OpenPart(info, part, folders));
    set.samples.index.resize(set.source->index().size());
    std::iota(set.samples.index.begin(), set.samples.index.end(), 0);
    set.samples.label.assign(set.source->index().label.begin(), set.source->index().label.end());
    for (int id = 0; id < info.class_name_size(); ++id) set.class_name.push_back(ClassText(info, id));
  }
  if (sets.empty()) return missing;
  return sets;
}

absl::StatusOr<NamedSamples> OfSelection(const Selection& selection, const Catalog& catalog,
                                         const std::vector<std::string>& folders) {
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(selection.data_set()));
  OPENSET_RETURN_IF_ERROR(CheckIsOfImages(*info));
  OPENSET_ASSIGN_OR_RETURN(OpenedSelection opened, OpenSelection(selection, catalog, folders));
  NamedSamples set;
  set.source = std::move(opened.source);
  set.samples = std::move(opened.samples);
  for (int i = 0; i < selection.class_id_size(); ++i) {
    const size_t label = selection.label_size() > 0 ? selection.label(i) : i;
    if (set.class_name.size() <= label) set.class_name.resize(label + 1);
    set.class_name[label] = ClassText(*info, selection.class_id(i));
  }
  return set;
}

absl::StatusOr<std::vector<NamedSamples>> OfTask(const TaskSpec& task, const Catalog& catalog,
                                                 const std::vector<std::string>& folders, const RunConfig& config) {
  TaskRequest request;
  OPENSET_ASSIGN_OR_RETURN(request.split, ParseSplit(config));
  OPENSET_ASSIGN_OR_RETURN(const TaskData data, ResolveTask(task, request, catalog), "task ", task.name());
  std::vector<NamedSamples> sets;
  const auto add = [&](const Selection& selection, std::string name, NamedSamples::Role role) -> absl::Status {
    OPENSET_ASSIGN_OR_RETURN(NamedSamples set, OfSelection(selection, catalog, folders));
    set.name = std::move(name);
    set.role = role;
    sets.push_back(std::move(set));
    return absl::OkStatus();
  };
  OPENSET_RETURN_IF_ERROR(add(data.train(), "train", NamedSamples::TRAIN));
  OPENSET_RETURN_IF_ERROR(add(data.test_known(), "known", NamedSamples::KNOWN));
  for (const ShiftedGroup& group : data.test_shifted()) {
    OPENSET_RETURN_IF_ERROR(add(group.selection(), group.name(), NamedSamples::KNOWN));
  }
  for (const UnknownGroup& group : data.test_unknown()) {
    OPENSET_RETURN_IF_ERROR(add(group.selection(), group.name(), NamedSamples::UNKNOWN));
  }
  if (data.has_external()) OPENSET_RETURN_IF_ERROR(add(data.external(), "external", NamedSamples::EXTERNAL));
  return sets;
}

// For a data set or a folder, returns each part that is on this machine, or the parts of --parts. For a task, by name
// or file, returns the sets of --split (0 if it is not given): the training samples, the known test samples, each set
// of shifted and of unknown samples, and the external samples. Errors: kNotFound also if no part is on this machine;
// kInvalidArgument also for an invalid catalog entry, task or --split; an error of the data (data/sets/data_set.h).
absl::StatusOr<std::vector<NamedSamples>> SamplesOf(const std::string& name, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const Catalog catalog, OpenCatalog(config));
  const std::string data_set = DataSetName(name, catalog);
  const std::vector<std::string> known = catalog.names();
  if (absl::StartsWith(data_set, kFolderPrefix) || std::binary_search(known.begin(), known.end(), data_set)) {
    // A task takes precedence over a data set of the same name, unless --parts is given.
    OPENSET_ASSIGN_OR_RETURN(const SpecFolders tasks, FindSpecFolders(config));
    const std::vector<std::string> task_names = NamesIn(tasks.tasks);
    const bool is_task = absl::c_linear_search(task_names, data_set);
    if (!is_task || !config.parts.empty()) {
      OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(data_set));
      return OfDataSet(*info, config.data_folders, config);
    }
  }
  OPENSET_ASSIGN_OR_RETURN(const SpecFolders folders_of_specs, FindSpecFolders(config));
  const std::string task = absl::EndsWith(name, ".textproto") ? UserPath(name) : name;
  OPENSET_ASSIGN_OR_RETURN(const std::string path, FindSpecFile("task", task, folders_of_specs.tasks, ""));
  OPENSET_ASSIGN_OR_RETURN(const TaskSpec spec, ReadTask(path, catalog));
  return OfTask(spec, catalog, config.data_folders, config);
}

constexpr int kListed = 10;

// Prints how many clusters were found, `why` they are, and whether some are suspiciously large.
void PrintClusters(const std::vector<int64_t>& cluster, const std::string& why, const RunConfig& config) {
  std::map<int64_t, int64_t> size;
  for (const int64_t number : cluster) ++size[number];
  int64_t clusters = 0, samples = 0, largest = 0;
  for (const auto& [number, count] : size) {
    if (count < 2) continue;
    ++clusters;
    samples += count;
    largest = std::max(largest, count);
  }
  std::cout << "clusters: ";
  if (clusters == 0) {
    std::cout << "none (" << why << ")\n";
    return;
  }
  std::cout << clusters << " of several samples, " << samples << " samples in all, the largest has " << largest << " ("
            << why << ")\n";
  if (config.clusters.empty()) std::cout << "--clusters=FILE writes the cluster of each sample\n";
  constexpr double kLarge = 0.1;
  if (static_cast<double>(largest) > kLarge * static_cast<double>(cluster.size()) && cluster.size() >= 20) {
    std::cerr << "hint: a cluster has more than a tenth of all samples, probably too many: similar pairs may have "
                 "chained unrelated samples together; raise --similarity, or inspect the cluster first\n";
  }
}

// `audit`, for a file of features.
absl::Status AuditFeatures(const std::string& file, const RunConfig& config) {
  const double similarity = config.similarity;
  if (!(similarity > 0 && similarity <= 1)) {
    return absl::InvalidArgumentError("--similarity: must be above 0 and at most 1");
  }
  const std::string path = UserPath(file), out = UserPath(config.clusters);
  if (!out.empty() && !absl::EndsWith(out, ".npz")) {
    return absl::InvalidArgumentError("--clusters: must end in .npz for a file of features");
  }
  OPENSET_ASSIGN_OR_RETURN(const FeatureArrays arrays, ReadFeatureFile(path));
  if (arrays.dim == 0) return absl::InvalidArgumentError(absl::StrCat(path, ": has no array 'features' to compare"));
  const auto samples = static_cast<int64_t>(arrays.class_id.size());
  ClusterUnion clusters(samples);
  std::map<int64_t, int64_t> first;  // by the file's own cluster
  for (int64_t i = 0; i < static_cast<int64_t>(arrays.cluster.size()); ++i) {
    clusters.Join(first.emplace(arrays.cluster[i], i).first->second, i);
  }
  ProgressLine line = ProgressLine::ToStandardError("samples");
  JoinSimilar(
      arrays.features, arrays.dim, similarity, [&](int64_t rows) { line.Update("comparing features", rows, samples); },
      &clusters);
  const std::vector<int64_t> cluster = clusters.Numbers();
  // Clusters that lie in several parts make a test too easy.
  std::map<int64_t, std::set<int32_t>> parts;
  for (int64_t i = 0; i < samples; ++i) parts[cluster[i]].insert(arrays.part[i]);
  const auto torn = absl::c_count_if(parts, [](const auto& entry) { return entry.second.size() > 1; });
  std::cout << samples << " feature vectors of " << arrays.dim << " numbers\n";
  PrintClusters(cluster, absl::StrCat("cosine from ", similarity, arrays.cluster.empty() ? "" : ", and the file's own"),
                config);
  if (torn > 0) std::cout << torn << (torn == 1 ? " of them has" : " of them have") << " samples of several parts\n";
  if (out.empty()) return absl::OkStatus();
  std::error_code error;
  if (std::filesystem::equivalent(path, out, error)) {
    return absl::InvalidArgumentError("--clusters: is the audited file; name another one");
  }
  OPENSET_ASSIGN_OR_RETURN(NpzArrays all, ReadNpz(path));
  all["cluster"] = MakeNpy(cluster, {samples});
  OPENSET_RETURN_IF_ERROR(WriteNpzAtomically(out, all));
  std::cout << out << "\n";
  return absl::OkStatus();
}

// Joins the samples of each group of a class by folders or names. Prints the clusters, and returns the cluster of each
// sample.
std::vector<int64_t> ProposeClusters(const std::vector<NamedSamples>& sets, const std::vector<DuplicateSample>& samples,
                                     ClusterUnion* clusters, const RunConfig& config) {
  std::vector<std::string> paths, class_of;
  for (const DuplicateSample& sample : samples) {
    const ImageSource& source = *sets[sample.set].source;
    const SampleIndex& index = source.index();
    paths.push_back(source.Describe(sample.sample));
    // Parts of a data set may lie in folders of their own.
    const int32_t part = index.group.empty() ? 0 : index.group[sample.sample];
    class_of.push_back(absl::StrCat(sample.set, "/", part, "/", index.label[sample.sample]));
  }
  std::map<std::string, int64_t> first;  // by group
  const std::vector<std::string> names = GroupNames(paths, class_of);
  for (size_t i = 0; i < names.size(); ++i) {
    const auto place = static_cast<int64_t>(i);
    if (!names[i].empty()) clusters->Join(first.emplace(names[i], place).first->second, place);
  }
  std::vector<int64_t> cluster = clusters->Numbers();
  std::string why = "duplicates";
  if (!first.empty()) {
    absl::StrAppend(&why, ", and ", first.size(), " groups by folder or name: ", OneLine(first.begin()->first),
                    ", ...");
  }
  std::map<int64_t, std::set<int>> in;
  for (size_t i = 0; i < samples.size(); ++i) in[cluster[i]].insert(samples[i].set);
  PrintClusters(cluster, why, config);
  const auto torn = absl::c_count_if(in, [](const auto& entry) { return entry.second.size() > 1; });
  if (torn > 0) std::cout << torn << (torn == 1 ? " of them has" : " of them have") << " samples of several sets\n";
  return cluster;
}

// Writes a line for each sample, set by set, in the order in which trials use them.
absl::Status WriteClusters(const std::string& path, const std::vector<NamedSamples>& sets,
                           const std::vector<DuplicateSample>& samples, const std::vector<int64_t>& cluster) {
  std::map<std::pair<int, int64_t>, int64_t> cluster_of;
  for (size_t i = 0; i < samples.size(); ++i) cluster_of[{samples[i].set, samples[i].sample}] = cluster[i];
  std::string text = "cluster,set,image\n";
  for (size_t s = 0; s < sets.size(); ++s) {
    for (const int64_t sample : sets[s].samples.index) {
      absl::StrAppend(&text, cluster_of.at({static_cast<int>(s), sample}), ",", CsvCell(sets[s].name), ",",
                      CsvCell(sets[s].source->Describe(sample)), "\n");
    }
  }
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(path, text));
  std::cout << path << "\n";
  return absl::OkStatus();
}

// `audit`, for a task, a data set or a folder.
absl::Status AuditImages(const std::string& name, const RunConfig& config) {
  const std::string out = UserPath(config.clusters);
  if (!out.empty() && !absl::EndsWith(out, ".csv")) {
    return absl::InvalidArgumentError("--clusters: must end in .csv for images");
  }
  OPENSET_ASSIGN_OR_RETURN(const std::vector<NamedSamples> sets, SamplesOf(name, config));
  std::vector<DuplicateSample> samples;
  int64_t damaged = 0;
  for (size_t s = 0; s < sets.size(); ++s) {
    std::vector<bool> chosen(sets[s].source->index().size(), false);
    for (const int64_t sample : sets[s].samples.index) chosen[sample] = true;
    OPENSET_ASSIGN_OR_RETURN(
        const std::vector<DamagedImage> bad,
        ForEachImage(absl::StrCat("reading ", sets[s].name), *sets[s].source, [&](int64_t sample, const Image& image) {
          if (!chosen[sample]) return;
          samples.push_back({static_cast<int>(s), sample, FingerprintOf(image)});
        }));
    damaged += static_cast<int64_t>(bad.size());
    for (const DamagedImage& image : bad) std::cout << "corrupt: " << OneLine(image.reason) << "\n";
  }
  struct Counts {
    int64_t exact = 0, near = 0;
    std::vector<std::string> lines;
  };
  std::map<std::pair<int, int>, Counts> counts;  // by the sets of the first and the second
  const auto describe = [&](const DuplicateSample& sample) {
    const NamedSamples& set = sets[sample.set];
    return OneLine(absl::StrCat(set.name, ": ", set.source->Describe(sample.sample)));
  };
  ClusterUnion clusters(static_cast<int64_t>(samples.size()));
  for (const DuplicatePair& pair : FindDuplicates(samples, !config.exact)) {
    clusters.Join(static_cast<int64_t>(pair.first), static_cast<int64_t>(pair.second));
    Counts& of_sets = counts[{samples[pair.first].set, samples[pair.second].set}];
    ++(pair.exact ? of_sets.exact : of_sets.near);
    if (of_sets.lines.size() < kListed) {
      of_sets.lines.push_back(absl::StrCat(pair.exact ? "exact  " : "near   ", describe(samples[pair.second]), "  =  ",
                                           describe(samples[pair.first])));
    }
  }
  Table table{{"images of", "have a duplicate in", "exact", "near"}, {}, 2};
  for (const auto& [of_sets, count] : counts) {
    table.rows.push_back(
        {sets[of_sets.second].name, sets[of_sets.first].name, absl::StrCat(count.exact), absl::StrCat(count.near)});
    for (const std::string& line : count.lines) std::cout << line << "\n";
    const int64_t more = count.exact + count.near - static_cast<int64_t>(count.lines.size());
    if (more > 0) std::cout << "... and " << more << " more of these two sets\n";
  }
  std::cout << "\n" << samples.size() << " images in " << sets.size() << " sets";
  if (counts.empty()) {
    std::cout << ": no duplicates\n";
  } else {
    std::cout << "; each duplicate is counted once, with its first copy\n\n" << ToText(table);
  }
  const std::vector<int64_t> cluster = ProposeClusters(sets, samples, &clusters, config);
  if (!out.empty() && damaged == 0) OPENSET_RETURN_IF_ERROR(WriteClusters(out, sets, samples, cluster));
  if (damaged == 0) return absl::OkStatus();
  return absl::DataLossError(absl::StrCat(damaged, " images are corrupt"));
}

// The sizes of images, and what of a study fits them.
class ImageSizes {
 public:
  void Add(const Image& image) {
    const std::pair<int64_t, int64_t> size = {image.width, image.height};
    if (shorter_.empty()) smallest_ = largest_ = size;
    smallest_ = {std::min(smallest_.first, size.first), std::min(smallest_.second, size.second)};
    largest_ = {std::max(largest_.first, size.first), std::max(largest_.second, size.second)};
    shorter_.push_back(std::min(size.first, size.second));
  }

  // Precondition: an image was added.
  int64_t MedianShorterSide() {
    const auto middle = shorter_.begin() + static_cast<int64_t>(shorter_.size() / 2);
    std::nth_element(shorter_.begin(), middle, shorter_.end());
    return *middle;
  }

  std::string Text() {
    const auto text = [](const auto& size) { return absl::StrCat(size.first, " x ", size.second); };
    if (smallest_ == largest_) return absl::StrCat("all ", text(smallest_), " pixels (width x height)");
    return absl::StrCat(text(smallest_), " to ", text(largest_), " pixels (width x height), shorter side ",
                        MedianShorterSide(), " in the median");
  }

 private:
  std::pair<int64_t, int64_t> smallest_, largest_;
  std::vector<int64_t> shorter_;
};

// The lines of a study for these images.
std::string StudyLines(const DataSetInfo& info, int64_t shorter_side) {
  const auto is_same = [](const auto& values) {
    return absl::c_all_of(values, [&](double value) { return value == values[0]; });
  };
  // The preset with 64 pixels if most images have as many as halfway between the two; the one for grey images has 28.
  const bool is_grey = shorter_side < 48 && is_same(info.mean()) && is_same(info.std());
  const char* preset = is_grey ? "laptop" : shorter_side < 48 ? "laptop_colour" : "laptop_colour_64";
  const auto list = [&](const auto& values) { return is_grey ? absl::StrCat(values[0]) : absl::StrJoin(values, ", "); };
  return absl::StrCat("in a study:  method: \"softmax+", preset, "\"\n             override { input { mean: [",
                      list(info.mean()), "] std: [", list(info.std()), "] } }\n");
}

double Rounded(double value) { return std::round(value * 1e4) / 1e4; }

// `describe`, for a folder.
absl::Status DescribeImages(const std::string& folder, const RunConfig& config) {
  if (folder.empty()) return absl::InvalidArgumentError("the folder's name is empty: name a folder of images");
  FolderRequest request;
  request.path = AbsolutePath(UserPath(folder));
  if (request.path.size() > 1 && request.path.back() == '/') request.path.pop_back();
  request.name = config.name;
  if (request.name.empty()) request.name = std::filesystem::path(request.path).filename().string();
  if (const std::string problem = NameProblem(request.name); !problem.empty()) {
    return absl::InvalidArgumentError(config.name.empty() ? absl::StrCat(OneLine(request.path), ": ", problem,
                                                                         "; give one: --name=", NameLike(request.name))
                                                          : absl::StrCat("--name: ", problem));
  }
  // Before all images are read.
  OPENSET_RETURN_IF_ERROR(CheckIsOwnName("catalog", request.name, config));
  request.test_share = config.test_share;
  if (!(request.test_share > 0 && request.test_share < 1)) {
    return absl::InvalidArgumentError("--test_share: must be above 0 and below 1");
  }
  request.seed = config.seed;
  if (!config.clusters.empty()) request.clusters = AbsolutePath(UserPath(config.clusters));
  request.sub_folders = config.sub_folders;
  request.skip_links_to_nothing = config.skip_damaged;
  absl::StatusOr<DataSetInfo> described = DescribeFolder(request);
  const std::string clusters = request.clusters;
  // Corrupt images that are left out need no line in the table of clusters. So it is read when they are known.
  const bool are_clusters_left =
      absl::IsInvalidArgument(described.status()) && !clusters.empty() && config.skip_damaged;
  if (are_clusters_left) {
    request.clusters.clear();
    described = DescribeFolder(request);
  }
  OPENSET_RETURN_IF_ERROR(described.status());
  DataSetInfo info = *std::move(described);
  const DataSetInfo whole = info;  // with corrupt images
  const std::string& root = info.layout(0).part(0).image_folder().path();
  const bool is_flat = root != request.path && root != JoinPath(request.path, "train");
  if (is_flat && !config.skip_damaged) {
    return absl::InvalidArgumentError(absl::StrCat(
        OneLine(request.path),
        ": its images are not in class folders: make one folder for each class. "
        "As unknown images of a task it can stay as it is: openset task new NAME --data=... --known=... '--far=",
        OneLine(request.path), "'; --skip_damaged writes an entry for that, without the images that can't be decoded"));
  }

  for (const char* part : {"train", "test"}) {
    if (FindPart(info, part).ok()) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(OneLine(request.path), ": no class has two images, one to train on and one to test on"));
  }
  std::vector<DamagedImage> damaged;
  ChannelStatistics training;
  ImageSizes sizes;
  for (const std::string& part : PartNames(info)) {
    if (part == "all") continue;  // "train" and "test" together
    OPENSET_ASSIGN_OR_RETURN(const auto source, OpenPart(info, part, {}));
    OPENSET_ASSIGN_OR_RETURN(const auto bad,
                             ForEachImage("reading the images", *source, [&](int64_t, const Image& image) {
                               sizes.Add(image);
                               if (part == "train") training.Add(image);
                             }));
    for (const DamagedImage& image : bad) {
      damaged.push_back(image);
      request.skip.insert(source->Describe(image.sample));
    }
  }
  if (!damaged.empty()) {
    for (const DamagedImage& image : damaged) std::cerr << "openset: " << image.reason << "\n";
    if (!config.skip_damaged) {
      return absl::DataLossError(absl::StrCat(
          damaged.size(), " images can't be decoded: repair or remove them, or leave them out with --skip_damaged"));
    }
  }
  if (!damaged.empty() || are_clusters_left) {
    // Describes the folder again, because the shares are drawn without the damaged images.
    request.clusters = clusters;
    OPENSET_ASSIGN_OR_RETURN(info, DescribeFolder(request));
    training = {};
    OPENSET_ASSIGN_OR_RETURN(const auto source, OpenPart(info, "train", {}));
    OPENSET_RETURN_IF_ERROR(ForEachImage("reading the images", *source, [&](int64_t, const Image& image) {
                              training.Add(image);
                            }).status());
  }
  for (const double mean : training.Means()) info.add_mean(Rounded(mean));
  for (const double deviation : training.Deviations()) info.add_std(Rounded(deviation));
  for (const FieldProblem& problem : FindDataSetProblems(info)) {
    return absl::InvalidArgumentError(absl::StrCat(request.path, ": ", problem.path, ": ", problem.message));
  }
  OPENSET_ASSIGN_OR_RETURN(
      const std::string path,
      WriteIntoLibrary(
          "catalog", info.name(),
          absl::StrCat("# proto-file: data/catalog.proto\n# proto-message: openset.DataSetInfo\n\n", ToText(info)),
          config));
  std::cout << info.name() << ": " << info.class_name_size() << " classes";
  for (const DataSetPart& part : info.layout(0).part()) std::cout << ", " << part.samples() << " in " << part.name();
  std::cout << absl::StrFormat("\nmean %.4f %.4f %.4f, std %.4f %.4f %.4f (training images, with equal weight)\n",
                               info.mean(0), info.mean(1), info.mean(2), info.std(0), info.std(1), info.std(2));
  std::cout << sizes.Text() << "\n";
  if (is_flat) {
    std::cout << "one class, for unknown images: openset task new NAME --data=... --known=... --far=" << info.name()
              << "\n";
  } else {
    std::cout << StudyLines(info, sizes.MedianShorterSide());
  }
  if (!damaged.empty())
    std::cout << "left out: " << damaged.size() << (damaged.size() == 1 ? " corrupt image\n" : " corrupt images\n");
  std::set<std::string> links;  // in parts of their own or in one folder
  for (const DataSetPart& part : whole.layout(0).part()) {
    for (const std::string& skipped : part.image_folder().skip()) {
      links.insert(JoinPath(part.image_folder().path(), skipped));
    }
  }
  for (const std::string& link : links) std::cout << "left out: a link to nothing: " << OneLine(link) << "\n";
  for (const std::string& name : whole.class_name()) {
    if (absl::c_linear_search(info.class_name(), name)) continue;
    std::cout << "left out: class " << OneLine(name) << ", all of whose images are corrupt\n";
  }
  for (const std::string& line : LeftOutLines(request.path, whole)) {
    std::cout << line << "\n";
    // The entry is written only now, and another one would not replace it.
    if (!absl::StrContains(line, "in sub-folders")) continue;
    std::cout << "to read these too, remove " << OneLine(path) << " and describe the folder with --sub_folders\n";
  }
  std::map<std::string, std::string> first;  // by composed name
  for (const std::string& name : info.class_name()) {
    const auto [known, is_new] = first.emplace(Composed(name), name);
    if (is_new) continue;
    std::cerr << "hint: two classes are called " << OneLine(name) << ", in two forms of Unicode; are they one?\n";
  }
  for (const std::string& line : FewImagesLines(info)) std::cerr << "hint: " << line << "\n";
  std::cout << path << "\n";
  return absl::OkStatus();
}

// `show`, for a task, a data set or a folder.
absl::Status ShowImages(const std::string& name, const RunConfig& config) {
  const int per_class = config.per_class, tile = config.tile;
  if (per_class < 1 || per_class > 1000) return absl::InvalidArgumentError("--per_class: must be 1 to 1000");
  if (tile < 8 || tile > 1024) return absl::InvalidArgumentError("--tile: must be 8 to 1024");
  OPENSET_ASSIGN_OR_RETURN(const std::vector<NamedSamples> sets, SamplesOf(name, config));
  static const std::map<NamedSamples::Role, std::array<uint8_t, 3>> kColours = {
      {NamedSamples::PLAIN, {120, 120, 120}},
      {NamedSamples::TRAIN, {0, 140, 60}},
      {NamedSamples::KNOWN, {0, 140, 60}},
      {NamedSamples::UNKNOWN, {200, 30, 30}},
      {NamedSamples::EXTERNAL, {40, 80, 200}}};
  std::vector<SheetRow> rows;
  for (const NamedSamples& set : sets) {
    if (set.role == NamedSamples::TRAIN) continue;  // the test samples define the classes
    std::map<int64_t, std::vector<int64_t>> of_class;
    for (size_t i = 0; i < set.samples.index.size(); ++i) {
      std::vector<int64_t>& some = of_class[set.samples.label[i]];
      if (some.size() < per_class) some.push_back(set.samples.index[i]);
    }
    for (const auto& [label, samples] : of_class) {
      OPENSET_ASSIGN_OR_RETURN(std::vector<Image> images, set.source->Read(samples));
      rows.push_back({kColours.at(set.role), std::move(images)});
      std::cout << "row " << rows.size() << ": " << OneLine(absl::StrCat(set.name, ", ", set.class_name[label]))
                << "\n";
    }
  }
  OPENSET_ASSIGN_OR_RETURN(const std::string png, EncodePng(MakeContactSheet(rows, tile)));
  const std::string path = UserPath(config.sheet);
  OPENSET_RETURN_IF_ERROR(WriteFileAtomically(path, png));
  std::cout << path << " (marks: green known, red unknown, blue external)\n";
  return absl::OkStatus();
}

constexpr size_t kAnyWidth = 1000;

// "3 x 32 x 32".
std::string ShapeText(const DataSetInfo& info) {
  if (info.height() == 0) return absl::StrCat(info.channels(), " x any size");
  return absl::StrCat(info.channels(), " x ", info.height(), " x ", info.width());
}

absl::Status RunList(const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const Catalog catalog, OpenCatalog(config));
  Table table{{"data set", "images", "classes", "size", "here", "what it is"}, {}, 6};
  for (const std::string& name : catalog.names()) {
    OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(name));
    std::vector<std::string> here;
    int64_t images = 0;
    bool at_most = false;
    for (const DataSetPart& part : info->layout(0).part()) {
      images += part.samples();
      at_most = at_most || CountsFiles(part);
      if (FindPartFiles(*info, part.name(), config.data_folders).ok()) here.push_back(part.name());
    }
    const bool all = here.size() == info->layout(0).part_size();
    table.rows.push_back({name, absl::StrCat(at_most ? "up to " : "", images), absl::StrCat(info->class_name_size()),
                          ShapeText(*info),
                          here.empty() ? "-"
                          : all        ? "all"
                                       : absl::StrJoin(here, ", "),
                          info->title()});
  }
  // Not split into several tables, because the last column may be cut off.
  std::cout << ToText(table, kAnyWidth)
            << "\n'openset data fetch NAME' downloads one; 'openset show data NAME' shows its details.\n";
  return absl::OkStatus();
}

absl::Status RunFetch(const std::string& name, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const Catalog catalog, OpenCatalog(config));
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(name));
  FetchOptions options;
  options.data_folders = config.data_folders;
  // The first folder of --data, or the user's own, which is the last of the default folders.
  options.data_folder =
      config.deployment.data_folder_size() > 0 ? config.deployment.data_folder(0) : options.data_folders.back();
  options.parts = config.parts;
  OPENSET_ASSIGN_OR_RETURN(const std::string runfiles, RunfilesFolder());
  options.package_script = JoinPath(runfiles, "openset/third_party/fetch.sh");
  options.say = [](const std::string& line) { std::cerr << "openset: " << line << std::endl; };
  options.say(
      absl::StrCat("licence of ", info->name(), ": ", info->licence().empty() ? "not stated" : info->licence()));
  if (!info->reference().empty()) options.say(absl::StrCat("please cite ", info->reference()));
  ProgressLine line = ProgressLine::ToStandardError("bytes");
  options.unverified = config.unverified;
  options.download.progress = [&line](const std::string& what, int64_t done, int64_t total) {
    line.Update(what, done, total);
  };
  return FetchDataSet(*info, options);
}

// "0.4914 0.4822 0.4465".
std::string FourDigits(const std::vector<double>& values) {
  return absl::StrJoin(values, " ", [](std::string* out, double value) { absl::StrAppendFormat(out, "%.4f", value); });
}

// "mean 0.1307, std 0.3081 (as the catalog says)": within one in the fourth digit of each.
std::string StatisticsText(const ChannelStatistics& found, const DataSetInfo& info, const std::string& part) {
  const std::vector<double> means = found.Means(), deviations = found.Deviations();
  const std::string text = absl::StrCat("mean ", FourDigits(means), ", std ", FourDigits(deviations));
  if (part != "train" || info.mean_size() == 0) return text;
  const std::vector<double> known_means(info.mean().begin(), info.mean().end());
  const std::vector<double> known_deviations(info.std().begin(), info.std().end());
  const auto near = [](double a, double b) { return std::abs(a - b) < 1.5e-4; };
  const bool same =
      std::equal(means.begin(), means.end(), known_means.begin(), known_means.end(), near) &&
      std::equal(deviations.begin(), deviations.end(), known_deviations.begin(), known_deviations.end(), near);
  if (same) return text + " (as the catalog says)";
  return absl::StrCat(text, " (the catalog says ", FourDigits(known_means), " and ", FourDigits(known_deviations), ")");
}

absl::Status RunVerify(const std::string& name, const RunConfig& config) {
  OPENSET_ASSIGN_OR_RETURN(const Catalog catalog, OpenCatalog(config));
  OPENSET_ASSIGN_OR_RETURN(const DataSetInfo* info, catalog.Find(DataSetName(name, catalog)));
  std::vector<std::string> parts = config.parts;
  if (parts.empty()) parts = PartNames(*info);
  for (const std::string& part : parts) {
    OPENSET_RETURN_IF_ERROR(CheckFiles(*info, part, config.data_folders));
    OPENSET_ASSIGN_OR_RETURN(const auto source, OpenPart(*info, part, config.data_folders));
    ChannelStatistics statistics;
    if (config.images) {
      OPENSET_ASSIGN_OR_RETURN(const std::vector<DamagedImage> damaged,
                               ForEachImage(absl::StrCat("reading ", info->name(), " ", part), *source,
                                            [&](int64_t, const Image& image) { statistics.Add(image); }));
      if (!damaged.empty()) return DamagedStatus(damaged);
    }
    const std::string* folder = FormatOf(info->layout(0).part(0)).Folder(info->layout(0).part(0));
    const bool is_own = folder != nullptr && absl::StartsWith(*folder, "/");
    std::cout << info->name() << " " << part << ": " << source->index().size() << " images, as "
              << (is_own ? "counted in the folder\n" : "published\n");
    if (statistics.images() > 0) std::cout << "  " << StatisticsText(statistics, *info, part) << "\n";
  }
  return absl::OkStatus();
}

absl::Status RunData(const std::vector<std::string>& arguments, const RunConfig& config) {
  const std::string& action = arguments[0];
  const std::vector<std::string> known = {"list", "fetch", "verify", "show", "describe", "audit"};
  if (!absl::c_linear_search(known, action)) {
    return absl::InvalidArgumentError(UnknownName("action of 'openset data'", action, known));
  }
  const size_t wanted = action == "list" ? 1 : 2;
  if (arguments.size() != wanted) {
    return absl::InvalidArgumentError(absl::StrCat("usage: openset data ", action, wanted == 2 ? " NAME" : "",
                                                   " ('openset data --help' shows details)"));
  }
  if (action == "list") return RunList(config);
  absl::string_view file = arguments[1];
  if (absl::ConsumePrefix(&file, kFeaturesPrefix)) {
    return action == "audit" ? AuditFeatures(std::string(file), config) : NotOfImages(arguments[1]);
  }
  if (action == "fetch") return RunFetch(arguments[1], config);
  if (action == "verify") return RunVerify(arguments[1], config);
  if (action == "show") return ShowImages(arguments[1], config);
  if (action == "describe") return DescribeImages(arguments[1], config);
  return AuditImages(arguments[1], config);
}

}  // namespace

Command DataCommand() {
  Command command;
  command.name = "data";
  command.arguments = "list | fetch NAME | verify NAME | show NAME | describe FOLDER | audit NAME";
  command.min_arguments = 1;
  command.max_arguments = 2;
  command.summary = "Lists, downloads, checks, shows, describes and audits data sets.";
  command.description =
      "list      lists the data sets of the catalog, and which of their parts you have\n"
      "fetch     downloads a data set into the first folder of --data (default: ~/.cache/openset/data), from the\n"
      "          first source that works; resumes partial downloads, checks every file, and prints the licence and\n"
      "          what to do by hand.\n"
      "          A file without a published SHA-256 (notmnist) needs --unverified\n"
      "verify    compares the files with the published checksums; with --images, decodes every image and prints the\n"
      "          mean and standard deviation\n"
      "show      writes a contact sheet (PNG) of a data set, a folder of images, or a task's known and unknown\n"
      "          classes\n"
      "describe  writes the catalog entry of a folder of images (one folder for each class): classes, counts, mean\n"
      "          and standard deviation; says what it leaves out. Reads PNG, JPEG, WebP, TIFF, GIF, BMP and PNM;\n"
      "          with --sub_folders, also in folders below a class's. With --clusters, a table as audit writes it,\n"
      "          images that belong together stay in one part\n"
      "audit     finds exact and near duplicates in a data set or between the data sets of a task, and proposes\n"
      "          clusters of samples that belong together: duplicates, and files of one folder below a class's or\n"
      "          with one name before a number, as of patients or videos (video12_0031.png);\n"
      "          of features:FILE, vectors whose cosine is at least --similarity. With --clusters, writes the cluster\n"
      "          of each sample: a line for each image, in the order of the sets, or a copy of the file of features\n"
      "\n"
      "  openset data fetch cifar10\n"
      "  openset data show fashion_mnist_6_4 --split=1 --sheet=fashion.png\n"
      "  openset data describe ~/photos --name=photos\n"
      "  openset data audit cifar10_plus_50\n"
      "  openset data audit photos --clusters=clusters.csv\n"
      "  openset data describe ~/photos --name=photos --clusters=clusters.csv\n"
      "  openset data audit features:clip.npz --clusters=clip_clusters.npz\n";
  command.flags = {"data", "library", "deploy",     "parts",        "images",     "unverified", "name",
                   "into", "seed",    "test_share", "skip_damaged", "split",      "sheet",      "per_class",
                   "tile", "exact",   "clusters",   "similarity",   "sub_folders"};
  command.run = RunData;
  return command;
}

}  // namespace openset
