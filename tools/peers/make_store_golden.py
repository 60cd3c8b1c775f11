"""Writes experiments/store/testdata/version_2: a store as the first release with schema version 2 wrote it.

    schema=$(mktemp -d) generated=$(mktemp -d)
    git archive RELEASE $(git ls-tree -r --name-only RELEASE | grep '\\.proto$') | tar x -C $schema
    cd $schema && protoc -I. --python_out=$generated $(find . -name '*.proto')
    PYTHONPATH=$generated python3 tools/peers/make_store_golden.py experiments/store/testdata/version_2_trial.textproto \\
        experiments/store/testdata/version_2

Python's `protobuf` writes the messages, with the schema of that release, and this script the frame around them. The
second record has a field that this openset doesn't know, as a later openset of the same schema version may write.
"""

import hashlib
import os
import sys

from google.protobuf import text_format

from experiments.store import record_pb2


def framed(message):
    payload = message.SerializeToString(deterministic=True)
    length = len(payload).to_bytes(8, "little")
    return b"openset record 1\n" + length + hashlib.sha256(length + payload).digest() + payload


# TrialId() of the trial with this seed. The release had no fields that its schema does not have; they decide nothing.
IDS = {7: "926bce2b6fc273e09323cd51a61676b928a099d78a5297bcd5e1b7ce744d8db0",
       8: "5cdd9cf901bf7749519c546ec4bca4c05699411a26018633542851f2246230dd"}


def record(trial, seed, method, unknown_field):
    made = record_pb2.TrialRecord(schema_version=2, trial_id=IDS[seed])
    text_format.Parse(trial, made.trial, allow_unknown_field=True)
    made.trial.task = "fashion_mnist_6_4"
    made.trial.split = 1
    made.trial.seed = seed
    made.trial.axis.add(name="lambda", value="0.1")
    made.trial.method.name = method
    metric = made.metric.add(name="openauc", value=0.8125, unit="share", higher_is_better=True)
    metric.spec.openauc.SetInParent()
    metric.group.kind = record_pb2.MetricGroup.POOL
    made.metric.add(name="aurc", absent_reason="no known sample is right")
    made.counts.known = 6000
    made.counts.unknown = 4000
    made.epoch.add(epoch=0, learning_rate=0.1, loss=1.5, train_accuracy=0.5)
    stage = made.provenance.stage.add(stage=record_pb2.StageProvenance.EVALUATE, key=IDS[seed], host="here")
    stage.component.add(family="ScoreSpec", name="max_logit", revision=1, fingerprint="f" * 64)
    bytes_ = made.SerializeToString(deterministic=True)
    if unknown_field:
        bytes_ += b"\xc2\xb8\x02" + bytes([len(unknown_field)]) + unknown_field  # field 5000, of bytes
    return record_pb2.TrialRecord.FromString(bytes_)


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        trial = file.read()
    folder = sys.argv[2]
    for made in (record(trial, 7, "openauc", b""), record(trial, 8, "softmax", b"from a later version")):
        path = f"{folder}/records/{made.trial_id[:2]}/{made.trial_id}.rec"
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(framed(made))
    with open(f"{folder}/version", "w", encoding="ascii") as file:
        file.write("openset store 2\n")


if __name__ == "__main__":
    main()
