"""What a script with scikit-learn usually does."""
import sklearn
from sklearn import metrics as sk

NAME, VERSION = "scikit-learn", sklearn.__version__


def metrics(d):
    unknown, score = d["label"] < 0, d["unknown_score"].astype(float)
    fpr, tpr, _ = sk.roc_curve(unknown, score)
    precision, recall, _ = sk.precision_recall_curve(unknown, score)
    return {
        "auroc": sk.roc_auc_score(unknown, score),
        "aupr_unknown": sk.average_precision_score(unknown, score),
        "aupr_known": sk.average_precision_score(~unknown, -score),
        "fpr95_unknown_positive": fpr[(tpr >= 0.95).argmax()],
        "accuracy": sk.accuracy_score(d["label"][~unknown], d["prediction"][~unknown])
    }
