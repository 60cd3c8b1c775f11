// How a part's images are stored: everything that openset knows about a format of the catalog (DataSetPart.format).
//
// To add a format, add a message to that oneof, a class with these functions, and a case to FormatOf() in
// part_format.cc.
#ifndef OPENSET_DATA_FORMATS_PART_FORMAT_H_
#define OPENSET_DATA_FORMATS_PART_FORMAT_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/proto/proto_rules.h"
#include "data/catalog.pb.h"
#include "data/image_source.h"

namespace openset {

// A part in a layout whose files exist.
struct FoundPart {
  DataSetPart part;
  std::string folder;              // of images in separate files, otherwise ""
  std::vector<std::string> files;  // the paths of PartFormat::Files(part), in that order

  // Returns the path of one of those files. Precondition: `file` is one of them.
  const std::string& PathOf(const DataFile& file) const;
  // The folder and the files from which the images are read, for error messages.
  std::vector<std::string> paths() const;
};

class PartFormat {
 public:
  virtual ~PartFormat() = default;

  // The files that the catalog names, in the order of the format's fields, without images in separate files.
  virtual std::vector<const DataFile*> Files(const DataSetPart& /*part*/) const { return {}; }

  // The folder of images in separate files, below a data folder or absolute; null if there is none.
  virtual const std::string* Folder(const DataSetPart& /*part*/) const { return nullptr; }

  // Appends the problems that the schema's rules can't find, in the format's message, which is at `path`, and in its
  // data set's channels and size. Precondition: the schema's rules are obeyed.
  virtual void FindProblems(const DataSetInfo& info, const DataSetPart& part, const std::string& path,
                            std::vector<FieldProblem>* problems) const = 0;

  // Checks, without decoding them, that images in separate files exist and are as many as the catalog says. Errors: as
  // Open(); kNotFound also for an image that a list names and that does not exist; kDataLoss also if the digest of a
  // folder's listing is not the catalog's.
  virtual absl::Status CheckImageFiles(const DataSetInfo& /*info*/, const FoundPart& /*found*/) const {
    return absl::OkStatus();
  }

  // Returns all images, as stored. Errors: a read error (core/files/system_calls.h); kDataLoss, with the file, also if
  // it is corrupt or has a label of no class; kInvalidArgument for arrays of a kind that the format doesn't read;
  // kUnimplemented if the format does not hold its images in memory.
  virtual absl::StatusOr<ImageSet> Read(const DataSetInfo& info, const FoundPart& found) const = 0;

  // Returns a source that reads or generates images when they are needed, or null if the format's images are held in
  // memory (see Read()). Errors: a read error, of which kNotFound names a missing folder or file; kDataLoss for a
  // malformed list, or if a class has another number of images than the catalog says; kInvalidArgument for a malformed
  // table of clusters, or an image that it lacks.
  virtual absl::StatusOr<std::shared_ptr<const ImageSource>> Open(const DataSetInfo& /*info*/,
                                                                  const FoundPart& /*found*/) const {
    return std::shared_ptr<const ImageSource>();
  }
};

// Returns the format of a part. For a part without a format, which the schema refuses, returns a format without files,
// whose images can't be read (kInternal).
const PartFormat& FormatOf(const DataSetPart& part);

// The formats. Those whose files contain many images each are read into memory; their Read() returns kDataLoss, with
// the file, for a label that `class_label` of the catalog does not list.
const PartFormat& IdxFormat();          // data/readers/idx.h
const PartFormat& CifarBinaryFormat();  // data/readers/cifar_binary.h
const PartFormat& PngSheetFormat();     // data/readers/images/png_sheet.h
const PartFormat& MatFormat();          // data/readers/mat.h
const PartFormat& NpzFormat();          // data/readers/npz_images.h
const PartFormat& FeatureFormat();      // data/readers/feature_file.h
const PartFormat& NoiseFormat();        // without files (NoiseImages in data/catalog.proto)
// With one file per image, which is read when it is needed.
const PartFormat& ImageFolderFormat();  // data/readers/image_folder.h
const PartFormat& ImageListFormat();    // data/readers/image_list.h

// The only object of a format. It is never destroyed, because other threads may still read when the process ends.
template <typename Format>
const PartFormat& Only() {
  static const Format* const format = new Format;
  return *format;
}

// For formats whose images all have the size that the catalog says: adds a problem at `path` if it states none.
void FindSizeProblems(const DataSetInfo& info, const std::string& path, std::vector<FieldProblem>* problems);

// The catalog's number of samples of a class. Precondition: `class_id` is one of the data set's.
int64_t SamplesOfClass(const DataSetPart& part, int class_id);

// Returns the number of samples of each class, in the order of the class ids. Precondition: the labels are ids of the
// data set's classes.
std::vector<int64_t> CountOfEachClass(const DataSetInfo& info, const SampleIndex& index);

// Whether the catalog's numbers of samples are upper limits and the images that exist are counted (count_files).
bool CountsFiles(const DataSetPart& part);

}  // namespace openset

#endif  // OPENSET_DATA_FORMATS_PART_FORMAT_H_
