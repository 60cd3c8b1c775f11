# A random forest, on features or on the pixels of images.
import numpy
from sklearn.ensemble import RandomForestClassifier

import openset.trainer

trial = openset.trainer.load()
inputs, labels = trial.arrays("train")
forest = RandomForestClassifier(int(trial.parameters.get("trees", 200)), random_state=trial.seed, n_jobs=trial.threads)
forest.fit(inputs.reshape(len(inputs), -1), labels)
trial.finish(lambda batch: numpy.log(forest.predict_proba(batch.reshape(len(batch), -1)) + 1e-6))
