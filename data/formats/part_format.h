// How a part's images are stored: all that the program knows of a format of the catalog (DataSetPart.format).
//
// A new format is a message in that oneof, a class of these functions, and a row in part_formats.cc.
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
#include "data/image_set.h"
#include "data/image_source.h"

namespace openset {

// A part in a layout whose files exist.
struct FoundPart {
  DataSetPart part;
  std::string folder;              // of images that are files of their own, else ""
  std::vector<std::string> files;  // the paths of PartFormat::Files(part), in that order

  // The path of one of those files. Precondition: `file` is one of them.
  const std::string& PathOf(const DataFile& file) const;
  // What the images are read from, for error messages.
  std::vector<std::string> paths() const;
};

class PartFormat {
 public:
  virtual ~PartFormat() = default;

  // The files that the catalog names, in the order of the format's fields. Images that are files of their own are not
  // among them.
  virtual std::vector<const DataFile*> Files(const DataSetPart& /*part*/) const { return {}; }

  // The folder of images that are files of their own, below a data folder or absolute; null if there is none.
  virtual const std::string* Folder(const DataSetPart& /*part*/) const { return nullptr; }

  // Appends what the schema's rules can't say of the format's message, which lies at `path`, and of the data set's
  // channels and size. Precondition: the schema's rules are obeyed.
  virtual void FindProblems(const DataSetInfo& info, const DataSetPart& part, const std::string& path,
                            std::vector<FieldProblem>* problems) const = 0;

  // Checks without decoding that images which are files of their own exist and are as many as the catalog says.
  // Errors: kNotFound and kDataLoss, with the path.
  virtual absl::Status CheckImageFiles(const DataSetInfo& /*info*/, const FoundPart& /*found*/) const {
    return absl::OkStatus();
  }

  // All images, as stored. Errors: those of the format's reader; kDataLoss for a label that stands for no class;
  // kUnimplemented if the images are not held in memory.
  virtual absl::StatusOr<ImageSet> Read(const DataSetInfo& info, const FoundPart& found) const = 0;

  // A source that makes images when they are asked for; null for a format whose images Read() holds in memory.
  // Errors: those of the format's reader; kDataLoss if a class has another number of images than the catalog says.
  virtual absl::StatusOr<std::shared_ptr<const ImageSource>> Open(const DataSetInfo& /*info*/,
                                                                  const FoundPart& /*found*/) const {
    return std::shared_ptr<const ImageSource>();
  }
};

// Of a part without one, which the schema refuses: a format without files, whose images can't be read (kInternal).
const PartFormat& FormatOf(const DataSetPart& part);

// The only object of a format. It is never destroyed, because other threads may still read when the process ends.
template <typename Format>
const PartFormat& Only() {
  static const Format* const format = new Format;
  return *format;
}

// For formats all of whose images have the size that the catalog says: a problem at `path` if it says none.
void FindSizeProblems(const DataSetInfo& info, const std::string& path, std::vector<FieldProblem>* problems);

// What the catalog says of a class. Precondition: `class_id` is one of the data set's.
int64_t SamplesOfClass(const DataSetPart& part, int class_id);

// Whether these are upper limits, and the images that exist are counted (count_files).
bool CountsFiles(const DataSetPart& part);

}  // namespace openset

#endif  // OPENSET_DATA_FORMATS_PART_FORMAT_H_
