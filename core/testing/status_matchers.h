// GoogleTest for all tests: its matchers by their names, and matchers and an assertion for absl::Status and StatusOr.
#ifndef OPENSET_CORE_TESTING_STATUS_MATCHERS_H_
#define OPENSET_CORE_TESTING_STATUS_MATCHERS_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/status_macros.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::EndsWith;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

namespace status_matchers_internal {

inline absl::Status StatusOf(const absl::Status& status) { return status; }

template <typename T>
absl::Status StatusOf(const absl::StatusOr<T>& result) {
  return result.status();
}

}  // namespace status_matchers_internal

// EXPECT_THAT(Open(path), IsOk());
MATCHER(IsOk, negation ? "is not OK" : "is OK") {
  const absl::Status status = status_matchers_internal::StatusOf(arg);
  if (!status.ok()) *result_listener << "whose status is " << status;
  return status.ok();
}

// EXPECT_THAT(Parse("3"), IsOkAndHolds(3)); `value` is a value or a matcher.
MATCHER_P(IsOkAndHolds, value, std::string(negation ? "isn't" : "is") + " OK and holds a value that matches") {
  if (!arg.ok()) {
    *result_listener << "whose status is " << arg.status();
    return false;
  }
  return ::testing::ExplainMatchResult(value, *arg, result_listener);
}

// EXPECT_THAT(Open("nowhere"), StatusIs(absl::StatusCode::kNotFound));
MATCHER_P(StatusIs, code, std::string(negation ? "hasn't" : "has") + " status code " + ::testing::PrintToString(code)) {
  const absl::Status status = status_matchers_internal::StatusOf(arg);
  *result_listener << "whose status is " << status;
  return status.code() == code;
}

// EXPECT_THAT(Open("nowhere"), StatusIs(absl::StatusCode::kNotFound, HasSubstr("nowhere")));
MATCHER_P2(StatusIs, code, message,
           std::string(negation ? "hasn't" : "has") + " status code " + ::testing::PrintToString(code) +
               " and a message that matches") {
  const absl::Status status = status_matchers_internal::StatusOf(arg);
  *result_listener << "whose status is " << status << ' ';
  return status.code() == code &&
         ::testing::ExplainMatchResult(message, std::string(status.message()), result_listener);
}

// EXPECT_THAT(Open("nowhere"), IsNotFound("nowhere")): an error with this code, and with the text in its message.
inline auto IsDataLoss(const std::string& text) { return StatusIs(absl::StatusCode::kDataLoss, HasSubstr(text)); }
inline auto IsFailedPrecondition(const std::string& text) {
  return StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr(text));
}
inline auto IsInvalidArgument(const std::string& text) {
  return StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr(text));
}
inline auto IsNotFound(const std::string& text) { return StatusIs(absl::StatusCode::kNotFound, HasSubstr(text)); }
inline auto IsUnavailable(const std::string& text) { return StatusIs(absl::StatusCode::kUnavailable, HasSubstr(text)); }

}  // namespace openset

// Declares a variable with the value of an absl::StatusOr; if it has none, the test fails with its status and the
// function returns: ASSERT_OK_AND_ASSIGN(const Table table, ReadTable(path));
#define ASSERT_OK_AND_ASSIGN(declaration, ...) \
  ASSERT_OK_AND_ASSIGN_IMPL_(OPENSET_CONCAT_(openset_status_or_, __LINE__), declaration, __VA_ARGS__)

#define ASSERT_OK_AND_ASSIGN_IMPL_(result, declaration, ...) \
  auto result = (__VA_ARGS__);                               \
  ASSERT_THAT(result, ::openset::IsOk());                    \
  declaration = std::move(result).value()

#endif  // OPENSET_CORE_TESTING_STATUS_MATCHERS_H_
