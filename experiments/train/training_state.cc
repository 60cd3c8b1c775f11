#include "experiments/train/training_state.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "core/files/digest.h"
#include "core/files/files.h"
#include "core/files/formats/safetensors.h"
#include "core/proto/record_file.h"
#include "core/status_macros.h"

namespace openset {
namespace {

// Names in the file's metadata.
constexpr char kKey[] = "key";
constexpr char kSummary[] = "summary";  // a record (core/proto/record_file.h) in base64

// Over all tensors in the order of their names: the file has no checksum of its own.
std::string DigestOf(const TensorMap& tensors) {
  Sha256 sum;
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor bytes = tensor.cpu().contiguous();
    sum.Update(
        absl::StrCat(name, " ", c10::toString(bytes.scalar_type()), " [", absl::StrJoin(bytes.sizes(), ","), "]\n"));
    sum.Update({static_cast<const char*>(bytes.data_ptr()), bytes.nbytes()});
  }
  return ToHex(sum.Finish());
}

}  // namespace

absl::Status SaveTrainingState(const NamedTensors& tensors, const TrainSummary& summary, const std::string& key,
                               const std::string& path) {
  TensorMap map;
  for (const auto& [name, tensor] : tensors) map[name] = tensor.detach();
  TrainSummary with_digest = summary;
  with_digest.set_checkpoint_sha256(DigestOf(map));
  return SaveTensors(map, {{kKey, key}, {kSummary, absl::Base64Escape(EncodeRecord(with_digest))}}, path);
}

absl::StatusOr<SavedTraining> LoadTrainingState(const std::string& path, const std::string& key) {
  OPENSET_ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path));
  OPENSET_ASSIGN_OR_RETURN(const Safetensors file, DecodeSafetensors(bytes), path);
  const auto stored_key = file.metadata.find(kKey);
  const auto stored_summary = file.metadata.find(kSummary);
  if (stored_key == file.metadata.end() || stored_summary == file.metadata.end() || stored_key->second != key) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": is of another training"));
  }
  SavedTraining saved;
  std::string record;
  if (!absl::Base64Unescape(stored_summary->second, &record)) {
    return absl::DataLossError(absl::StrCat(path, ": its summary is corrupt"));
  }
  OPENSET_RETURN_IF_ERROR(Annotate(DecodeRecord(record, &saved.summary), path));
  for (const auto& [name, array] : file.arrays) saved.tensors[name] = TensorOf(array);
  // Earlier versions wrote none.
  if (saved.summary.has_checkpoint_sha256() && saved.summary.checkpoint_sha256() != DigestOf(saved.tensors)) {
    return absl::DataLossError(absl::StrCat(path, ": its tensors do not match their checksum"));
  }
  saved.summary.clear_checkpoint_sha256();
  return saved;
}

absl::Status CheckTensors(const TensorMap& saved, const NamedTensors& tensors) {
  if (saved.size() != tensors.size()) return absl::InvalidArgumentError("holds other tensors");
  for (const auto& [name, tensor] : tensors) {
    const auto like = saved.find(name);
    if (like == saved.end() || like->second.sizes() != tensor.sizes() ||
        like->second.scalar_type() != tensor.scalar_type()) {
      return absl::InvalidArgumentError(absl::StrCat("has no tensor '", name, "' of the training's shape and type"));
    }
  }
  return absl::OkStatus();
}

}  // namespace openset
