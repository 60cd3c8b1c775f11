// A user's first hour, through the program: their own study from its plan to its figures, and their own images. The
// rest is in show_test (names), eval_test and compare_test (only scores), records_test (mistakes in a spec), run_test
// (two runs at once) and score_test (an invalid model).
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "data/inspect/contact_sheet.h"
#include "data/readers/images/decode_image.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tools/testing/openset_program.h"

namespace openset {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// The README's, on fewer images; of one split.
constexpr char kLambda[] = R"(
name: "lambda"
question: "How large should OpenAUC's weight be?"
task: "fashion_mnist_6_4"
method: "openauc+laptop"
axis { path: "loss.open_auc.lambda" value: ["0.05", "0.2"] }
split: 0
seed: [0, 1]
override { training { epochs: 2 batch_size: 50 } }
train_limit_per_class: 50
test_limit_per_class: 20
metric { accuracy {} } metric { auroc {} } metric { openauc {} }
)";

std::string LineWith(const std::string& text, const std::string& part) {
  for (const absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StrContains(line, part)) return std::string(line);
  }
  return "";
}

// The estimate comes from a probe, which is made once and writes nothing to the store. If the trainings take more than
// a minute, another probe, with two threads, says which number of threads is faster.
TEST(FirstHour, APlanSaysHowLongAStudyTakes) {
  const OpensetProgram program;
  program.Write("lambda.textproto", kLambda);
  const std::string home = program.folder() + "/home";
  setenv("HOME", home.c_str(), 1);
  const ProgramResult plan = program.Run({"plan", "lambda.textproto", "--jobs=2"});
  ASSERT_EQ(plan.exit_code, 0) << plan.err;
  const std::string cost = LineWith(plan.out, "the whole study: about ");
  EXPECT_THAT(cost, AllOf(HasSubstr(" on 2 CPU slots, "), HasSubstr("(100 % by a probe of some seconds)"))) << plan.err;
  EXPECT_FALSE(std::filesystem::exists(program.store()));
  const auto probes = [&home] {
    const auto remembered = std::filesystem::directory_iterator(home + "/.cache/openset/probes");
    return std::distance(begin(remembered), end(remembered));
  };
  EXPECT_EQ(probes(), 1);
  EXPECT_EQ(LineWith(plan.err, " first with "), "");
  EXPECT_EQ(LineWith(program.Run({"plan", "lambda", "--jobs=2", "--noprobe"}).out, "the whole study: about "), cost);
  const std::vector<std::string> longer = {"plan", "lambda", "--jobs=2", "--set=training.epochs=100000"};
  const std::string threads = LineWith(program.Run(longer).err, " first with ");
  EXPECT_THAT(threads, HasSubstr("images a second together"));
  EXPECT_EQ(probes(), 2);
  EXPECT_EQ(LineWith(program.Run(longer).err, " first with "), threads);
  // JSON output makes no probe. The number of slots differs, so that no probe is remembered.
  EXPECT_THAT(program.Run({"plan", "lambda", "--jobs=1", "--format=json"}).out, HasSubstr("\"probed\": 0.0"));
}

TEST(FirstHour, AnOwnStudyIsRunPlottedAndExported) {
  const OpensetProgram program;
  program.Write("lambda.textproto", kLambda);
  const ProgramResult run = program.Run({"run", "lambda", "--jobs=2"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  // By a probe that is remembered or by multiply-adds.
  EXPECT_THAT(LineWith(run.out, " on 2 CPU slots, "), AnyOf(StartsWith("about "), StartsWith("roughly ")));
  // From now on, the estimate comes from its own trainings.
  EXPECT_THAT(program.Run({"plan", "lambda", "--jobs=2"}).out,
              HasSubstr("(100 % from earlier trainings of the same networks here)"));

  const ProgramResult swept = program.Run({"figure", "lambda", "--x=lambda", "--y=AUROC", "--out=l.pdf"});
  EXPECT_EQ(swept.exit_code, 0) << swept.err;
  EXPECT_THAT(program.Read("l.pdf"), StartsWith("%PDF"));
  EXPECT_EQ(program.Run({"figure", "lambda", "--curve=loss"}).out, "lambda_loss.svg\n");
  EXPECT_THAT(program.Read("lambda_loss.svg"), HasSubstr("<svg"));

  const ProgramResult tidy = program.Run({"report", "lambda", "--format=csv", "--tidy"});
  ASSERT_EQ(tidy.exit_code, 0) << tidy.err;
  program.Write("tidy.csv", tidy.out);
  const ProgramResult compared = program.Run({"compare", "tidy.csv", "--metrics=AUROC"});
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  EXPECT_THAT(compared.out, AllOf(HasSubstr("0.05"), HasSubstr("0.2")));
  EXPECT_THAT(program.Run({"show", "method", "openauc"}).out, HasSubstr("    lambda: 0.1\n"));
}

// In another terminal, while it runs: the epoch, and the time left.
TEST(FirstHour, StatusShowsEpochAndTimeLeftAndCancelStops) {
  const OpensetProgram program;
  program.Write("lambda.textproto", absl::StrReplaceAll(kLambda, {{"epochs: 2", "epochs: 1000"}}));
  const pid_t pid = program.Start({"run", "lambda", "--jobs=1"});
  const OpensetProgram other("other");
  other.Write("lambda.textproto", program.Read("lambda.textproto"));
  std::string status;
  int ended = 0;
  // The study takes far longer than the test. Before a speed is known, only the epoch is shown.
  while (!absl::StrContains(status, " images/s") || !absl::StrContains(LineWith(status, "running by "), " left")) {
    usleep(100000);
    ASSERT_EQ(waitpid(pid, &ended, WNOHANG), 0) << program.Read("err.txt");
    status = other.Run({"status", "lambda", "--store=" + program.store()}).out;
  }
  EXPECT_THAT(LineWith(status, "running by "), AllOf(HasSubstr("actions, "), HasSubstr(" left")));
  EXPECT_THAT(LineWith(status, ": epoch "), AllOf(HasSubstr("/1000, loss "), HasSubstr(" images/s")));
  const std::vector<std::string> cancel = {"cancel", "lambda", "--store=" + program.store()};
  EXPECT_THAT(other.Run(cancel).out, HasSubstr(absl::StrCat(", process ", pid, ": asked to stop; its trainings save")));
  ASSERT_EQ(waitpid(pid, &ended, 0), pid);
  EXPECT_TRUE(WIFEXITED(ended) && WEXITSTATUS(ended) == 130) << ended;
  EXPECT_EQ(other.Run(cancel).out, "lambda: nothing runs it, and it has no Slurm jobs\n");
}

// Images of several sizes, in a folder for each class.
TEST(FirstHour, AChangedImageIsMeasuredAgain) {
  const OpensetProgram program;
  const auto write = [&program](const std::string& path, int side, int value) {
    Image image{3, side, side + 4, {}};
    image.pixels.assign(image.channels * image.height * image.width, static_cast<uint8_t>(value));
    program.Write("photos/" + path, EncodePng(image).value());
  };
  for (int i = 0; i < 10; ++i) {
    write(absl::StrCat("cat/", i, ".png"), 16 + i, 20 * i);
    write(absl::StrCat("dog/", i, ".png"), 20 + i, 255 - 20 * i);
    write(absl::StrCat("owl/", i, ".png"), 30, 128);
  }
  program.Write("tasks/pets.textproto", absl::StrCat("name: 'pets' data_set: 'folder:", program.folder(),
                                                     "/photos' split { known: [0, 1] unknown: 2 }"));
  program.Write("own.textproto", R"(
name: "own" task: "pets" method: "softmax" split: 0 seed: 0
override {
  model { osrci_cnn {} }
  input { size: 16 }
  training { epochs: 1 batch_size: 5 optimizer { learning_rate: 0.01 } }
}
metric { auroc {} }
)");
  const ProgramResult first = program.Run({"run", "own.textproto"});
  ASSERT_EQ(first.exit_code, 0) << first.out << first.err;
  EXPECT_THAT(first.out, HasSubstr("1 training, 1 inference, 1 evaluation,"));
  EXPECT_THAT(program.Run({"run", "own.textproto"}).out, HasSubstr("nothing to run"));
  write("dog/3.png", 23, 77);
  const ProgramResult again = program.Run({"run", "own.textproto"});
  ASSERT_EQ(again.exit_code, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("1 inference, 1 evaluation,"));
  EXPECT_EQ(program.Records().size(), 2);
}

}  // namespace
}  // namespace openset
