// Opens data sets: finds the files of a part, reads its images, and joins the parts that a selection names.
#ifndef OPENSET_DATA_SETS_DATA_SET_H_
#define OPENSET_DATA_SETS_DATA_SET_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/text/terminal.h"
#include "data/catalog.h"
#include "data/catalog.pb.h"
#include "data/formats/part_format.h"
#include "data/image_source.h"
#include "data/selection.h"

namespace openset {

// Contracts call these codes "an error of the data"; its message names the file, or the data set and the part:
//   kNotFound: an unknown data set or part; a missing file or folder, with the folders searched and how to get it
//   kDataLoss: a file that is corrupt, or that differs from the catalog in its number of images, classes or size
//   kInvalidArgument: a table of clusters or an array that openset can't use
//   kPermissionDenied, kResourceExhausted, kUnavailable: it can't be read now (ReadError() in
//     core/files/system_calls.h)

// ---- Finds the files of a data set's part.

// Looks for each file in the data folders in order, and returns the first layout whose files all exist. Errors:
// kNotFound for an unknown part, and for missing files, with the folders and how to get the files.
absl::StatusOr<FoundPart> FindPartFiles(const DataSetInfo& info, absl::string_view part,
                                        const std::vector<std::string>& data_folders);

// The states (core/files/file_state.h) of the files from which a part is read. Of 200,000 images, they take 2 MB and a
// fraction of a second.
class PartStates {
 public:
  // Looks at all files of the part. Errors: an error of the data.
  static absl::StatusOr<PartStates> Of(const DataSetInfo& info, absl::string_view part,
                                       const std::vector<std::string>& data_folders);

  // The part as a source if its images are in separate files, otherwise null.
  const std::shared_ptr<const ImageSource>& images() const { return images_; }

  // Returns the path of a file that has been written, replaced or removed since Of(); "" if there is none. Of images in
  // separate files, looks only at those that `is_read` contains, by sample.
  std::string FindChange(const std::vector<bool>& is_read) const;

 private:
  // Hashes of the states.
  std::vector<std::string> files_;
  std::vector<uint64_t> file_states_;
  std::shared_ptr<const ImageSource> images_;
  std::vector<uint64_t> image_states_;
};

// Reads a data set's files from data folders.
//
// A file of the catalog with path P is looked up as FOLDER/P in each data folder in order; the first one that exists is
// used. Of a data set's layouts, the first one whose files for the part all exist is read.

// Checks, without decoding them, that a part's files exist and are the published ones. For image folders: that each
// class has as many files as the catalog says and, if the catalog has a digest of their listing, that their names and
// sizes match it. For image lists: that the images that they name exist. Errors: an error of the data; kDataLoss also
// for a file whose SHA-256 (or MD5, if the catalog has only that) is not in the catalog, with the sums.
absl::Status CheckFiles(const DataSetInfo& info, absl::string_view part, const std::vector<std::string>& data_folders);

// Returns a digest that identifies the content of a part: the SHA-256 over a line for each of its files with the file's
// SHA-256 and, for images in separate files, then over a line "FOLDER SHA256" for each folder that contains any, with
// the SHA-256 over a line "FILE SHA256" for each image. "" for generated images. Hashes are cached
// (core/files/digest_cache.h). `progress`, unless it is null, is called with the number of images hashed, by one thread
// at a time. Images that have to be hashed are looked at (CheckImageFile() in data/readers/images/decode_image.h): the
// messages on those that can't be decoded are added to `damaged`, unless it is null, and they are looked at again the
// next time. Errors: an error of the data.
absl::StatusOr<std::string> ContentDigest(const DataSetInfo& info, absl::string_view part,
                                          const std::vector<std::string>& data_folders,
                                          const ProgressReport& progress = nullptr,
                                          std::vector<std::string>* damaged = nullptr);

// Sets DataSetPart.content_sha256 (ContentDigest(), which adds to `damaged`) of each of `parts` for which the catalog
// has no checksums, if all files of the part exist and none is corrupt; otherwise it can't be computed. For folders
// whose files are to be counted (ImageFolderFiles.count_files), also sets the numbers of samples. Other parts, which
// may have a hundred gigabytes, are not read. Ignores a data set, a part or a file that is missing, and files that are
// corrupt or differ from the catalog: the code that needs them reports that. Errors: another error of the data.
absl::Status AddContentDigests(absl::string_view data_set, const std::set<std::string>& parts,
                               const std::vector<std::string>& data_folders, Catalog* catalog,
                               const ProgressReport& progress = nullptr, std::vector<std::string>* damaged = nullptr);

// Returns the images of a part and their classes, in the order in which they are stored. Checksums are not checked.
// Errors: an error of the data; kUnimplemented for images that are in separate files or generated.
absl::StatusOr<ImageSet> LoadPart(const DataSetInfo& info, absl::string_view part,
                                  const std::vector<std::string>& data_folders);

// Returns any part as a source. Image folders are listed, but none of their images is read. Errors: an error of the
// data.
absl::StatusOr<std::shared_ptr<const ImageSource>> OpenPart(const DataSetInfo& info, absl::string_view part,
                                                            const std::vector<std::string>& data_folders);

// ---- Opens the images of the parts that a selection names, as one source.

struct OpenedSelection {
  std::shared_ptr<const ImageSource> source;  // all images of the parts, not only the selected ones
  SelectedSamples samples;
};

// Opens a part of the selection's data set. For callers that cache opened parts.
using PartOpener = std::function<absl::StatusOr<std::shared_ptr<const ImageSource>>(const std::string& part)>;

// Opens the parts in the order of PartsOf(). `info`: the selection's data set. Errors: kInvalidArgument if the
// selection names samples that the parts lack (SelectSamples() in data/selection.h); any error that `open_part`
// returns.
absl::StatusOr<OpenedSelection> OpenSelection(const Selection& selection, const DataSetInfo& info,
                                              const PartOpener& open_part);

// Opens the parts with OpenPart(). Errors: an error of the data; kInvalidArgument also if the selection names samples
// that the parts lack.
absl::StatusOr<OpenedSelection> OpenSelection(const Selection& selection, const Catalog& catalog,
                                              const std::vector<std::string>& data_folders);

}  // namespace openset

#endif  // OPENSET_DATA_SETS_DATA_SET_H_
