// Reading a data set's files from data folders.
//
// A file of the catalog with path P is looked for as FOLDER/P in each data folder in order; the first one that exists
// is it. Of a data set's layouts the first is read whose files for the part are all there.
#ifndef OPENSET_DATA_SETS_DATA_SET_H_
#define OPENSET_DATA_SETS_DATA_SET_H_

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "core/text/progress_line.h"
#include "data/catalog.h"
#include "data/catalog.pb.h"
#include "data/image_set.h"
#include "data/image_source.h"

namespace openset {

// Checks that a part's files are there and are the published ones, without decoding them; of image folders, that the
// files of each class are as many as in the catalog and, where it has a digest of their listing, of the same names and
// sizes; of image lists, that the images they name are there.
// Errors: kNotFound for an unknown part, and for a missing file, with the folders searched and what brings it;
// kDataLoss for a file whose SHA-256 (or MD5, where the catalog has only that) is none of the catalog's, with the sums,
// and for a folder with other files.
absl::Status CheckFiles(const DataSetInfo& info, absl::string_view part, const std::vector<std::string>& data_folders);

// What tells the content of a part: the SHA-256 over a line for each of its files with the file's SHA-256; for images
// in files of their own, behind these lines, over a line "FOLDER SHA256" for each folder that has some of them, with
// the SHA-256 over a line "FILE SHA256" for each image. "" for images that are made. What was hashed before is
// remembered (core/files/digest_cache.h); `progress`, unless it is null, is told of the images, by one thread at a
// time. Errors: those of CheckFiles for the files' number and places; those of reading them.
absl::StatusOr<std::string> ContentDigest(const DataSetInfo& info, absl::string_view part,
                                          const std::vector<std::string>& data_folders,
                                          const ProgressReport& progress = nullptr);

// Sets DataSetPart.content_sha256 of those of these parts of the data set that the catalog has no checksums of, where
// the files are there and complete; of the others it can't be told. Of folders whose files are to be counted
// (ImageFolderFiles.count_files) it sets the numbers of samples too. Other parts are not read, which may be a hundred
// gigabytes. A data set or a part that is not in the catalog is left to who asks for it. Errors: those of reading the
// files.
absl::Status AddContentDigests(absl::string_view data_set, const std::set<std::string>& parts,
                               const std::vector<std::string>& data_folders, Catalog* catalog,
                               const ProgressReport& progress = nullptr);

// The images of a part that is not in files of their own, nor made (kUnimplemented), and their classes, in the order in
// which they are stored. Checksums are not computed. Errors: kNotFound as CheckFiles; those of the readers; kDataLoss
// if the images differ from the catalog's in size, number, or number of a class.
absl::StatusOr<ImageSet> LoadPart(const DataSetInfo& info, absl::string_view part,
                                  const std::vector<std::string>& data_folders);

// Any part as a source. Image folders are listed, and none of their images is read. Errors: those of
// LoadPart and of CheckFiles for a folder.
absl::StatusOr<std::shared_ptr<const ImageSource>> OpenPart(const DataSetInfo& info, absl::string_view part,
                                                            const std::vector<std::string>& data_folders);

}  // namespace openset

#endif  // OPENSET_DATA_SETS_DATA_SET_H_
