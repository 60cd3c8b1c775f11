#!/usr/bin/env python3
"""Writes docs/coverage.md: every table and figure of the three papers, with its study and cost.

    bazel run //tools:coverage -- [FLAGS OF openset plan ...] > docs/coverage.md

The image passes, multiply-adds and hours are those of `openset plan STUDY --format=json`. For full forms, they are
estimated from multiply-adds alone, as if nothing had been trained, because trainings of small networks say little about
large ones. The time of a small form comes from its records in the store of --store. Nothing is trained.
"""

import json
import os
import subprocess
import sys
import tempfile

OPENAUC, IMBALANCE, UNIFIED, WEIGHTS = (
    "OpenAUC (Wang et al. 2022)", "Class-imbalance evaluation (Komorniczak and Ksieniewicz 2024)",
    "Unified benchmark (Kim et al. 2023)", "Released weights and logs")

# Table or figure, study, small form, note. Studies are looked up; other commands are printed as they are.
ROWS = [
    (OPENAUC, "Table 1: consistency of metrics", "", "", "a test, `//eval/propositions:all`, checks each property with the counterexamples of the propositions"),
    (OPENAUC, "Table 2: eight methods on six tasks", "openauc_table_2", "openauc_table_2_small", "two methods in two forms"),
    (OPENAUC, "Table 2, the last three rows on test samples drawn as in the paper's code", "openauc_table_2_drawn", "", "the trainings are those of `openauc_table_2`"),
    (OPENAUC, "Table 3: truth table of a proof", "", "", "nothing is measured"),
    (OPENAUC, "Tables 4 and 5: CUB, easy, medium and hard", "openauc_tables_4_5", "openauc_tables_4_5_small", "the paper starts from MoCo v2's weights"),
    (OPENAUC, "Fig. 1: metrics over the TPR of unknown samples", "", "", "`openset figure openauc_figure_1`: from synthetic predictions, in seconds; for a trained network: `openset eval FILE --curves=DIR`"),
    (OPENAUC, "Fig. 2: sensitivity to lambda", "openauc_lambda", "openauc_lambda_small", "`openset figure openauc_lambda --x=lambda --y=openauc`; the supplement varies nothing else"),
    (OPENAUC, "Fig. 3: three inconsistencies", "", "", "drawn by hand in the paper; the tests are those of Table 1"),
    (IMBALANCE, "Table 1: four scores of four methods", "imbalance_table_1", "imbalance_table_1_small", "as released and corrected"),
    (IMBALANCE, "Fig. 1: known and unknown samples by openness", "", "", "`openset figure imbalance_figure_1`: seconds"),
    (IMBALANCE, "Fig. 2: metrics of random predictions", "", "", "`openset figure imbalance_figure_2`: seconds"),
    (IMBALANCE, "Figs. 3 and 4: confusion matrices of the scores", "", "", "drawn by hand in the paper; `eval/metrics/balanced_score_test.cc` has such matrices"),
    (IMBALANCE, "Fig. 5: images of the holdout protocol", "", "", "`openset data show mnist`"),
    (IMBALANCE, "Fig. 6: the scores while the networks learn", "imbalance_figure_6", "imbalance_figure_6_small", "`openset figure imbalance_figure_6 --curve=outer`"),
    (UNIFIED, "Table 5: searches", "unified_benchmark_table_5", "unified_benchmark_search", ""),
    (UNIFIED, "Table 6: CIFAR", "unified_benchmark_table_6", "unified_benchmark_table_6_small", "the known classes are substitutes: the paper's list is unpublished"),
    (UNIFIED, "Table 7: ImageNet", "unified_benchmark_table_7", "unified_benchmark_table_7_small", "the near classes are substitutes; for a network trained elsewhere: `openset score --task=imagenet_200_unified`"),
    (UNIFIED, "Fig. 5: improvement over MCP", "", "", "`openset figure unified_benchmark_table_6 --improvement=pooled_aurc`, and of `unified_benchmark_table_7`"),
    (UNIFIED, "Fig. 6: densities of MCP by category", "", "", "`openset figure unified_benchmark_table_7 --curve=categories_mcp+unified_imagenet`, and of `deep_ensemble+unified_imagenet`; over the unknown score, which falls as MCP rises"),
    (UNIFIED, "Fig. 7: heat maps of the mean softmax of unknown classes", "", "", "`openset figure unified_benchmark_table_6 --softmax=near,lsun,textures --methods=mcp,deep_ensemble,outlier_exposure_unified_benchmark`; for small networks over a plane: `openset figure toy_softmax`"),
    (WEIGHTS, "Vaze et al.: TinyImageNet, five networks", "published_vaze_tinyimagenet", "", "no training"),
    (WEIGHTS, "ARPL's Softmax on CIFAR-10, a user's log", "arpl_cifar10_log", "arpl_cifar10_short", ""),
]


def hours_text(hours):
    for limit, factor, unit in ((1 / 60, 3600, "s"), (1, 60, "min"), (48, 1, "h"), (17520, 1 / 24, "days")):
        if hours < limit:
            break
    else:
        factor, unit = 1 / 8760, "years"
    value = hours * factor
    return f"{value:.1f} {unit}" if value < 9.95 and unit not in ("s", "min") else f"{value:.0f} {unit}"


def plan_of(openset, study, flags):
    run = subprocess.run([openset, "plan", study, "--format=json", *flags], capture_output=True, text=True)
    if run.returncode != 0:
        return None, run.stderr.strip().splitlines()[-1]
    return json.loads(run.stdout), ""


def cost(plan, gpu):
    """The cost of the whole study on this machine, which comes first, or on the first GPU after it."""
    whole = [entry for entry in plan.get("cost", []) if entry["what"] == "the whole study"]
    return (whole[1] if len(whole) > 1 else None) if gpu else (whole[0] if whole else None)


def small_time(plan):
    """What the records of all trials took in CPU time on two cores, or otherwise the plan's estimate."""
    took, here = plan.get("took") or {}, cost(plan, False)
    if took.get("stages") and took["missing"] == 0:
        return f"{hours_text(took['cpu_hours'] / 2)} (measured)"
    return f"about {hours_text(here['hours'])}" if here else ""


def main(openset, flags):
    out = ["# Every table and figure of the three papers", "",
           "`bazel run //tools:coverage` writes this file. `openset plan STUDY` prints the same for your machine and store, and",
           "says how to get the data. Image passes come from the plan (a training pass counts as 3, an inference "
           "pass as 1).",
           "Multiply-adds are what the study's networks need for these passes.", "",
           "* **This CPU**: assumes 3e10 multiply-adds per second and thread. VGG32 trains at 107 to 139 images/s on the 2",
           "  cores named below, which is 2.6e10 to 3.4e10 per thread. Networks with fewer than 1e7 multiply-adds an image are",
           "  several times slower.",
           "* **A GPU**: assumes 9 % of the fp32 peak of an H100 (33.5e12 multiply-adds per second). No training on a GPU has been",
           "  recorded yet, so this is only an order of magnitude.",
           "* **Small forms**: the CPU time of the stages in their records, divided by two (`measured`), or the plan's estimate",
           "  (`about`).", ""]
    empty = tempfile.TemporaryDirectory()
    nowhere = os.path.join(empty.name, "store")  # a store that doesn't exist
    where = None
    papers = []
    for paper, what, study, small, note in ROWS:
        if paper not in papers:
            papers.append(paper)
            out += ["", f"## {paper}", "", "| what | study | trials | image passes | multiply-adds | this CPU | a GPU | data to fetch | small form |",
                    "| --- | --- | --- | --- | --- | --- | --- | --- | --- |"]
        cells = ["", "", "", "", "", "", ""]
        if study:
            plan, problem = plan_of(openset, study, [*flags, f"--store={nowhere}"])
            if plan is None:
                cells = [f"`{study}`", "", "", "", "", "", problem]
            else:
                here, gpu = cost(plan, False), cost(plan, True)
                where = where or (here and here["where"])
                cells = [f"`{study}`", str(len(plan["trials"])), f"{here['image_passes']:.1e}" if here else "0",
                         f"{here['multiply_adds']:.1e}" if here else "0",
                         hours_text(here["hours"]) if here else "", hours_text(gpu["hours"]) if gpu else "",
                         ", ".join(data["data_set"] for data in plan["missing_data"]) or "none"]
        small_text = ""
        if small:
            plan, problem = plan_of(openset, small, flags)
            small_text = f"`{small}`" + (f", {small_time(plan)}" if plan else f" ({problem})")
        out.append("| " + " | ".join([what + (f" ({note})" if note else "")] + cells + [small_text]) + " |")
    if where:
        out += ["", f"This CPU: {where}."]
    print("\n".join(out))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
