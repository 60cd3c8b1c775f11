// Compiles a report in LaTeX with a real TeX. Skipped, with a message, if the machine has none.
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/process/capture_output.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/near_far_study.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// If TeX has no booktabs (as in Debian's texlive-latex-base), defines its rules as lines.
constexpr char kDocument[] = R"(\documentclass{article}
\IfFileExists{booktabs.sty}{\usepackage{booktabs}}{\let\toprule\hline\let\midrule\hline\let\bottomrule\hline}
\begin{document}
See Table~\ref{tab:study}.
\input{table}
\end{document}
)";

TEST(Latex, CompilesWithARealTex) {
  const OpensetProgram program;
  WriteNearFarStudy(program);
  ASSERT_EQ(program.Run({"run", "study.textproto"}).exit_code, 0);
  const std::vector<std::string> report = {"report", "study.textproto", "--format=latex", "--out=table.tex"};
  const auto table = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words = report;
    words.insert(words.end(), more.begin(), more.end());
    const ProgramResult result = program.Run(words);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return program.Read("table.tex");
  };
  const bool has_tex = std::system("command -v pdflatex > /dev/null") == 0;
  program.Write("report.tex", kDocument);
  const auto compile = [&] {
    if (!has_tex) return;
    const absl::StatusOr<std::string> log = CaptureOutput({"/bin/sh", "-c",
                                                           absl::StrCat("cd '", program.folder(),
                                                                        "' && pdflatex -interaction=nonstopmode "
                                                                        "-halt-on-error report.tex")});
    ASSERT_TRUE(log.ok()) << log.status();
    EXPECT_THAT(*log, HasSubstr("Output written on report.pdf"));
  };
  EXPECT_THAT(table({}), AllOf(HasSubstr("population standard deviation"), HasSubstr("\\label{tab:study}")));
  compile();
  EXPECT_THAT(table({"--spread=sample", "--digits=1", "--sort=auroc"}),
              AllOf(HasSubstr("sample standard deviation"), Not(HasSubstr("population"))));
  compile();
  EXPECT_THAT(table({"--spread=interval", "--rows=method", "--columns=group,metric"}),
              HasSubstr("half of the 95 \\% interval"));
  compile();
  EXPECT_THAT(program.Run({"report", "study.textproto", "--format=csv", "--digits=1"}).err,
              HasSubstr("--digits: applies to text, markdown and latex tables"));
  EXPECT_THAT(program.Run({"report", "study.textproto", "--spread=std"}).err, HasSubstr("--spread: unknown spread"));
  EXPECT_THAT(program.Run({"report", "study.textproto", "--digits=13"}).err,
              HasSubstr("--digits: must lie in 0 .. 12"));
  EXPECT_THAT(program.Run({"report", "study.textproto", "--sort=aurc,"}).err, HasSubstr("--sort: unknown metric"));
  if (!has_tex) GTEST_SKIP() << "no TeX on this machine (apt-get install texlive-latex-base): nothing was compiled";
}

}  // namespace
}  // namespace openset
