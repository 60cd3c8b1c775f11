"""Reads event files with the tensorboard package and compares them with the records' numbers.

    openset report SPEC --format=tensorboard --out=events
    openset report SPEC --format=json --out=report.json
    python3 tools/peers/tensorboard_peer.py events report.json      # pip install tensorboard

Every learning curve of the JSON must be there, epoch by epoch, and every value of the tables, to single precision.
"""
import glob
import json
import os
import sys

from tensorboard.backend.event_processing.event_accumulator import EventAccumulator


def main(folder, report_file):
    with open(report_file, encoding="utf-8") as file:
        report = json.load(file)
    runs = {}
    for path in glob.glob(os.path.join(folder, "**", "events.out.tfevents.*"), recursive=True):
        events = EventAccumulator(path, size_guidance={"scalars": 0})
        events.Reload()
        runs[path.rsplit(".", 1)[1]] = events
    compared = 0

    def same(ours, theirs):
        nonlocal compared
        compared += 1
        if abs(ours - theirs) > 1e-6 * max(1, abs(ours)):
            sys.exit(f"{ours} in the report is {theirs} in the events")

    trials = report["results"]
    if len(trials) != len(runs):
        sys.exit(f"{len(trials)} trials in the report, {len(runs)} event files")
    values = {}
    for trial in trials:
        events = runs[trial["id"]]
        if trial["curve"]:
            at = {event.step: event.value for event in events.Scalars("training/objective")}
        for epoch in trial["curve"]:
            same(epoch["loss"], at[epoch["epoch"]])
        for tag in events.Tags()["scalars"]:
            if tag.startswith("test/"):
                values.setdefault(tag[len("test/"):], []).append(events.Scalars(tag)[0].value)
    for cell in report["cells"]:
        tag = cell["metric"] if cell["group"] == "pool" else f'{cell["group"]}/{cell["metric"]}'
        for value in cell["values"]:
            nearest = min(values[tag], key=lambda other: abs(other - value))
            same(value, nearest)
    print(f"{compared} numbers of {len(runs)} trials agree")


main(*sys.argv[1:])
