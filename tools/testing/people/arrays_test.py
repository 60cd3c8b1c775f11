#!/usr/bin/env python3
"""Files of scores, logits and labels that people gave to openset eval, threshold and their like."""
import math
import sys

sys.path[:0] = ["tools/testing", "tools/testing/people"]
from arrays import Array, f32, f64, i64, write_npz  # noqa: E402
from program import main  # noqa: E402
from situation import PeopleTest, answers, refuses  # noqa: E402


def rows(values, columns):
    values = list(values)
    return f32(values, len(values) // columns, columns)


# Four samples of each of three classes and six unknown ones. The logit of sample i's class is 2 + i / 4 above the
# others, an unknown sample's largest logit is 0.5 above, and each sample has another level.
def labels(unknown=-1):
    return [i % 3 if i < 12 else unknown for i in range(18)]


LOGITS = [i % 5 + ((2 + i / 4 if i < 12 else 0.5) if c == i % 3 else 0) for i in range(18) for c in range(3)]


def softmax(values):
    exponentials = [math.exp(x) for x in values]
    return [x / sum(exponentials) for x in exponentials]


PROBABILITIES = [p for i in range(18) for p in softmax(LOGITS[3 * i:3 * i + 3])]


def logit_file(logits, label=None):
    return {"label": i64(label or labels()), "logits": rows(logits, 3)}


Z_FILE, LOGP_FILE = logit_file(LOGITS), logit_file(map(math.log, PROBABILITIES))
FIT_LABELS = [0, 1, 0, 1]  # no sample of class 2


def unsigned(kind, of=None):
    """Whole numbers in this many bits: -1 is the largest."""
    of = of or labels()
    return Array([value % 2**(8 * int(kind[2:])) for value in of], (len(of),), kind)


def table(unknown, prefix=""):
    """A table of the same labels, whose predictions are right, and scores 1 to 18."""
    return "label,prediction,unknown_score\n" + "".join(
        f"{unknown if label < 0 else f'{prefix}{label}'},{prefix}{i % 3},{i + 1}\n" for i, label in enumerate(labels()))


SOFTMAX_OUTPUTS = "the logits are softmax outputs"
LOG_PROBABILITIES = ("these are log-probabilities; energy is 0 for every sample, and the score reads this level of the "
                     "logits; save the outputs before the softmax")
WRITE_MINUS_1 = "if it stands for unknown samples, write -1"

# The outputs of six samples as FD-Shifts stores them, then their labels and data sets.
FD_SHIFTS = [[3, 0, 0, 0, 0], [0, 3, 0, 1, 0], [2, 0, 0, 0, 1], [0, 2, 0, 1, 1], [1, 1, 0, 4, 2], [0, 1, 1, 2, 2]]
FD_LOGITS = {"raw_logits.npz": {"arr_0": rows(sum(FD_SHIFTS, []), 5)}}
FD_OUTPUT = {"raw_output.npz": {"arr_0": rows(sum((softmax(row[:3]) + row[3:] for row in FD_SHIFTS), []), 5)}}


def openood(*conf, label):
    return {"pred": i64([0, 1]), "conf": f64(conf), "label": i64(label)}


def cut_short(program):
    write_npz(program.path("whole.npz"), Z_FILE)
    whole = program.path("whole.npz").read_bytes()
    program.write("s.npz", whole[:len(whole) * 2 // 3])


class ArraysTest(PeopleTest):
    def test_scores(self):
        self.check(
            # In 5 of the 6 pairs of a known and an unknown sample, the unknown one has the larger score.
            answers("large scores", "Lightning-AI/torchmetrics#2819",
                    {"scores.csv": "label,unknown_score\n0,100.1\n1,100.2\n1,100.6\n-1,100.5\n-1,100.9\n"},
                    "eval scores.csv --metrics=auroc", "83.33"),
            answers("large logits", "kkirchheim/pytorch-ood#144",
                    {"logits.csv": "label,logit_0,logit_1\n0,1002,1000\n1,1000,1001\n-1,1000.25,1000\n"},
                    "eval logits.csv --metrics=auroc,accuracy", "auroc     100.00", "accuracy  100.00"),
            # Of the six pairs, the two of the wrong sample count 0 and one tie a half: 3.5 of 6.
            answers("OpenAUC with ties and errors", "wang22ti/OpenAUC#2",
                    {"scores.csv": "label,prediction,unknown_score\n0,0,0.1\n1,1,0.5\n1,0,0.2\n-1,0,0.5\n-1,1,0.9\n"},
                    "eval scores.csv --metrics=openauc", "58.33"),
            answers("scores in the other direction", "tayden/ood-metrics#2",
                    {"scores.csv": "label,unknown_score\n" + "".join(
                        f"{0 if i < 30 else -1},{60 - i}\n" for i in range(60))},
                    "eval scores.csv --metrics=auroc", "0.00", "hint: AUROC is 0.0 %", "--higher_is_known"),
            answers("only known samples", "kkirchheim/pytorch-ood#21",
                    {"scores.csv": "label,prediction,unknown_score\n0,0,0.1\n1,1,0.2\n1,0,0.3\n0,0,0.4\n"},
                    "eval scores.csv --metrics=accuracy,outer,auroc",
                    "75.00", "absent: outer, auroc (no unknown samples)"),
            refuses("no samples", "torch-uncertainty#139", {"scores.csv": "label,unknown_score\n"}, "eval scores.csv",
                    "scores.csv: there are no samples"),
            # Precisions at the two unknown samples: 1 and 2 / 3.
            answers("average precision", "weitliu/energy_ood#9",
                    {"scores.csv": "label,unknown_score\n0,0.1\n0,0.4\n-1,0.3\n-1,0.8\n"},
                    "eval scores.csv --metrics=aupr_unknown", "83.33", "(known : unknown = 1 : 1)"),
            # Both have a confidence of 1, and one is right.
            answers("calibration at a confidence of 1", "Lightning-AI/torchmetrics#3510",
                    {"logits.csv": "label,logit_0,logit_1\n0,100,-100\n1,100,-100\n"},
                    "eval logits.csv --metrics=ece", "50.00"),
            answers("logits of minus infinity", "kkirchheim/pytorch-ood#84",
                    {"logits.csv": "label,logit_0,logit_1,logit_2\n0,1000,-1000,0\n1,0,1000,-1000\n-1,5,5,-inf\n"},
                    "eval logits.csv --score=entropy --metrics=auroc", "100.00"),
            answers("scores that differ little", "scikit-learn/scikit-learn#3864",
                    {"scores.csv": "label,unknown_score\n0,1\n0,-inf\n-1,1.0000000001\n-1,inf\n"},
                    "eval scores.csv --metrics=auroc", "100.00"),
            # All tied: the risk is 1/2 at every coverage.
            *(answers(f"ties with the {first} ones first", "rpatrik96/hallmark#63",
                      {"scores.csv": "label,prediction,unknown_score\n" + samples}, "eval scores.csv --metrics=aurc",
                      "500.00")
              for first, samples in (("right", "0,0,0.5\n1,1,0.5\n0,1,0.5\n1,0,0.5\n"),
                                     ("wrong", "0,1,0.5\n1,0,0.5\n0,0,0.5\n1,1,0.5\n"))),
            refuses("too few for a guarantee", "scikit-learn-contrib/MAPIE#974",
                    {"scores.csv": "label,unknown_score\n" + "".join(f"0,{i}\n" for i in range(1, 19))},
                    "threshold scores.csv --rule=conformal", "at least 19"))

    def test_log_probabilities(self):
        files = {"z.npz": Z_FILE, "logp.npz": LOGP_FILE}
        issue = "ENSTA-U2IS-AI/torch-uncertainty#158"
        self.check(
            answers("logits and energy", issue, files, "eval z.npz --score=energy --metrics=accuracy", "100.00",
                    never=("hint",)),
            refuses("and energy", issue, files, "eval logp.npz --score=energy", "score energy: logp.npz: ",
                    LOG_PROBABILITIES, never=("numpy.log",)),
            refuses("and max_logit", issue, files, "threshold logp.npz --score=max_logit",
                    "score max_logit: logp.npz: ", LOG_PROBABILITIES),
            refuses("and a combination", issue, files, "eval logp.npz --fit=logp.npz "
                    "--score='combine { score { entropy {} } score { energy {} } }'", LOG_PROBABILITIES),
            refuses("to fit to", issue, files, "eval z.npz --fit=logp.npz --score=openmax",
                    "score openmax: logp.npz: ", LOG_PROBABILITIES),
            refuses("in one of two files", issue, files, "eval z.npz logp.npz --score=energy",
                    "score energy: logp.npz: ", LOG_PROBABILITIES),
            # Every unknown sample is less sure than every known one.
            answers("and max_softmax", issue, files, "eval logp.npz --metrics=auroc,accuracy",
                    "auroc     100.00", "accuracy  100.00", never=("hint",)))

    def test_logits(self):
        self.check(
            refuses("probabilities as logits", "Lightning-AI/torchmetrics#1989",
                    {"p.npz": logit_file(PROBABILITIES)}, "eval p.npz", "p.npz: ", SOFTMAX_OUTPUTS,
                    never=("numpy.log",)),
            refuses("probabilities with two decimals", "Lightning-AI/torchmetrics#1989",
                    {"p.npz": logit_file(round(p, 2) for p in PROBABILITIES)}, "eval p.npz", "p.npz: ",
                    SOFTMAX_OUTPUTS),
            refuses("probabilities in percent", "Lightning-AI/torchmetrics#2195",
                    {"p.npz": logit_file(100 * p for p in PROBABILITIES)}, "eval p.npz", "p.npz: ", SOFTMAX_OUTPUTS,
                    "each row sums to 100"),
            refuses("probabilities in half precision", "kwon-evan/LPRNet#5",  # whose first row sums to 1.0005
                    {"p.npz": {"label": i64([0, -1]), "logits": Array([.75, .2505, .5, .5], (2, 2), "<f2")}},
                    "eval p.npz", SOFTMAX_OUTPUTS),
            answers("sigmoid outputs", "Lightning-AI/torchmetrics#1989",
                    {"logits.csv": "label,logit_0,logit_1\n0,0.9,0.3\n1,0.2,0.95\n-1,0.1,0.2\n"},
                    "eval logits.csv --metrics=accuracy",
                    "hint: logits.csv: all logits lie in [0, 1], like sigmoid outputs"),
            answers("one output for unknown samples", "ENSTA-U2IS-AI/torch-uncertainty#158",
                    {"logits.csv": "label,logit_0,logit_1,logit_2\n0,3,0,1\n1,0,3,1\n0,2,1,0\n1,1,2,0\n-1,0,0,3\n"},
                    "eval logits.csv --metrics=accuracy",
                    "of 3 classes", "hint: no sample has label 2, of the last of 3 outputs", "num_classes = 2"),
            answers("one output for unknown samples and the number of classes", "ENSTA-U2IS-AI/torch-uncertainty#158",
                    {"logits.csv": "label,logit_0,logit_1,logit_2,num_classes\n"
                                   "0,3,0,1,2\n1,0,3,1,2\n0,2,1,0,2\n1,1,2,0,2\n-1,0,0,3,2\n"},
                    "eval logits.csv --metrics=accuracy", "of 2 classes", never=("no sample has label",)),
            refuses("transposed logits", "ENSTA-U2IS-AI/torch-uncertainty#158",
                    {"z.npz": {"label": i64(labels()), "logits": rows(LOGITS, 18)}}, "eval z.npz",
                    "z.npz: array 'logits' has shape [3, 18], expected [18, any]"),
            refuses("classes in another order", "cugbrs/MLRSNet#4",
                    {"a.csv": "label,logit_cat,logit_dog\ncat,2,1\n-1,0,0\n",
                     "b.csv": "label,logit_dog,logit_cat\ncat,1,2\n-1,0,0\n"}, "eval a.csv b.csv",
                    "b.csv: its logits are of dog, cat, but the logits of a.csv are of cat, dog"),
            # Names differ in case, or in a blank and an underscore.
            answers("classes that differ in case", "cugbrs/MLRSNet#4",
                    {"a.csv": "label,logit_Dog,logit_dog,logit_a b,logit_a_b\n"
                              "Dog,3,0,0,0\ndog,0,3,0,0\na b,0,0,3,0\na_b,0,0,0,3\n"},
                    "eval a.csv --metrics=accuracy", "of 4 classes", "100.00"),
            refuses("a named logit next to numbered ones", "cugbrs/MLRSNet#4",
                    {"a.csv": "label,logit_0,logit_1,logit_unknown\n0,3,0,1\n-1,0,0,3\n"}, "eval a.csv",
                    "a.csv: line 1: column 'logit_unknown' has no number, and other logits have"),
            refuses("named logits and numbered labels", "cugbrs/MLRSNet#4",
                    {"a.csv": "label,unknown_score,logit_cat,logit_dog\n0,1,3,0\n-1,2,0,0\n"}, "eval a.csv",
                    "a.csv: labels are numbers, and the columns of logits name classes ('logit_cat')"),
            refuses("a class without samples to fit to", "dimitymiller/cac-openset#10",
                    {"z.npz": Z_FILE, "fit.npz": logit_file([3, 0, 0, 0, 3, 0, 2, 1, 0, 0, 4, 1], FIT_LABELS)},
                    "eval z.npz --fit=fit.npz --score=openmax",
                    "fit.npz, which the score is fitted to, has no sample of class 2, and z.npz has some"),
            answers("a class without samples for a temperature", "dimitymiller/cac-openset#10",
                    {"z.npz": Z_FILE, "fit.npz": logit_file([3, 0, 0, 0, 3, 0, 2, 1, 0, 4, 0, 1], FIT_LABELS)},
                    "eval z.npz --fit=fit.npz --score=temperature_scaled_softmax --metrics=auroc",
                    "hint: fit.npz, which the score is fitted to, has no sample of class 2"))

    def test_types_of_labels(self):
        issue, scores = "MaigoAkisame/cmu-thesis#7", f64([1, 2, 3])
        self.check(
            refuses("-1 in uint8", issue, {"s.npz": {"label": unsigned("|u1"), "unknown_score": f64([1] * 18)}},
                    "eval s.npz", "s.npz: array 'label' holds 255, which is -1 (unknown) in an unsigned type"),
            refuses("-1 in uint16", issue, {"s.npz": {"label": unsigned("<u2"), "unknown_score": f64([1] * 18)}},
                    "eval s.npz", "holds 65535, which is -1"),
            refuses("-1 in uint32", issue, {"s.npz": {"label": unsigned("<u4"), "logits": rows(LOGITS, 3)}},
                    "eval s.npz", "holds 4294967295, which is -1"),
            # The same 64 bits.
            answers("-1 in uint64", issue, {"s.npz": {"label": unsigned("<u8"), "logits": rows(LOGITS, 3)}},
                    "eval s.npz --metrics=auroc", "12 known samples of 3 classes, 6 unknown", "100.00"),
            # 255 is a class if 254 is.
            answers("a 256th class in uint8", issue,
                    {"s.npz": {"label": unsigned("|u1", [0, 254, 255]), "prediction": i64([0, 254, 255]),
                               "unknown_score": scores}},
                    "eval s.npz --metrics=accuracy", "of 256 classes", "100.00", never=("hint",)),
            refuses("boolean labels", issue,
                    {"s.npz": {"label": Array([True, True, False], (3,), "|b1"), "unknown_score": scores}},
                    "eval s.npz",
                    "s.npz: array 'label' holds True and False; it must hold the classes of known samples, and -1"),
            refuses("boolean labels in a table", "scikit-learn-contrib/MAPIE#288",
                    {"s.csv": "label,unknown_score\nTrue,1\nFalse,2\n"}, "eval s.csv",
                    "column 'label' holds True and False"),
            refuses("big-endian names of groups", issue,
                    {"s.npz": {"label": i64([0, -1, -1]), "unknown_score": scores, "group": i64([-1, 0, 1]),
                               "group_names": Array(b"\0\0\0A\0\0\0B", (2,), ">U1")}},
                    "eval s.npz", "s.npz: array 'group_names': array is big-endian"))

    def test_labels_of_unknown_samples(self):
        issue, openood_issue = "gorjanradevski/revisiting-spatial-temporal-layouts#3", "Jingkang50/OpenOOD#149"
        self.check(
            answers("255", issue, {"s.csv": table("255")}, "eval s.csv --metrics=accuracy",
                    "hint: no sample is unknown, and label 255 (6 samples) is never predicted", WRITE_MINUS_1),
            answers("255 without predictions", issue, {"s.csv": "label,unknown_score\n0,1\n1,2\n2,3\n255,4\n"},
                    "eval s.csv", "hint: no sample is unknown, and label 255 (1 samples) is far above the others",
                    WRITE_MINUS_1),
            answers("0", issue,
                    {"s.csv": "label,prediction,unknown_score\n1,1,1\n2,2,2\n3,3,3\n3,1,4\n0,1,5\n0,2,6\n"},
                    "eval s.csv --metrics=accuracy",
                    "hint: no sample is unknown, and label 0 (2 samples) is never predicted", WRITE_MINUS_1),
            refuses("-100", "EricFillion/happy-transformer#248", {"s.csv": table("-100")}, "eval s.csv",
                    "s.csv: line 14: column 'label': is -100; it must lie in 0 .. 2, or be -1 for unknown"),
            refuses("the number of outputs", "scikit-learn-contrib/MAPIE#288", {"z.npz": logit_file(LOGITS, labels(3))},
                    "eval z.npz", "z.npz: array 'label', row 12: is 3; it must lie in 0 .. 2, or be -1 for unknown"),
            answers("-1", openood_issue, {"s.csv": table("-1")}, "eval s.csv --metrics=accuracy,auroc",
                    "12 known samples of 3 classes, 6 unknown", "accuracy  100.00", "auroc     100.00",
                    never=("hint",)),
            answers("blank", openood_issue, {"s.csv": table("", "c")}, "eval s.csv --metrics=auroc",
                    "12 known samples of 3 classes, 6 unknown", "100.00", never=("hint",)),
            answers("None", openood_issue, {"s.csv": table("None", "c")}, "eval s.csv",
                    "hint: label 'None' counts as a known class, of 6 samples: ", WRITE_MINUS_1),
            *(answers(name.replace("/", ""), openood_issue, {"s.csv": table(name, "c")}, "eval s.csv",
                      f"hint: label '{name}' counts as a known class") for name in ("null", "N/A", "<UNK>", "novel")),
            answers("OOD", openood_issue, {"s.csv": "label,unknown_score\nID,1\nID,2\nOOD,3\n"}, "eval s.csv",
                    "hint: label 'OOD' counts as a known class, of 1 samples"),
            # No usual name, but never predicted.
            answers("rest", openood_issue, {"s.csv": table("rest", "c")}, "eval s.csv",
                    "hint: no sample is unknown, and label 'rest' (6 samples) is never predicted"),
            refuses("OOD among numbers", openood_issue, {"s.csv": table("OOD")}, "eval s.csv",
                    "line 14: column 'label': 'OOD' is not a whole number; if 'OOD' stands for unknown samples, "
                    "write -1"),
            refuses("OOD next to named logits", openood_issue,
                    {"s.csv": "label,logit_cat,logit_dog\ncat,2,1\nOOD,0,0\n"}, "eval s.csv",
                    "line 3: column 'label': unknown class 'OOD' (known: cat, dog), by the logits; if 'OOD' stands for "
                    "unknown"))

    def test_groups(self):
        with_comma = {"s.csv": 'label,unknown_score,group\n0,1,\n0,2,\n-1,3,"places, 365"\n-1,4,svhn\n'}
        known, own_labels = openood(3, 2, label=[0, 1]), {"svhn.npz": openood(0, 1, label=[7, 3])}
        issue = "Jingkang50/OpenOOD#283"
        self.check(
            answers("with a comma", "Jingkang50/OpenOOD#177", with_comma,
                    "eval s.csv --near='\"places, 365\"' --far=svhn --metrics=auroc", "near", "far", "100.00"),
            refuses("with a comma without quotes", "Jingkang50/OpenOOD#177", with_comma,
                    "eval s.csv '--near=places, 365'",
                    "unknown group 'places'", "a name with a comma needs double quotes"),
            answers("with blanks", "Jingkang50/OpenOOD#149",
                    {"s.csv": "label,unknown_score,group\n0,1,\n0,2,\n-1,3,svhn\n-1,3,svhn \n-1,4,dtd\n"},
                    "eval s.csv --near=svhn --far=dtd --metrics=auroc", "unknown samples       2       1 "),
            answers("OpenOOD's files", issue,
                    {"cifar10.npz": known, "cifar100.npz": openood(1, 2.5, label=[-1, -1]),
                     "svhn.npz": openood(0, 1, label=[-1, -1])},
                    "eval cifar10.npz cifar100.npz svhn.npz --near=cifar100 --far=svhn --metrics=auroc",
                    "2 known samples", "4 unknown samples", "75.00", "100.00"),
            refuses("OpenOOD's files with their own labels", issue, {"cifar10.npz": known, **own_labels},
                    "eval cifar10.npz svhn.npz", "the data sets cifar10, svhn have labels other than -1",
                    "give each a role (--known, --near, --far"),
            refuses("OpenOOD's files with a role for one", issue,
                    {"cifar10.npz": known, "cifar100.npz": openood(1, 2, label=[55, 31]), **own_labels},
                    "eval cifar10.npz cifar100.npz svhn.npz --near=cifar100",
                    "the data sets cifar10, svhn have labels other than -1"),
            answers("OpenOOD's files with roles", issue, {"cifar10.npz": known, **own_labels},
                    "eval cifar10.npz svhn.npz --far=svhn --metrics=auroc",
                    "2 known samples of 2 classes, 2 unknown", "100.00"))

    def test_files_of_fd_shifts(self):
        source = "IML-DKFZ/fd-shifts README"
        self.check(
            answers("logits", source, FD_LOGITS,
                    "eval raw_logits.npz --known=0,1 --far=2 --score=energy --metrics=auroc",
                    "4 known samples", "2 unknown samples", "100.00"),
            answers("probabilities", source, FD_OUTPUT, "eval raw_output.npz --known=0,1 --far=2 --metrics=auroc",
                    "100.00"),
            refuses("probabilities and energy", source, FD_OUTPUT,
                    "eval raw_output.npz --known=0,1 --far=2 --score=energy",
                    "score energy: raw_output.npz: ", LOG_PROBABILITIES),
            refuses("outputs of several passes", source,
                    {"raw_logits_dist.npz": {"arr_0": f32([1] * 12, 2, 3, 2)}}, "eval raw_logits_dist.npz",
                    "raw_logits_dist.npz: array 'arr_0' has shape [2, 3, 2], expected two dimensions",
                    "outputs of several passes"),
            refuses("confidences of other samples", source,
                    {**FD_LOGITS, "external_confids.npz": {"arr_0": f64([1, 2, 3, 4, 5])}},
                    "eval raw_logits.npz external_confids.npz --known=0,1 --far=2",
                    "external_confids.npz: array 'confidence' has shape [5], expected [6]",
                    never=("raw_logits.npz: array",)))

    def test_files(self):
        face_detection, score_table = "Tencent/FaceDetection-DSFD#18", "label,unknown_score\n0,0.1\n-1,0.9\n"
        self.check(
            refuses("arrays without names", "databio/pepatac#125",
                    {"s.npz": {"arr_0": i64([0, 1, -1]), "arr_1": f64([.1, .2, .3])}}, "eval s.npz",
                    "s.npz: array 'arr_0' is an array without a name", "numpy.savez(file, label=..., logits=...)",
                    never=("any",)),
            refuses("one array without a name", "databio/pepatac#125", {"s.npz": {"arr_0": i64([0, 1, -1])}},
                    "eval s.npz", "s.npz: array 'arr_0' has shape [3], expected two dimensions",
                    "other arrays need names", never=("any",)),
            refuses("object arrays", "SRNTT#9",
                    {"s.npz": {"label": Array(b"x" * 16, (2,), "|O"), "unknown_score": f64([1, 2])}}, "eval s.npz",
                    "s.npz: array 'label': array of Python objects"),
            refuses("both names of predictions", "pandas-dev/pandas#13497",
                    {"s.csv": "label,pred,prediction,unknown_score\n0,0,1,0.1\n"}, "eval s.csv",
                    "s.csv: line 1: 'pred' and 'prediction' are two columns of predictions"),
            answers("Excel's separator line", "pandas-dev/pandas#4793",
                    {"s.csv": "sep=;\r\nlabel;unknown_score;prediction\r\ncat;0.1;cat\r\n;0.9;cat\r\n"},
                    "eval s.csv --metrics=auroc", "100.00"),
            answers("byte order mark and semicolons", "pandas-dev/pandas#4793",
                    {"s.csv": "\ufefflabel;unknown_score\r\ncat;0.1\r\n;0.9\r\n"}, "eval s.csv --metrics=auroc",
                    "100.00"),
            refuses("UTF-16", "pandas-dev/pandas#13497", {"s.csv": "label\n".encode("utf-16")}, "eval s.csv",
                    "s.csv: is UTF-16 text: save it as UTF-8"),
            answers("lines that end in returns", "kukur#279", {"s.csv": "label,unknown_score\rcat,0.1\r,0.9\r"},
                    "eval s.csv --metrics=auroc", "100.00"),
            answers("extension in capitals", "scikit-learn/scikit-learn#5735", {"S.CSV": score_table},
                    "eval S.CSV --metrics=auroc", "100.00"),
            refuses("empty archive", face_detection, {"s.npz": ""}, "eval s.npz", "s.npz: is empty"),
            refuses("archive that is cut short", face_detection, cut_short, "eval s.npz", "s.npz: is cut short"),
            refuses("a web page", face_detection, {"s.npz": "<!DOCTYPE html>"}, "eval s.npz",
                    "s.npz: not an .npz archive"),
            refuses("score of NaN", "scikit-learn/scikit-learn#5735",
                    {"s.csv": 'label,unknown_score,note\n0,0.1,"two\nlines"\n0,nan,x\n'}, "eval s.csv",
                    "s.csv: line 4: column 'unknown_score': is NaN"),
            refuses("logit of NaN", "GenerTeam/GENERator#1", {"s.csv": "label,logit_0,logit_1\n0,0.1,5\n0,nan,4\n"},
                    "eval s.csv", "s.csv: line 3: column 'logit_0': is nan"),
            refuses("label out of range", "scikit-learn-contrib/MAPIE#288",
                    {"s.csv": "label,logit_0,logit_1\n0,0.1,5\n2,3,4\n"}, "eval s.csv",
                    "s.csv: line 3: column 'label': is 2; it must lie in 0 .. 1"),
            refuses("prediction of unknown", "scikit-learn-contrib/MAPIE#288",
                    {"s.csv": "label,prediction,unknown_score\n0,0,0.1\n1,-1,0.2\n"}, "eval s.csv",
                    "s.csv: line 3: column 'prediction': is -1; it must lie in 0 .. 1"))


if __name__ == "__main__":
    main()
