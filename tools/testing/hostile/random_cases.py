"""Random hostile cases. The same seed gives the same case."""
import random
import re

import data_cases
import store_cases
import text_cases
from case import ANSWERED, ESCAPES, Case, entries, holding
from fixture import (ANY, Fixture, bundle_members, framed, gzip_of, packed, signed, tar_of,
                     tool, zip_of)

PLAN, RUN, LS = text_cases.PLAN_STORE, store_cases.RUN, text_cases.LS
REPORT = "report study.textproto --store=store --data=files --format="
SPECS = [PLAN, REPORT + "text", REPORT + "html", RUN]
READERS = [REPORT + word for word in ("text", "html", "json", "markdown", "latex", "csv")] + [
    LS, LS + " --format=json", LS + " --format=csv", f"records show {ANY.trials[0]} --store=store",
    f"records show {ANY.trials[0]} --store=store --format=json", f"explain {ANY.trials[0]} --store=store",
    "records verify --store=store", "status study.textproto --store=store --data=files",
    "records export --store=store --bundle=out.zip", RUN]
ARRAYS = ["eval logits.npz", "eval logits.npz --ci --replicates=50", "eval logits.npz --format=json", "threshold logits.npz",
          "compare logits.npz logits.npz"]
TABLES = ["eval scores.csv", "eval scores.csv --format=latex", "compare scores.csv scores.csv"]
STORE = ["records verify --store=store", RUN]


def data(name):
    return [text_cases.DATA_SETS.format(name), f"data audit {name} --library=. --data=files"]


# A file from someone else, the commands that read it, and its message, as text or in a record file.
INPUTS = [
    ("spec", "work/study.textproto", SPECS, "ExperimentSpec"),
    *[("method", f"work/experiments/methods/{name}.textproto", SPECS, "MethodSpec") for name in ("plain", "pairs")],
    ("preset", "work/experiments/presets/short.textproto", SPECS, "MethodSpec"),
    ("task", "work/data/tasks/task.textproto",
     [PLAN, REPORT + "text", "task splits task --library=.", "show task task --library=."], "TaskSpec"),
    ("catalog", "work/data/catalog/digits.textproto",
     [PLAN, REPORT + "html", "data list --library=.", "show data digits --library=.", data("digits")[0]], "DataSetInfo"),
    ("published table", "work/experiments/published/table.textproto", SPECS[1:3], "PublishedTable"),
    ("deploy file", "work/deploy.textproto",
     ["plan study.textproto --deploy=deploy.textproto", "status --deploy=deploy.textproto", RUN], "DeploySpec"),
    *[("record", ANY.record(trial), READERS, "TrialRecord") for trial in (0, 1)],
    ("checkpoint", ANY.checkpoint() + "summary.rec", STORE, "TrainSummary"),
    *[("checkpoint", ANY.checkpoint() + name, STORE, None) for name in ("checkpoint.safetensors", "action.textproto")],
    ("outputs", ANY.outputs() + "summary.rec", STORE, "InferSummary"), ("outputs", ANY.outputs() + "outputs.npz", STORE, None),
    ("store", "work/store/version", STORE, None),
    ("bundle", "work/bundle.zip", ["records merge bundle.zip --store=merged"], None),
    ("arrays (.npz)", "work/logits.npz", ARRAYS, None),
    *[("array (.npy)", f"work/{name}.npy", [data_cases.NPY], None) for name in ("label", "unknown_score")],
    ("table (.csv)", "work/scores.csv", TABLES, None),
    ("MATLAB file (.mat)", "work/files/mats/digits.mat", data("mats"), None),
    *[("image file of a data set", "work/files/" + path, data(name), None) for name, path in (
        ("digits", "digits/test-images"), ("digits", "digits/test-labels"), ("binary", "binary/train.bin"),
        ("arrays", "arrays/images.npz"), ("listed", "listed/list.txt"))],
    *[("image", "work/files/photos/" + path, data("photos"), None)
      for path in ("cat/1.png", "cat/2.jpg", "dog/1.webp", "dog/2.png")]]
TOKENS = ["999999999", "-1", "{", "}", "'", "../../outside/file", "nan", "1e999", "\x1b[2J", "\x1b]0;x\a", "\xff", "\n", "+",
          "~", ".", "/", "\xe2\x80\xae", "<script>", "axis { ", "9223372036854775807", "[", "]", "#", "\0", "PK\5\6", "PK\1\2",
          "ustar", "\x93NUMPY", "IDAT", "\xff\xda", "$(touch pwn)", "';touch pwn;'", "(1000000000,)"]


def mutated(text, draw):
    """After one to six changes: a byte or a bit, a range that is removed or copied, the end, or a token."""
    for _ in range(draw.randint(1, 6) if text else 0):
        at, length = draw.randrange(len(text) or 1), draw.randrange(1, 20)
        token = draw.choice(TOKENS)
        text = draw.choice([lambda: text[:at] + chr(draw.randrange(256)) + text[at + 1:],
                            lambda: text[:at] + chr(ord(text[at]) ^ 1 << draw.randrange(8)) + text[at + 1:] if text else "",
                            lambda: text[:at] + text[at + length:], lambda: text[:at] + text[-length:] + text[at:],
                            lambda: text[:at], lambda: text[:at] + token + text[at:],
                            lambda: text[:at] + token + text[at + len(token):]])()
    return text


def changed_fields(type_, content, draw, suffix=".rec"):
    """The message in a file with this content, with changed fields and a correct checksum."""
    file = ANY.folder + "/tmp/message" + suffix
    ANY.write("tmp/message" + suffix, content)
    changed = tool("mutate", type_, file, str(draw.randrange(2**63)))
    ANY.remove("tmp/message" + suffix)
    return changed


def of(kind, path, command, what):
    # Output files, and the store for commands that may change it. A deploy file without a store has the default one.
    writes = ["work/merged", "work/out.zip", "work/openset-store"]
    if {"run", "verify", "gc"} & set(command.split(" ")[:2]):
        writes.append("work/store")
    return Case(kind, f"{what} of {path.split('/')[-1]} ({command})", command, end=ANSWERED, writes=writes)


def changed_file(draw):
    kind, path, commands, type_ = draw.choice(INPUTS)
    content = ANY.read(path)
    if type_ is None or draw.random() < 0.3:
        content, what = mutated(content, draw), "bytes"
    else:
        content, what = changed_fields(type_, content, draw, path[path.rindex("."):]), "fields"
    case = of(kind, path, draw.choice(commands), what).but(make=holding(path, content))
    store = re.search(r'^store: "([^./][^/"]*)"', content, re.MULTILINE)  # any folder next to the file may be its store
    return case.but(writes=case.writes + ["work/" + store[1]]) if kind == "deploy file" and store else case


def in_its_place(draw):
    kind, path, commands, _ = draw.choice(INPUTS)
    return draw.choice(list(entries(of(kind, path, draw.choice(commands), "file"), path)))


TYPES = {"records/": "TrialRecord", "library/specs/": "ExperimentSpec", "library/tasks/": "TaskSpec",
         "library/catalog/": "DataSetInfo", "outputs/": "InferSummary", "checkpoints/": "TrainSummary"}


def changed_member(draw):
    """Of a bundle, by its bytes or its fields; its signature is right."""
    trial = ANY.trials[0]
    command = draw.choice([
        "records merge full.zip --store=merged", "records ls full.zip", f"records show full.zip {trial}",
        "records verify full.zip", "report full.zip --format=html", f"records spec full.zip {trial} --data=files",
        "reproduce full.zip --data=files --worker=/bin/true --jobs=1 --retries=0 --again=merged"])
    members = bundle_members(ANY, "work/full.zip")
    place = draw.randrange(len(members))
    name, content = members[place].name, members[place].content
    type_ = next((type_ for folder, type_ in TYPES.items() if name.startswith(folder)), None)
    if type_ is None or not name.endswith((".rec", ".textproto")) or name.endswith("action.textproto") or draw.random() < 0.3:
        content = mutated(content, draw)
    else:
        content = changed_fields(type_, content, draw, name[name.rindex("."):])
    members[place] = members[place]._replace(content=content)
    form = draw.choice([list, packed])

    def make(fixture):
        fixture.write("work/full.zip", signed(form(members)))
        if "records spec" in command or "reproduce" in command:
            fixture.remove("work/data")  # so that only the bundle's library has these names
    return of("bundle", name, command, "member").but(make=make)


COMMANDS = [PLAN, REPORT + "text", LS, "records gc --store=store --dry_run", "records rm split=0 --store=store --dry_run",
            "records ls full.zip", "report full.zip", "devices", "eval scores.csv", "eval logits.npz",
            "compare scores.csv scores.csv", "threshold scores.csv", "list methods", "show method plain --library=.",
            "data list --library=.", "task splits task --library=.", "figure study.textproto --store=store --data=files",
            "status --store=store", "explain abcd --store=store", "list words run --names", "export outputs",
            "score --model=weights.safetensors", "compare study.textproto --store=store --data=files",
            "task new mine --library=."]
FLAGS = ("jobs retries devices engine format rows columns metrics score ci level seed sort set seeds methods only redo near far "
         "unknown known split x y curve threads library deploy name parts per_class tile exact convention fit replicates "
         "ci_method data tidy older_than max_failures splits folds max_size spread digits baseline with network trials brief "
         "bundle all_pairs dry_run task model outputs max_trials").split()
VALUES = ["", "-1", "0", "1", "2147483647", "9223372036854775808", "nan", "inf", "1e308", "true", "x", "/dev/zero",
          "../../outside/file", ESCAPES, "a\nb", "auroc", "all", "method,metric", "plain", "task", "'", "{",
          "energy { temperature: nan }", "training.epochs=-1", "0..99999999999", "@/dev/zero", "cuda:99", "text", "json",
          "=1+1", "x" * 5000, ",,,", "--", "*"]


def nonsense(draw):
    words = draw.choice(COMMANDS).split(" ")
    for _ in range(draw.randint(1, 4)):
        value = draw.choice(VALUES)
        words.append(value if draw.random() < 0.2 else f"--{draw.choice(FLAGS)}={value}")
    return Case("flag", "words: " + " ".join(words)[:200], words, end=ANSWERED,
                writes=["work/study", "work/tasks", "work/data/tasks", "work/mine.textproto"])


def claim(draw):
    state = ANY.changed("RunState", "", store_cases.LIVES + ["+running { description: 'plain, split 0, seed 0' }"])
    state = mutated(state, draw) if draw.random() < 0.3 else changed_fields("RunState", state, draw)
    name = store_cases.PROCESS + "+1\n"
    name = mutated(name, draw) if draw.random() < 0.5 else name
    command = draw.choice([RUN, "status study.textproto --deploy=deploy.textproto", "status --store=store",
                           "status --store=store --format=json"])
    return Case("claim", "a claim", command, store_cases.both(
        store_cases.without_record, holding(store_cases.STATE, state), holding(store_cases.CLAIM, name)), ANSWERED,
                writes=store_cases.STORE)


def log(draw):
    failure = ANY.changed("FailureRecord", "", [
        "+schema_version: 3 kind: 'evaluate' description: 'plain, split 0, seed 0' message: 'no space left' log_tail: 'one' "
        "host: 'elsewhere' code: 13 failed_at_seconds: 1700000000"])
    failure = mutated(failure, draw) if draw.random() < 0.3 else changed_fields("FailureRecord", failure, draw)
    status = "status study.textproto --store=store --data=files"
    trial = ANY.trials[0]
    return Case("log", "an attempt that failed", draw.choice([status, status + " --format=json", REPORT + "html", *STORE]),
                store_cases.both(store_cases.without_record, holding(f"work/store/attempts/{trial}/1.rec", failure),
                                 holding(f"work/store/logs/{trial}.log", mutated("step 1\nstep 2\n", draw))), ANSWERED,
                writes=store_cases.STORE)


def archive(draw):
    files = [data_cases.SET, ("fetched/more/text", "x" * 3000)]
    kind = draw.choice(["ZIP", "TAR"])
    content = (zip_of(files + [("link", "fetched", False, 0o120777)]) if kind == "ZIP" else
               draw.choice([str, gzip_of])(tar_of(files + [("link", "", "2", "fetched")])))
    return data_cases.archive("changed bytes", kind, mutated(content, draw), ANSWERED)


def download(draw):
    return data_cases.download("changed bytes", holding("served/train.bin", mutated(data_cases.GOOD, draw)), ANSWERED)


def variable(draw):
    name = draw.choice(["OPENSET_DATA", "OPENSET_LIBRARY", "OPENSET_TORCH", "HOME", "TMPDIR", "COLUMNS", "PATH",
                        "SLURM_ARRAY_TASK_ID", "XDG_CACHE_HOME", "OMP_NUM_THREADS"])
    value = mutated(draw.choice(["files", "/dev/null", "2", "a:b,c"]), draw).split("\0")[0]
    return Case("environment variable", f"{name}={value[:60]}",
                draw.choice([PLAN, "eval logits.npz", LS, "list methods", "devices"]), end=ANSWERED, environment={name: value})


def worker(draw):
    """Up to three messages; one of them is the outcome."""
    said = ""
    for n in range(draw.randint(0, 2), -1, -1):
        event = ANY.changed("WorkEvent", "", [
            "+progress { fraction: 0.5 what: 'reading' epoch: 1 epochs: 2 }" if n else
            f"+outcome {{ code: {draw.randrange(20)} message: 'no space left' }}"])
        said += data_cases.message(changed_fields("WorkEvent", event, draw)[len(framed("")):][:5000])
    if draw.random() < 0.3:
        said = mutated(said, draw)[:20000]
    return data_cases.worker("changed messages", data_cases.says(said), ANSWERED)


def random_case(seed):
    Fixture()  # the previous case has changed the files that ANY reads
    draw = random.Random(seed)
    make = draw.choice([nonsense, in_its_place, changed_member] + [changed_file] * 6 + [
        lambda draw: draw.choice([claim, log, archive, download, variable, worker])(draw)] * 3)
    return make(draw)
