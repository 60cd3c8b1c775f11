"""Writes experiments/store/testdata/version_2: a store as the first release with schema version 2 wrote it.

    git archive RELEASE $(git ls-tree -r --name-only RELEASE | grep '\\.proto$') | tar x -C /tmp/schema
    cd /tmp/schema && protoc -I. --python_out=/tmp/generated $(find . -name '*.proto')
    PYTHONPATH=/tmp/generated python3 tools/peers/make_store_golden.py experiments/store/testdata/version_2

Python's `protobuf` writes the messages, by the schema of that release, and this the frame around them. The second record
is as a later openset of the same schema version may write it: it has a field that nobody here knows.
"""

import hashlib
import os
import sys

from experiments.store import record_pb2


def framed(message):
    payload = message.SerializeToString(deterministic=True)
    length = len(payload).to_bytes(8, "little")
    return b"openset record 1\n" + length + hashlib.sha256(length + payload).digest() + payload


def record(trial_id, method, unknown_field):
    made = record_pb2.TrialRecord(schema_version=2, trial_id=trial_id)
    made.trial.task = "fashion_mnist_6_4"
    made.trial.split = 1
    made.trial.seed = 7
    made.trial.axis.add(name="lambda", value="0.1")
    made.trial.method.name = method
    made.trial.method.training.epochs = 20
    metric = made.metric.add(name="openauc", value=0.8125, unit="share", higher_is_better=True)
    metric.spec.openauc.SetInParent()
    metric.group.kind = record_pb2.MetricGroup.POOL
    made.metric.add(name="aurc", absent_reason="no known sample is right")
    made.counts.known = 6000
    made.counts.unknown = 4000
    made.epoch.add(epoch=0, learning_rate=0.1, loss=1.5, train_accuracy=0.5)
    made.outputs_key = "0" * 64
    stage = made.provenance.stage.add(stage=record_pb2.StageProvenance.EVALUATE, key=trial_id, host="here")
    stage.component.add(family="ScoreSpec", name="max_logit", revision=1, fingerprint="f" * 64)
    bytes_ = made.SerializeToString(deterministic=True)
    if unknown_field:
        bytes_ += b"\xc2\xb8\x02" + bytes([len(unknown_field)]) + unknown_field  # field 5000, of bytes
    return record_pb2.TrialRecord.FromString(bytes_)


def main():
    folder = sys.argv[1]
    records = {"ab" + "1" * 62: record("ab" + "1" * 62, "openauc", b""),
               "cd" + "2" * 62: record("cd" + "2" * 62, "softmax", b"from a later version")}
    for trial_id, made in records.items():
        path = f"{folder}/records/{trial_id[:2]}/{trial_id}.rec"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(framed(made))
    with open(f"{folder}/version", "w", encoding="ascii") as file:
        file.write("openset store 2\n")


if __name__ == "__main__":
    main()
