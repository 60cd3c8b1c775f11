// Files of scores, logits and labels that people gave to openset eval, threshold and their like.
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "core/files/formats/npz.h"
#include "tools/testing/people/situation.h"

namespace openset {
namespace {

using Make = std::function<void(const OpensetProgram&)>;

// A file with this text.
Make Text(const std::string& name, const std::string& text) {
  return [=](const OpensetProgram& program) { program.Write(name, text); };
}

Make Arrays(const std::string& name, const NpzArrays& arrays) {
  return [=](const OpensetProgram& program) { ASSERT_TRUE(WriteNpz(program.folder() + "/" + name, arrays).ok()); };
}

Make All(const std::vector<Make>& makes) {
  return [=](const OpensetProgram& program) {
    for (const Make& make : makes) make(program);
  };
}

NpyArray Whole(const std::vector<int64_t>& values) { return MakeNpy(values, {static_cast<int64_t>(values.size())}); }
NpyArray Real(const std::vector<double>& values) { return MakeNpy(values, {static_cast<int64_t>(values.size())}); }
NpyArray Rows(const std::vector<float>& values, int64_t columns) {
  return MakeNpy(values, {static_cast<int64_t>(values.size()) / columns, columns});
}

// Whole numbers in `bytes` bytes each, as NumPy stores them.
NpyArray Small(const std::string& descr, int bytes, const std::vector<int64_t>& values) {
  NpyArray array = {descr, {static_cast<int64_t>(values.size())}, ""};
  for (const int64_t value : values) {
    for (int i = 0; i < bytes; ++i) array.data.push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i)));
  }
  return array;
}

// Four samples of each of three classes and six unknown ones. The logit of sample i's class is 2 + i / 4 above the
// others, an unknown sample's largest logit is 0.5 above, and each sample has another level.
std::vector<float> Logits() {
  std::vector<float> logits;
  for (int i = 0; i < 18; ++i) {
    for (int c = 0; c < 3; ++c) {
      logits.push_back(static_cast<float>(i % 5) + (c == i % 3 ? (i < 12 ? 2 + 0.25f * i : 0.5f) : 0.0f));
    }
  }
  return logits;
}

std::vector<int64_t> Labels(int64_t unknown = -1, int64_t first = 0) {
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < 18; ++i) labels.push_back(i < 12 ? first + i % 3 : unknown);
  return labels;
}

// softmax(logits), changed.
template <typename Change>
std::vector<float> Probabilities(Change change) {
  std::vector<float> p = Logits();
  for (size_t row = 0; row < p.size(); row += 3) {
    double sum = 0;
    for (int c = 0; c < 3; ++c) sum += std::exp(p[row + c]);
    for (int c = 0; c < 3; ++c) p[row + c] = static_cast<float>(change(std::exp(p[row + c]) / sum));
  }
  return p;
}

double Log(double p) { return std::log(p); }
double Percent(double p) { return 100 * p; }
double TwoDecimals(double p) { return std::round(100 * p) / 100; }

Make LogitFile(const std::string& name, const std::vector<float>& logits) {
  return Arrays(name, {{"label", Whole(Labels())}, {"logits", Rows(logits, 3)}});
}

// A table of the same labels, whose predictions are right, and scores 1 to 18.
std::string Table(const std::string& unknown, const std::string& prefix = "") {
  std::string text = "label,prediction,unknown_score\n";
  const std::vector<int64_t> labels = Labels();
  for (size_t i = 0; i < labels.size(); ++i) {
    const std::string label = labels[i] < 0 ? unknown : absl::StrCat(prefix, labels[i]);
    absl::StrAppend(&text, label, ",", prefix, i % 3, ",", i + 1, "\n");
  }
  return text;
}

const char kSoftmaxOutputs[] = "the logits are softmax outputs";
const char kLogProbabilities[] =
    "these are log-probabilities; energy is 0 for every sample, and the score reads this level of the logits; save the "
    "outputs before the softmax";
const char kWriteMinusOne[] = "if it stands for unknown samples, write -1";

const std::vector<Situation> kScores = {
    // In 5 of the 6 pairs of a known and an unknown sample, the unknown one has the larger score.
    Answers("LargeScores", "Lightning-AI/torchmetrics#2819",
            Text("scores.csv", "label,unknown_score\n0,100.1\n1,100.2\n1,100.6\n-1,100.5\n-1,100.9\n"),
            {"eval", "scores.csv", "--metrics=auroc"}, {"83.33"}),
    Answers("LargeLogits", "kkirchheim/pytorch-ood#144",
            Text("logits.csv", "label,logit_0,logit_1\n0,1002,1000\n1,1000,1001\n-1,1000.25,1000\n"),
            {"eval", "logits.csv", "--metrics=auroc,accuracy"}, {"auroc     100.00", "accuracy  100.00"}),
    // Of the six pairs, the two of the wrong sample count 0 and one tie a half: 3.5 of 6.
    Answers("OpenAucWithTiesAndErrors", "wang22ti/OpenAUC#2",
            Text("scores.csv", "label,prediction,unknown_score\n0,0,0.1\n1,1,0.5\n1,0,0.2\n-1,0,0.5\n-1,1,0.9\n"),
            {"eval", "scores.csv", "--metrics=openauc"}, {"58.33"}),
    Answers("ScoresInTheOtherDirection", "tayden/ood-metrics#2",
            [](const OpensetProgram& program) {
              std::string text = "label,unknown_score\n";
              for (int i = 0; i < 60; ++i) absl::StrAppend(&text, i < 30 ? 0 : -1, ",", 60 - i, "\n");
              program.Write("scores.csv", text);
            },
            {"eval", "scores.csv", "--metrics=auroc"}, {"0.00", "hint: AUROC is 0.0 %", "--higher_is_known"}),
    Answers("OnlyKnownSamples", "kkirchheim/pytorch-ood#21",
            Text("scores.csv", "label,prediction,unknown_score\n0,0,0.1\n1,1,0.2\n1,0,0.3\n0,0,0.4\n"),
            {"eval", "scores.csv", "--metrics=accuracy,outer,auroc"},
            {"75.00", "absent: outer, auroc (no unknown samples)"}),
    Refuses("NoSamples", "torch-uncertainty#139", Text("scores.csv", "label,unknown_score\n"), {"eval", "scores.csv"},
            {"scores.csv: there are no samples"}),
    // Precisions at the two unknown samples: 1 and 2 / 3.
    Answers("AveragePrecision", "weitliu/energy_ood#9",
            Text("scores.csv", "label,unknown_score\n0,0.1\n0,0.4\n-1,0.3\n-1,0.8\n"),
            {"eval", "scores.csv", "--metrics=aupr_unknown"}, {"83.33", "(known : unknown = 1 : 1)"}),
    // Both have a confidence of 1, and one is right.
    Answers("CalibrationAtConfidenceOne", "Lightning-AI/torchmetrics#3510",
            Text("logits.csv", "label,logit_0,logit_1\n0,100,-100\n1,100,-100\n"),
            {"eval", "logits.csv", "--metrics=ece"}, {"50.00"}),
    Answers("LogitsOfMinusInfinity", "kkirchheim/pytorch-ood#84",
            Text("logits.csv", "label,logit_0,logit_1,logit_2\n0,1000,-1000,0\n1,0,1000,-1000\n-1,5,5,-inf\n"),
            {"eval", "logits.csv", "--score=entropy", "--metrics=auroc"}, {"100.00"}),
    Answers("ScoresThatDifferLittle", "scikit-learn/scikit-learn#3864",
            Text("scores.csv", "label,unknown_score\n0,1\n0,-inf\n-1,1.0000000001\n-1,inf\n"),
            {"eval", "scores.csv", "--metrics=auroc"}, {"100.00"}),
    // All tied: the risk is 1/2 at every coverage.
    Answers("TiesWithTheRightOnesFirst", "rpatrik96/hallmark#63",
            Text("scores.csv", "label,prediction,unknown_score\n0,0,0.5\n1,1,0.5\n0,1,0.5\n1,0,0.5\n"),
            {"eval", "scores.csv", "--metrics=aurc"}, {"500.00"}),
    Answers("TiesWithTheWrongOnesFirst", "rpatrik96/hallmark#63",
            Text("scores.csv", "label,prediction,unknown_score\n0,1,0.5\n1,0,0.5\n0,0,0.5\n1,1,0.5\n"),
            {"eval", "scores.csv", "--metrics=aurc"}, {"500.00"}),
    Refuses("TooFewForAGuarantee", "scikit-learn-contrib/MAPIE#974",
            Text("scores.csv",
                 "label,unknown_score\n0,1\n0,2\n0,3\n0,4\n0,5\n0,6\n0,7\n0,8\n0,9\n0,10\n0,11\n0,12\n0,13\n0,14\n"
                 "0,15\n0,16\n0,17\n0,18\n"),
            {"threshold", "scores.csv", "--rule=conformal"}, {"at least 19"}),
};

const std::vector<Situation> kLogits = {
    Answers("LogitsAndEnergy", "ENSTA-U2IS-AI/torch-uncertainty#158", LogitFile("z.npz", Logits()),
            {"eval", "z.npz", "--score=energy", "--metrics=accuracy"}, {"100.00"}, {"hint"}),
    Refuses("LogProbabilitiesAndEnergy", "ENSTA-U2IS-AI/torch-uncertainty#158",
            LogitFile("logp.npz", Probabilities(Log)), {"eval", "logp.npz", "--score=energy"},
            {"score energy: logp.npz: ", kLogProbabilities}, {"numpy.log"}),
    Refuses("LogProbabilitiesAndMaxLogit", "ENSTA-U2IS-AI/torch-uncertainty#158",
            LogitFile("logp.npz", Probabilities(Log)), {"threshold", "logp.npz", "--score=max_logit"},
            {"score max_logit: logp.npz: ", kLogProbabilities}),
    Refuses("LogProbabilitiesAndACombination", "ENSTA-U2IS-AI/torch-uncertainty#158",
            LogitFile("logp.npz", Probabilities(Log)),
            {"eval", "logp.npz", "--fit=logp.npz", "--score=combine { score { entropy {} } score { energy {} } }"},
            {kLogProbabilities}),
    Refuses("LogProbabilitiesToFitTo", "ENSTA-U2IS-AI/torch-uncertainty#158",
            All({LogitFile("z.npz", Logits()), LogitFile("logp.npz", Probabilities(Log))}),
            {"eval", "z.npz", "--fit=logp.npz", "--score=openmax"}, {"score openmax: logp.npz: ", kLogProbabilities}),
    Refuses("LogProbabilitiesInOneOfTwoFiles", "ENSTA-U2IS-AI/torch-uncertainty#158",
            All({LogitFile("z.npz", Logits()), LogitFile("logp.npz", Probabilities(Log))}),
            {"eval", "z.npz", "logp.npz", "--score=energy"}, {"score energy: logp.npz: ", kLogProbabilities}),
    // Every unknown sample is less sure than every known one.
    Answers("LogProbabilitiesAndMaxSoftmax", "ENSTA-U2IS-AI/torch-uncertainty#158",
            LogitFile("logp.npz", Probabilities(Log)), {"eval", "logp.npz", "--metrics=auroc,accuracy"},
            {"auroc     100.00", "accuracy  100.00"}, {"hint"}),
    Refuses("ProbabilitiesAsLogits", "Lightning-AI/torchmetrics#1989",
            LogitFile("p.npz", Probabilities([](double p) { return p; })), {"eval", "p.npz"},
            {"p.npz: ", kSoftmaxOutputs}, {"numpy.log"}),
    Refuses("ProbabilitiesWithTwoDecimals", "Lightning-AI/torchmetrics#1989",
            LogitFile("p.npz", Probabilities(TwoDecimals)), {"eval", "p.npz"}, {"p.npz: ", kSoftmaxOutputs}),
    Refuses("ProbabilitiesInPercent", "Lightning-AI/torchmetrics#2195", LogitFile("p.npz", Probabilities(Percent)),
            {"eval", "p.npz"}, {"p.npz: ", kSoftmaxOutputs, "each row sums to 100"}),
    // 0x3a00 is 0.75, 0x3400 0.25 and 0x3800 0.5; 0x3402 is 0.25049.
    Refuses("ProbabilitiesInHalfPrecision", "kwon-evan/LPRNet#5",
            Arrays("p.npz", {{"label", Whole({0, -1})},
                             {"logits", {"<f2", {2, 2}, std::string("\x00\x3a\x02\x34\x00\x38\x00\x38", 8)}}}),
            {"eval", "p.npz"}, {kSoftmaxOutputs}),
    Answers("SigmoidOutputs", "Lightning-AI/torchmetrics#1989",
            Text("logits.csv", "label,logit_0,logit_1\n0,0.9,0.3\n1,0.2,0.95\n-1,0.1,0.2\n"),
            {"eval", "logits.csv", "--metrics=accuracy"},
            {"hint: logits.csv: all logits lie in [0, 1], like sigmoid outputs"}),
    Answers("OneOutputForUnknownSamples", "ENSTA-U2IS-AI/torch-uncertainty#158",
            Text("logits.csv", "label,logit_0,logit_1,logit_2\n0,3,0,1\n1,0,3,1\n0,2,1,0\n1,1,2,0\n-1,0,0,3\n"),
            {"eval", "logits.csv", "--metrics=accuracy"},
            {"of 3 classes", "hint: no sample has label 2, of the last of 3 outputs", "num_classes = 2"}),
    Answers("OneOutputForUnknownSamplesAndTheNumberOfClasses", "ENSTA-U2IS-AI/torch-uncertainty#158",
            Text("logits.csv",
                 "label,logit_0,logit_1,logit_2,num_classes\n0,3,0,1,2\n1,0,3,1,2\n0,2,1,0,2\n1,1,2,0,2\n-1,0,0,3,2\n"),
            {"eval", "logits.csv", "--metrics=accuracy"}, {"of 2 classes"}, {"no sample has label"}),
    Refuses("TransposedLogits", "ENSTA-U2IS-AI/torch-uncertainty#158",
            Arrays("z.npz", {{"label", Whole(Labels())}, {"logits", Rows(Logits(), 18)}}), {"eval", "z.npz"},
            {"z.npz: array 'logits' has shape [3, 18], expected [18, any]"}),
    Refuses("ClassesInAnotherOrder", "cugbrs/MLRSNet#4",
            All({Text("a.csv", "label,logit_cat,logit_dog\ncat,2,1\n-1,0,0\n"),
                 Text("b.csv", "label,logit_dog,logit_cat\ncat,1,2\n-1,0,0\n")}),
            {"eval", "a.csv", "b.csv"}, {"b.csv: its logits are of dog, cat, but the logits of a.csv are of cat, dog"}),
    // Names differ in case, or in a blank and an underscore.
    Answers("ClassesThatDifferInCase", "cugbrs/MLRSNet#4",
            Text("a.csv",
                 "label,logit_Dog,logit_dog,logit_a b,logit_a_b\nDog,3,0,0,0\ndog,0,3,0,0\na b,0,0,3,0\na_b,0,0,0,3\n"),
            {"eval", "a.csv", "--metrics=accuracy"}, {"of 4 classes", "100.00"}),
    Refuses("ANamedLogitNextToNumberedOnes", "cugbrs/MLRSNet#4",
            Text("a.csv", "label,logit_0,logit_1,logit_unknown\n0,3,0,1\n-1,0,0,3\n"), {"eval", "a.csv"},
            {"a.csv: line 1: column 'logit_unknown' has no number, and other logits have"}),
    Refuses("NamedLogitsAndNumberedLabels", "cugbrs/MLRSNet#4",
            Text("a.csv", "label,unknown_score,logit_cat,logit_dog\n0,1,3,0\n-1,2,0,0\n"), {"eval", "a.csv"},
            {"a.csv: labels are numbers, and the columns of logits name classes ('logit_cat')"}),
    Refuses("AClassWithoutSamplesToFitTo", "dimitymiller/cac-openset#10",
            All({LogitFile("z.npz", Logits()),
                 Arrays("fit.npz",
                        {{"label", Whole({0, 1, 0, 1})}, {"logits", Rows({3, 0, 0, 0, 3, 0, 2, 1, 0, 0, 4, 1}, 3)}})}),
            {"eval", "z.npz", "--fit=fit.npz", "--score=openmax"},
            {"fit.npz, which the score is fitted to, has no sample of class 2, and z.npz has some"}),
    Answers("AClassWithoutSamplesForATemperature", "dimitymiller/cac-openset#10",
            All({LogitFile("z.npz", Logits()),
                 Arrays("fit.npz",
                        {{"label", Whole({0, 1, 0, 1})}, {"logits", Rows({3, 0, 0, 0, 3, 0, 2, 1, 0, 4, 0, 1}, 3)}})}),
            {"eval", "z.npz", "--fit=fit.npz", "--score=temperature_scaled_softmax", "--metrics=auroc"},
            {"hint: fit.npz, which the score is fitted to, has no sample of class 2"}),
};

const std::vector<Situation> kLabels = {
    Refuses(
        "MinusOneInUint8", "MaigoAkisame/cmu-thesis#7",
        Arrays("s.npz", {{"label", Small("|u1", 1, Labels())}, {"unknown_score", Real(std::vector<double>(18, 1.0))}}),
        {"eval", "s.npz"}, {"s.npz: array 'label' holds 255, which is -1 (unknown) in an unsigned type"}),
    Refuses(
        "MinusOneInUint16", "MaigoAkisame/cmu-thesis#7",
        Arrays("s.npz", {{"label", Small("<u2", 2, Labels())}, {"unknown_score", Real(std::vector<double>(18, 1.0))}}),
        {"eval", "s.npz"}, {"holds 65535, which is -1"}),
    Refuses("MinusOneInUint32", "MaigoAkisame/cmu-thesis#7",
            Arrays("s.npz", {{"label", Small("<u4", 4, Labels())}, {"logits", Rows(Logits(), 3)}}), {"eval", "s.npz"},
            {"holds 4294967295, which is -1"}),
    // The same 64 bits.
    Answers("MinusOneInUint64", "MaigoAkisame/cmu-thesis#7",
            Arrays("s.npz", {{"label", Small("<u8", 8, Labels())}, {"logits", Rows(Logits(), 3)}}),
            {"eval", "s.npz", "--metrics=auroc"}, {"12 known samples of 3 classes, 6 unknown", "100.00"}),
    // 255 is a class if 254 is.
    Answers("A256thClassInUint8", "MaigoAkisame/cmu-thesis#7",
            Arrays("s.npz", {{"label", Small("|u1", 1, {0, 254, 255})},
                             {"prediction", Whole({0, 254, 255})},
                             {"unknown_score", Real({1, 2, 3})}}),
            {"eval", "s.npz", "--metrics=accuracy"}, {"of 256 classes", "100.00"}, {"hint"}),
    Refuses("BooleanLabels", "MaigoAkisame/cmu-thesis#7",
            Arrays("s.npz", {{"label", Small("|b1", 1, {1, 1, 0})}, {"unknown_score", Real({1, 2, 3})}}),
            {"eval", "s.npz"},
            {"s.npz: array 'label' holds True and False; it must hold the classes of known samples, and -1"}),
    Refuses("BooleanLabelsInATable", "scikit-learn-contrib/MAPIE#288",
            Text("s.csv", "label,unknown_score\nTrue,1\nFalse,2\n"), {"eval", "s.csv"},
            {"column 'label' holds True and False"}),
    Refuses("BigEndianNamesOfGroups", "MaigoAkisame/cmu-thesis#7",
            Arrays("s.npz", {{"label", Whole({0, -1, -1})},
                             {"unknown_score", Real({1, 2, 3})},
                             {"group", Whole({-1, 0, 1})},
                             {"group_names", {">U1", {2}, std::string("\0\0\0A\0\0\0B", 8)}}}),
            {"eval", "s.npz"}, {"s.npz: array 'group_names': array is big-endian"}),
    Answers("UnknownIs255", "gorjanradevski/revisiting-spatial-temporal-layouts#3", Text("s.csv", Table("255")),
            {"eval", "s.csv", "--metrics=accuracy"},
            {"hint: no sample is unknown, and label 255 (6 samples) is never predicted", kWriteMinusOne}),
    Answers("UnknownIs255WithoutPredictions", "gorjanradevski/revisiting-spatial-temporal-layouts#3",
            Text("s.csv", "label,unknown_score\n0,1\n1,2\n2,3\n255,4\n"), {"eval", "s.csv"},
            {"hint: no sample is unknown, and label 255 (1 samples) is far above the others", kWriteMinusOne}),
    Answers("UnknownIsZero", "gorjanradevski/revisiting-spatial-temporal-layouts#3",
            Text("s.csv", "label,prediction,unknown_score\n1,1,1\n2,2,2\n3,3,3\n3,1,4\n0,1,5\n0,2,6\n"),
            {"eval", "s.csv", "--metrics=accuracy"},
            {"hint: no sample is unknown, and label 0 (2 samples) is never predicted", kWriteMinusOne}),
    Refuses("UnknownIsMinus100", "EricFillion/happy-transformer#248", Text("s.csv", Table("-100")), {"eval", "s.csv"},
            {"s.csv: line 14: column 'label': is -100; it must lie in 0 .. 2, or be -1 for unknown"}),
    Refuses("UnknownIsTheNumberOfOutputs", "scikit-learn-contrib/MAPIE#288",
            Arrays("z.npz", {{"label", Whole(Labels(3))}, {"logits", Rows(Logits(), 3)}}), {"eval", "z.npz"},
            {"z.npz: array 'label', row 12: is 3; it must lie in 0 .. 2, or be -1 for unknown"}),
    Answers("UnknownIsMinusOne", "Jingkang50/OpenOOD#149", Text("s.csv", Table("-1")),
            {"eval", "s.csv", "--metrics=accuracy,auroc"},
            {"12 known samples of 3 classes, 6 unknown", "accuracy  100.00", "auroc     100.00"}, {"hint"}),
    Answers("UnknownIsBlank", "Jingkang50/OpenOOD#149", Text("s.csv", Table("", "c")),
            {"eval", "s.csv", "--metrics=auroc"}, {"12 known samples of 3 classes, 6 unknown", "100.00"}, {"hint"}),
    Answers("UnknownIsNone", "Jingkang50/OpenOOD#149", Text("s.csv", Table("None", "c")), {"eval", "s.csv"},
            {"hint: label 'None' counts as a known class, of 6 samples: ", kWriteMinusOne}),
    Answers("UnknownIsNull", "Jingkang50/OpenOOD#149", Text("s.csv", Table("null", "c")), {"eval", "s.csv"},
            {"hint: label 'null' counts as a known class"}),
    Answers("UnknownIsNotAvailable", "Jingkang50/OpenOOD#149", Text("s.csv", Table("N/A", "c")), {"eval", "s.csv"},
            {"hint: label 'N/A' counts as a known class"}),
    Answers("UnknownIsUnk", "Jingkang50/OpenOOD#149", Text("s.csv", Table("<UNK>", "c")), {"eval", "s.csv"},
            {"hint: label '<UNK>' counts as a known class"}),
    Answers("UnknownIsOod", "Jingkang50/OpenOOD#149", Text("s.csv", "label,unknown_score\nID,1\nID,2\nOOD,3\n"),
            {"eval", "s.csv"}, {"hint: label 'OOD' counts as a known class, of 1 samples"}),
    Answers("UnknownIsNovel", "Jingkang50/OpenOOD#149", Text("s.csv", Table("novel", "c")), {"eval", "s.csv"},
            {"hint: label 'novel' counts as a known class"}),
    // No usual name, but never predicted.
    Answers("UnknownIsRest", "Jingkang50/OpenOOD#149", Text("s.csv", Table("rest", "c")), {"eval", "s.csv"},
            {"hint: no sample is unknown, and label 'rest' (6 samples) is never predicted"}),
    Refuses("UnknownIsOodAmongNumbers", "Jingkang50/OpenOOD#149", Text("s.csv", Table("OOD")), {"eval", "s.csv"},
            {"line 14: column 'label': 'OOD' is not a whole number; if 'OOD' stands for unknown samples, write -1"}),
    Refuses(
        "UnknownIsOodNextToNamedLogits", "Jingkang50/OpenOOD#149",
        Text("s.csv", "label,logit_cat,logit_dog\ncat,2,1\nOOD,0,0\n"), {"eval", "s.csv"},
        {"line 3: column 'label': unknown class 'OOD' (known: cat, dog), by the logits; if 'OOD' stands for unknown"}),
};

const std::vector<Situation> kGroups = {
    Answers("GroupWithAComma", "Jingkang50/OpenOOD#177",
            Text("s.csv", "label,unknown_score,group\n0,1,\n0,2,\n-1,3,\"places, 365\"\n-1,4,svhn\n"),
            {"eval", "s.csv", "--near=\"places, 365\"", "--far=svhn", "--metrics=auroc"}, {"near", "far", "100.00"}),
    Refuses("GroupWithACommaWithoutQuotes", "Jingkang50/OpenOOD#177",
            Text("s.csv", "label,unknown_score,group\n0,1,\n0,2,\n-1,3,\"places, 365\"\n-1,4,svhn\n"),
            {"eval", "s.csv", "--near=places, 365"},
            {"unknown group 'places'", "a name with a comma needs double quotes"}),
    Answers("GroupsWithBlanks", "Jingkang50/OpenOOD#149",
            Text("s.csv", "label,unknown_score,group\n0,1,\n0,2,\n-1,3,svhn\n-1,3,svhn \n-1,4,dtd\n"),
            {"eval", "s.csv", "--near=svhn", "--far=dtd", "--metrics=auroc"}, {"unknown samples       2       1 "}),
    Answers(
        "OpenOodFiles", "Jingkang50/OpenOOD#283",
        All({Arrays("cifar10.npz", {{"pred", Whole({0, 1})}, {"conf", Real({3, 2})}, {"label", Whole({0, 1})}}),
             Arrays("cifar100.npz", {{"pred", Whole({0, 1})}, {"conf", Real({1, 2.5})}, {"label", Whole({-1, -1})}}),
             Arrays("svhn.npz", {{"pred", Whole({0, 1})}, {"conf", Real({0, 1})}, {"label", Whole({-1, -1})}})}),
        {"eval", "cifar10.npz", "cifar100.npz", "svhn.npz", "--near=cifar100", "--far=svhn", "--metrics=auroc"},
        {"2 known samples", "4 unknown samples", "75.00", "100.00"}),
    Refuses("OpenOodFilesWithTheirOwnLabels", "Jingkang50/OpenOOD#283",
            All({Arrays("cifar10.npz", {{"pred", Whole({0, 1})}, {"conf", Real({3, 2})}, {"label", Whole({0, 1})}}),
                 Arrays("svhn.npz", {{"pred", Whole({0, 1})}, {"conf", Real({0, 1})}, {"label", Whole({7, 3})}})}),
            {"eval", "cifar10.npz", "svhn.npz"},
            {"the data sets cifar10, svhn have labels other than -1", "give each a role (--known, --near, --far"}),
    Refuses("OpenOodFilesWithARoleForOne", "Jingkang50/OpenOOD#283",
            All({Arrays("cifar10.npz", {{"pred", Whole({0, 1})}, {"conf", Real({3, 2})}, {"label", Whole({0, 1})}}),
                 Arrays("cifar100.npz", {{"pred", Whole({0, 1})}, {"conf", Real({1, 2})}, {"label", Whole({55, 31})}}),
                 Arrays("svhn.npz", {{"pred", Whole({0, 1})}, {"conf", Real({0, 1})}, {"label", Whole({7, 3})}})}),
            {"eval", "cifar10.npz", "cifar100.npz", "svhn.npz", "--near=cifar100"},
            {"the data sets cifar10, svhn have labels other than -1"}),
    Answers("OpenOodFilesWithRoles", "Jingkang50/OpenOOD#283",
            All({Arrays("cifar10.npz", {{"pred", Whole({0, 1})}, {"conf", Real({3, 2})}, {"label", Whole({0, 1})}}),
                 Arrays("svhn.npz", {{"pred", Whole({0, 1})}, {"conf", Real({0, 1})}, {"label", Whole({7, 3})}})}),
            {"eval", "cifar10.npz", "svhn.npz", "--far=svhn", "--metrics=auroc"},
            {"2 known samples of 2 classes, 2 unknown", "100.00"}),
};

// The outputs of six samples, then their labels and data sets.
const std::vector<float> kFdShifts = {3, 0, 0, 0, 0,  //
                                      0, 3, 0, 1, 0,  //
                                      2, 0, 0, 0, 1,  //
                                      0, 2, 0, 1, 1,  //
                                      1, 1, 0, 4, 2,  //
                                      0, 1, 1, 2, 2};
std::vector<float> FdShiftsProbabilities() {
  std::vector<float> rows = kFdShifts;
  for (size_t row = 0; row < rows.size(); row += 5) {
    double sum = 0;
    for (int c = 0; c < 3; ++c) sum += std::exp(rows[row + c]);
    for (int c = 0; c < 3; ++c) rows[row + c] = static_cast<float>(std::exp(rows[row + c]) / sum);
  }
  return rows;
}

const std::vector<Situation> kFiles = {
    Answers("FdShiftsLogits", "IML-DKFZ/fd-shifts README", Arrays("raw_logits.npz", {{"arr_0", Rows(kFdShifts, 5)}}),
            {"eval", "raw_logits.npz", "--known=0,1", "--far=2", "--score=energy", "--metrics=auroc"},
            {"4 known samples", "2 unknown samples", "100.00"}),
    Answers("FdShiftsProbabilities", "IML-DKFZ/fd-shifts README",
            Arrays("raw_output.npz", {{"arr_0", Rows(FdShiftsProbabilities(), 5)}}),
            {"eval", "raw_output.npz", "--known=0,1", "--far=2", "--metrics=auroc"}, {"100.00"}),
    Refuses("FdShiftsProbabilitiesAndEnergy", "IML-DKFZ/fd-shifts README",
            Arrays("raw_output.npz", {{"arr_0", Rows(FdShiftsProbabilities(), 5)}}),
            {"eval", "raw_output.npz", "--known=0,1", "--far=2", "--score=energy"},
            {"score energy: raw_output.npz: ", kLogProbabilities}),
    Refuses("FdShiftsOutputsOfSeveralPasses", "IML-DKFZ/fd-shifts README",
            Arrays("raw_logits_dist.npz", {{"arr_0", MakeNpy(std::vector<float>(12, 1.0f), {2, 3, 2})}}),
            {"eval", "raw_logits_dist.npz"},
            {"raw_logits_dist.npz: array 'arr_0' has shape [2, 3, 2], expected two dimensions",
             "outputs of several passes"}),
    Refuses("FdShiftsConfidencesOfOtherSamples", "IML-DKFZ/fd-shifts README",
            All({Arrays("raw_logits.npz", {{"arr_0", Rows(kFdShifts, 5)}}),
                 Arrays("external_confids.npz", {{"arr_0", Real({1, 2, 3, 4, 5})}})}),
            {"eval", "raw_logits.npz", "external_confids.npz", "--known=0,1", "--far=2"},
            {"external_confids.npz: array 'confidence' has shape [5], expected [6]"}, {"raw_logits.npz: array"}),
    Refuses("ArraysWithoutNames", "databio/pepatac#125",
            Arrays("s.npz", {{"arr_0", Whole({0, 1, -1})}, {"arr_1", Real({0.1, 0.2, 0.3})}}), {"eval", "s.npz"},
            {"s.npz: array 'arr_0' is an array without a name", "numpy.savez(file, label=..., logits=...)"}, {"any"}),
    Refuses("OneArrayWithoutAName", "databio/pepatac#125", Arrays("s.npz", {{"arr_0", Whole({0, 1, -1})}}),
            {"eval", "s.npz"},
            {"s.npz: array 'arr_0' has shape [3], expected two dimensions", "other arrays need names"}, {"any"}),
    Refuses("ObjectArrays", "SRNTT#9",
            Arrays("s.npz", {{"label", {"|O", {2}, std::string(16, 'x')}}, {"unknown_score", Real({1, 2})}}),
            {"eval", "s.npz"}, {"s.npz: array 'label': array of Python objects"}),
    Refuses("BothNamesOfPredictions", "pandas-dev/pandas#13497",
            Text("s.csv", "label,pred,prediction,unknown_score\n0,0,1,0.1\n"), {"eval", "s.csv"},
            {"s.csv: line 1: 'pred' and 'prediction' are two columns of predictions"}),
    Answers("ExcelsSeparatorLine", "pandas-dev/pandas#4793",
            Text("s.csv", "sep=;\r\nlabel;unknown_score;prediction\r\ncat;0.1;cat\r\n;0.9;cat\r\n"),
            {"eval", "s.csv", "--metrics=auroc"}, {"100.00"}),
    Answers("ByteOrderMarkAndSemicolons", "pandas-dev/pandas#4793",
            Text("s.csv", "\xEF\xBB\xBFlabel;unknown_score\r\ncat;0.1\r\n;0.9\r\n"),
            {"eval", "s.csv", "--metrics=auroc"}, {"100.00"}),
    Refuses("Utf16", "pandas-dev/pandas#13497", Text("s.csv", std::string("\xFF\xFEl\0a\0b\0e\0l\0\n\0", 14)),
            {"eval", "s.csv"}, {"s.csv: is UTF-16 text: save it as UTF-8"}),
    Answers("LinesThatEndInReturns", "kukur#279", Text("s.csv", "label,unknown_score\rcat,0.1\r,0.9\r"),
            {"eval", "s.csv", "--metrics=auroc"}, {"100.00"}),
    Answers("ExtensionInCapitals", "scikit-learn/scikit-learn#5735",
            Text("S.CSV", "label,unknown_score\n0,0.1\n-1,0.9\n"), {"eval", "S.CSV", "--metrics=auroc"}, {"100.00"}),
    Refuses("EmptyArchive", "Tencent/FaceDetection-DSFD#18", Text("s.npz", ""), {"eval", "s.npz"}, {"s.npz: is empty"}),
    Refuses("ArchiveThatIsCutShort", "Tencent/FaceDetection-DSFD#18",
            [](const OpensetProgram& program) {
              Arrays("whole.npz", {{"label", Whole(Labels())}, {"logits", Rows(Logits(), 3)}})(program);
              const std::string whole = program.Read("whole.npz");
              program.Write("s.npz", whole.substr(0, whole.size() * 2 / 3));
            },
            {"eval", "s.npz"}, {"s.npz: is cut short"}),
    Refuses("AWebPage", "Tencent/FaceDetection-DSFD#18", Text("s.npz", "<!DOCTYPE html>"), {"eval", "s.npz"},
            {"s.npz: not an .npz archive"}),
    Refuses("ScoreOfNaN", "scikit-learn/scikit-learn#5735",
            Text("s.csv", "label,unknown_score,note\n0,0.1,\"two\nlines\"\n0,nan,x\n"), {"eval", "s.csv"},
            {"s.csv: line 4: column 'unknown_score': is NaN"}),
    Refuses("LogitOfNaN", "GenerTeam/GENERator#1", Text("s.csv", "label,logit_0,logit_1\n0,0.1,5\n0,nan,4\n"),
            {"eval", "s.csv"}, {"s.csv: line 3: column 'logit_0': is nan"}),
    Refuses("LabelOutOfRange", "scikit-learn-contrib/MAPIE#288",
            Text("s.csv", "label,logit_0,logit_1\n0,0.1,5\n2,3,4\n"), {"eval", "s.csv"},
            {"s.csv: line 3: column 'label': is 2; it must lie in 0 .. 1"}),
    Refuses("PredictionOfUnknown", "scikit-learn-contrib/MAPIE#288",
            Text("s.csv", "label,prediction,unknown_score\n0,0,0.1\n1,-1,0.2\n"), {"eval", "s.csv"},
            {"s.csv: line 3: column 'prediction': is -1; it must lie in 0 .. 1"}),
};

INSTANTIATE_TEST_SUITE_P(Scores, PeopleTest, ::testing::ValuesIn(kScores), NameOfSituation);
INSTANTIATE_TEST_SUITE_P(Logits, PeopleTest, ::testing::ValuesIn(kLogits), NameOfSituation);
INSTANTIATE_TEST_SUITE_P(Labels, PeopleTest, ::testing::ValuesIn(kLabels), NameOfSituation);
INSTANTIATE_TEST_SUITE_P(Groups, PeopleTest, ::testing::ValuesIn(kGroups), NameOfSituation);
INSTANTIATE_TEST_SUITE_P(Files, PeopleTest, ::testing::ValuesIn(kFiles), NameOfSituation);

}  // namespace
}  // namespace openset
