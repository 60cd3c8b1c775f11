#include "tools/cli/score/kept_request.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "core/files/files.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "google/protobuf/util/message_differencer.h"

namespace openset {
namespace {

constexpr char kRequestFile[] = "score.textproto";

std::string ModelPath(const ScoreRequest& request) {
  return std::filesystem::path(JoinPath(request.folder(), request.model())).lexically_normal().string();
}

}  // namespace

ScoreRequest JoinedRequest(const ScoreRequest& request, const std::vector<std::string>& scored,
                           const ScoreRequest& kept) {
  const auto are_alike = [](ScoreRequest a, ScoreRequest b, bool on_one_place) {
    for (ScoreRequest* one : {&a, &b}) {
      one->clear_methods();
      one->clear_also();
      if (!on_one_place) one->clear_task(), one->clear_split();
    }
    return google::protobuf::util::MessageDifferencer::Equals(a, b);
  };
  if (!are_alike(request, kept, /*on_one_place=*/false)) return request;
  ScoreRequest joined = kept;
  std::vector<ScoreRequest*> parts = {&joined};
  for (ScoreRequest& also : *joined.mutable_also()) parts.push_back(&also);
  for (ScoreRequest* part : parts) {
    if (!are_alike(request, *part, /*on_one_place=*/true)) continue;
    if (request.methods().empty()) part->clear_methods();
    if (part->methods().empty()) return joined;  // all
    for (const std::string& method : scored) {
      if (std::count(part->methods().begin(), part->methods().end(), method) == 0) part->add_methods(method);
    }
    return joined;
  }
  *joined.add_also() = request;
  return joined;
}

absl::Status KeepScoreRequest(const ScoreRequest& request, const Study& study) {
  const std::string folder = study.store().ReportFolder(study.name());
  OPENSET_RETURN_IF_ERROR(study.store().Make());
  OPENSET_RETURN_IF_ERROR(MakeFolders(folder));
  return WriteFileAtomically(JoinPath(folder, kRequestFile), ToText(request));
}

absl::StatusOr<ScoreRequest> FindScoreRequest(const Store& store, const std::string& name) {
  ScoreRequest request;
  OPENSET_RETURN_IF_ERROR(ReadTextProto(JoinPath(store.ReportFolder(name), kRequestFile), &request).status());
  return request;
}

absl::Status CheckScoreName(const ScoreRequest& request, const Store& store, const std::string& name) {
  const absl::StatusOr<ScoreRequest> kept = FindScoreRequest(store, name);
  if (!kept.ok() || ModelPath(*kept) == ModelPath(request) || !FileExists(ModelPath(*kept))) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("--model: ", "the store ", store.folder(),
                                                 " has results of another model under '", name, "', ", ModelPath(*kept),
                                                 ": rename the file, or name another store (--store)"));
}

}  // namespace openset
