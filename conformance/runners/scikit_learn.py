"""What a script with scikit-learn usually does."""
import sklearn
from sklearn import metrics as sk

NAME, VERSION = "scikit-learn", sklearn.__version__


def metrics(d):
    unknown, score = d["label"] < 0, d["unknown_score"].astype(float)
    fpr, tpr, _ = sk.roc_curve(unknown, score)
    of_known, known_found, _ = sk.roc_curve(~unknown, -score, drop_intermediate=False)
    wrong = (d["label"] != d["prediction"])[~unknown]
    both = {"auroc_misclassification": sk.roc_auc_score(wrong, score[~unknown])} if len(set(wrong)) > 1 else {}
    return {
        **both,
        "fpr80_known_positive": of_known[(known_found >= 0.8).argmax()],
        "fpr95_known_positive": of_known[(known_found >= 0.95).argmax()],
        "inner": sk.balanced_accuracy_score(d["label"][~unknown], d["prediction"][~unknown]),
        "auroc": sk.roc_auc_score(unknown, score),
        "aupr_unknown": sk.average_precision_score(unknown, score),
        "aupr_known": sk.average_precision_score(~unknown, -score),
        "fpr95_unknown_positive": fpr[(tpr >= 0.95).argmax()],
        "accuracy": sk.accuracy_score(d["label"][~unknown], d["prediction"][~unknown])
    }
