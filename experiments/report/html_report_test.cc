#include "experiments/report/html_report.h"

#include "core/proto/text_proto.h"
#include "experiments/spec/method.pb.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace openset {
namespace {

using ::testing::HasSubstr;

TEST(HtmlReport, HoldsTheNumbersPlotsAndProvenance) {
  TrialSpec trial;
  TrialRecord record;
  ASSERT_TRUE(ParseTextProto("task: 't' method { name: 'm' } metric { auroc {} }", "trial", &trial).ok());
  ASSERT_TRUE(ParseTextProto("metric { name: 'auroc' value: 0.7512345678901234 group { kind: POOL } } "
                             "epoch { epoch: 0 loss: 2 } epoch { epoch: 1 loss: 1 } "
                             "provenance { stage { stage: TRAIN key: 'k' commit: 'abc123' dirty: true } }",
                             "record", &record)
                  .ok());
  const std::vector<TrialResult> results = {{&trial, &record}};
  ReportContext context;
  context.question = "Is 1 < 2?";
  context.failures = {"m on t: out of <memory>"};
  const std::string html = HtmlReport(MakeReport("study", results), results, context).value();
  EXPECT_THAT(html, HasSubstr("<h1>study</h1>"));
  EXPECT_THAT(html, HasSubstr("Is 1 &lt; 2?"));
  EXPECT_THAT(html, HasSubstr("\"mean\":0.7512345678901234"));
  EXPECT_THAT(html, HasSubstr("<figure data-chart=\"loss\"></figure>"));
  EXPECT_THAT(html, HasSubstr("abc123, with changes"));
  EXPECT_THAT(html, HasSubstr("out of &lt;memory&gt;"));
}

}  // namespace
}  // namespace openset
