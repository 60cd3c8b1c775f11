#include "tools/python/library/openset.h"

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "core/in_parallel.h"
#include "core/process/exit_code.h"
#include "core/proto/text_proto.h"
#include "core/status_macros.h"
#include "core/text/json_text.h"
#include "core/text/one_line.h"
#include "eval/files/sample_arrays.h"
#include "nlohmann/json.hpp"
#include "tools/evaluation/request.pb.h"
#include "tools/python/library/answer_call.h"

struct OpensetAnswer {
  int32_t code = 0;
  std::string text;
  std::string hints = "[]";
  openset::CallAnswer found;
};

namespace openset {
namespace {

// Limits the effect of a wrong pointer or count.
constexpr int64_t kMostArrays = 100000;
constexpr int32_t kMostRank = 64;  // as in NumPy

absl::StatusOr<ArrayView> ViewOf(const OpensetArray& array) {
  if (array.name == nullptr || array.type == nullptr) return absl::InvalidArgumentError("it has no name or no type");
  if (array.rank < 0 || array.rank > kMostRank || (array.rank > 0 && array.shape == nullptr)) {
    return absl::InvalidArgumentError(absl::StrCat("array '", array.name, "' has the rank ", array.rank));
  }
  ArrayView view;
  view.name = array.name;
  view.type = array.type;
  view.item_bytes = array.item_bytes;
  view.data = array.data;
  view.shape.assign(array.shape, array.shape + array.rank);
  if (array.strides != nullptr) view.strides.assign(array.strides, array.strides + array.rank);
  return view;
}

absl::StatusOr<CallAnswer> AnswerText(absl::string_view request, const OpensetArray* arrays, int64_t num_arrays) {
  Call call;
  OPENSET_RETURN_IF_ERROR(ParseTextProto(request, "request", &call).status());
  if (num_arrays < 0 || num_arrays > kMostArrays || (num_arrays > 0 && arrays == nullptr)) {
    return absl::InvalidArgumentError(absl::StrCat("there are ", num_arrays, " arrays"));
  }
  std::vector<std::vector<ArrayView>> views(call.set_size());
  for (int64_t i = 0; i < num_arrays; ++i) {
    if (arrays[i].set < 0 || arrays[i].set >= call.set_size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("array ", i, " is of set ", arrays[i].set, ", of ", call.set_size()));
    }
    OPENSET_ASSIGN_OR_RETURN(views[arrays[i].set].emplace_back(), ViewOf(arrays[i]), "array ", i);
  }
  return AnswerCall(call, views);
}

// Abseil and Protobuf have functions that must not throw and allocate, a few bytes each: without memory, they would end
// the process. During calls, memory is kept for them, and released when an allocation fails.
constexpr size_t kReserveBytes = 1 << 20;
std::mutex reserve_mutex;
int reserve_users = 0;
std::atomic<void*> reserve{nullptr};
std::new_handler other_handler = nullptr;

// The new-handler. If it returns, the allocation is tried again.
void ReleaseReserve() {
  if (void* const kept = reserve.exchange(nullptr)) {
    ::operator delete(kept);
  } else if (other_handler != nullptr) {
    other_handler();
  } else {
    throw std::bad_alloc();
  }
}

class ScopedReserve {
 public:
  ScopedReserve() {
    const std::lock_guard<std::mutex> lock(reserve_mutex);
    if (reserve_users++ == 0) other_handler = std::set_new_handler(ReleaseReserve);
    if (reserve == nullptr) reserve = ::operator new(kReserveBytes, std::nothrow);
    is_there_ = reserve != nullptr;
  }
  ~ScopedReserve() {
    const std::lock_guard<std::mutex> lock(reserve_mutex);
    if (--reserve_users > 0) return;
    std::set_new_handler(other_handler);
    ::operator delete(reserve.exchange(nullptr));
  }
  ScopedReserve(const ScopedReserve&) = delete;
  ScopedReserve& operator=(const ScopedReserve&) = delete;

  bool is_there() const { return is_there_; }

 private:
  bool is_there_ = false;
};

constexpr int32_t kNoMemory = 3;

// Allocates nothing: the text is short.
void SayNoMemory(OpensetAnswer* answer) {
  answer->code = kNoMemory;
  answer->text = "out of memory";
}

}  // namespace
}  // namespace openset

extern "C" {

int32_t openset_interface(void) { return OPENSET_INTERFACE; }

OpensetAnswer* openset_call(const char* request, int64_t request_bytes, const OpensetArray* arrays,
                            int64_t num_arrays) {
  auto* const answer = new (std::nothrow) OpensetAnswer;
  if (answer == nullptr) return nullptr;
  const openset::ScopedReserve reserve;
  if (!reserve.is_there()) {
    openset::SayNoMemory(answer);
    return answer;
  }
  try {
    if (request == nullptr || request_bytes < 0) {
      answer->code = 2;
      answer->text = "there is no request";
      return answer;
    }
    absl::StatusOr<openset::CallAnswer> found =
        openset::AnswerText(absl::string_view(request, static_cast<size_t>(request_bytes)), arrays, num_arrays);
    answer->code = openset::ExitCode(found.status());
    if (found.ok()) {
      answer->hints = openset::JsonText(nlohmann::json(found->hints));
      answer->text = std::move(found->text);
      answer->found = *std::move(found);
    } else {
      answer->text = openset::OneLine(found.status().message());
    }
  } catch (const std::bad_alloc&) {
    openset::SayNoMemory(answer);
  } catch (const std::length_error&) {  // more than any memory holds
    openset::SayNoMemory(answer);
  } catch (const std::exception& error) {
    answer->code = 1;
    try {
      answer->text = openset::OneLine(error.what());
    } catch (...) {
      answer->text = "failed";
    }
  } catch (...) {
    answer->code = 1;
    answer->text = "failed";
  }
  return answer;
}

int32_t openset_code(const OpensetAnswer* answer) { return answer->code; }

const char* openset_text(const OpensetAnswer* answer, int64_t* bytes) {
  *bytes = static_cast<int64_t>(answer->text.size());
  return answer->text.data();
}

const char* openset_hints(const OpensetAnswer* answer, int64_t* bytes) {
  *bytes = static_cast<int64_t>(answer->hints.size());
  return answer->hints.data();
}

const void* openset_array(const OpensetAnswer* answer, const char* name, int64_t* length) {
  const absl::string_view wanted(name);
  *length = 0;
  if (wanted == "unknown_score" && !answer->found.unknown_score.empty()) {
    *length = static_cast<int64_t>(answer->found.unknown_score.size());
    return answer->found.unknown_score.data();
  }
  if (wanted == "rejected" && !answer->found.rejected.empty()) {
    *length = static_cast<int64_t>(answer->found.rejected.size());
    return answer->found.rejected.data();
  }
  if (wanted == "prediction" && !answer->found.prediction.empty()) {
    *length = static_cast<int64_t>(answer->found.prediction.size());
    return answer->found.prediction.data();
  }
  return nullptr;
}

void openset_free(OpensetAnswer* answer) { delete answer; }

void openset_limit_threads(int32_t threads) { openset::LimitThreads(threads < 1 ? 1 : threads); }

}  // extern "C"
