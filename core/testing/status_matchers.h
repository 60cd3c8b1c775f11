// Matchers and an assertion for absl::Status and absl::StatusOr.
#ifndef OPENSET_CORE_TESTING_STATUS_MATCHERS_H_
#define OPENSET_CORE_TESTING_STATUS_MATCHERS_H_

#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "core/status_macros.h"
#include "gmock/gmock.h"

namespace openset {
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
