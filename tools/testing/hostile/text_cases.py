"""Hostile text files from other people (specs, methods, presets, tasks, catalogs, published tables), flags, environment
variables, deploy files."""
import os

from case import ANSWERED, ESCAPES, HARMLESS, NOTED, REFUSED, Case, entries, holding, swapped

PLAN = "plan study.textproto --data=files"
LONG = "x" * 100000
STUDY, PLAIN, SHORT = "study.textproto", "experiments/methods/plain.textproto", "experiments/presets/short.textproto"
TASK, DIGITS = "data/tasks/task.textproto", "data/catalog/digits.textproto"
DATA_SETS = "data verify {} --images --library=. --data=files"


def name_of(path):
    return path[path.rfind("/") + 1:]


# A text file: its path, and a text in it after which fields can be inserted.
TEXTS = [("spec", STUDY, "seed: 0\n", PLAN), ("method", PLAIN, "score { max_softmax {} }\n", PLAN),
         ("preset", SHORT, "training { epochs: 1 }\n", PLAN), ("task", TASK, 'data_set: "digits"\n', PLAN),
         ("catalog", DIGITS, "channels: 1\n", PLAN),
         ("published table", "experiments/published/table.textproto", 'table: "Table 1"\n',
          "report study.textproto --store=store --data=files")]
INSERTED = {
    "an unknown field with control characters": "x\x1b[2Jy: 1\n", "an unknown field that is long": LONG + ": 1\n",
    "an open brace": "{", "a text that does not end": "note: 'x", "100,000 open braces": "{" * 100000,
    "a number that is none": "name: 1e999\n", "a value of another type": "name { x: 1 }\n",
    "an extension": "[openset.evil]: 1\n", "a type of anything": "[type.googleapis.com/openset.Evil] { }\n",
    "a zero byte": "\0", "2 MB of comments and a mistake": "#" * 2000000 + "\nx: 1\n",
    "an escape of nothing": "note: '\\xZZ'\n"}


def any_text():
    for kind, path, anchor, command in TEXTS:
        base = Case(kind, "", command, named=name_of(path))
        yield from entries(base, "work/" + path,  # a preset may be empty
                           {"nothing in it": {"end": HARMLESS, "named": ""}} if kind == "preset" else {})
        twice = "name: 'study' name: 'study'\n" if kind == "spec" else 2 * anchor
        for what, text in {**INSERTED, "a field twice": twice}.items():
            yield base.but(what=what, make=swapped("work/" + path, anchor, anchor + text))


# Names that are looked up, become files, go to a terminal, or to a shell.
NAMES = ["../../outside/file", "/etc/passwd", "x';touch pwn;'", "y$(touch pwn)", "`touch pwn`", "a\\nb",
         "\\033]0;owned\\007", "\\xff\\xfe", "\\342\\200\\256gnp", "\\302\\23331m", "-rf", ".", "..", "", "n" * 101,
         "n" * 100000, "a b", "a/b", "\\000", "<script>", "=1+1", "%s%n"]
# Where: the input, its file, the text that is replaced, the text instead, what it names, and the case's changes.
NAMED = [
    ("spec", STUDY, 'name: "study"', 'name: "{}"', "", {}),
    ("spec", STUDY, 'task: "task"', 'task: "{}"', " of a task", {}),
    ("spec", STUDY, '"pairs+short"', '"{}"', " of a method", {}),
    ("spec", STUDY, '"pairs+short"', '"pairs+{}"', " of a preset", {}),
    # An axis's name is shown, never looked up.
    ("spec", STUDY, "seed: 0\n", "seed: 0\naxis {{ path: 'training.epochs' value: ['1', '2'] name: \"{}\" }}\n",
     " of an axis", {"named": "", "end": ANSWERED}),
    ("method", PLAIN, 'name: "plain"', 'name: "{}"', "", {}),
    ("task", TASK, 'name: "task"', 'name: "{}"', "", {}),
    ("task", TASK, 'data_set: "digits"', 'data_set: "{}"', " of a data set", {"named": "task"}),
    ("task", TASK, 'data_set: "digits"\n',
     "data_set: \"digits\" unknown {{ group: \"{}\" data_set: 'digits' class_id: 4 }}\n", " of a group", {}),
    ("catalog", DIGITS, 'name: "digits"', 'name: "{}"', "", {}),
    # A plan needs no data: it reports missing files and continues.
    ("catalog", DIGITS, '"digits/test-images"', '"{}"', " of a file",
     {"command": "data verify digits --library=. --data=files", "named": "", "end": NOTED}),
    ("catalog", DIGITS, '"digits/test-images"', '"{}"', " of a file", {"named": "", "end": ANSWERED}),
    # Class names are shown, never looked up: most of these are harmless.
    ("catalog", DIGITS, '"zero"', '"{}"', " of a class", {"command": "show data digits", "named": "", "end": ANSWERED})]


def names():
    for name in NAMES:
        for kind, path, old, new, of, changes in NAMED:
            case = Case(kind, f"the name {name[:30]}{of}", PLAN, swapped("work/" + path, old, new.format(name)),
                        named=name_of(path)).but(**changes)
            yield case.but(end=ANSWERED, named="") if of == " of a group" and not name else case
        if name and not set("/\\") & set(name) and len(name) < 200 and name[0] != ".":  # a file with such a name
            completed = Case("method", "a file called " + name, "list methods --names --library=.",
                             holding(f"work/experiments/methods/{name}.textproto", "base: 'plain'\n"), HARMLESS,
                             environment={"OPENSET_LIBRARY": "."})
            yield from (completed, completed.but(command="list methods --library=."))


def many_bases(fixture):
    for i in range(2000):
        fixture.write(f"work/experiments/methods/b{i}.textproto", f"name: 'b{i}' base: 'b{i + 1}'\n")
    fixture.replace("work/study.textproto", '"pairs+short"', '"b0"')


def references():
    def method(what, old, new, named, end=REFUSED):
        return Case("method", what, PLAN, swapped("work/" + PLAIN, old, new), end, named)
    yield method("a base that is itself", 'name: "plain"', "name: 'plain' base: 'plain'", "plain.textproto")
    yield method("a base that comes back", 'name: "plain"', "name: 'plain' base: 'pairs'", ".textproto")
    yield Case("method", "10,000 bases", PLAN, many_bases, named="b1999")
    yield Case("preset", "1,000 presets", PLAN,
               swapped("work/" + STUDY, '"pairs+short"', '"pairs' + "+short" * 1000 + '"'), ANSWERED)
    for file in ("/dev/zero", "../../outside/file", "/", "", "nowhere", "data:../../x", "{split}", "/dev/stdin"):
        yield method("weights in " + file, "head { linear {} }", f'head {{ linear {{}} }} weights {{ file: "{file}" }}',
                     "plain.textproto", ANSWERED if file == "../../outside/file" else REFUSED)
    yield method("a network that is a text", "osrci_cnn {} head { linear {} }",
                 "torch_script { file: '../presets/short.textproto' }", "", ANSWERED)
    yield Case("spec", "two specs of a name", "plan study --library=. --data=files",
               holding("work/experiments/specs/study.textproto", "name: 'study'"), ANSWERED, "study")


# Extreme numbers, and products of them.

SPEC_NUMBERS = ("-1", "-2147483648", "2147483647", "nan", "1e300", "0.5", "99999999999999999999", "'1'")
MOST = ("2147483647",)
SPEC_FIELDS = [  # a field, and the numbers that it may have
    ("split: {}\n", ()), ("unknown_classes: {}\n", ()),
    ("train_limit_per_class: {}\n", MOST),  # more than the number of samples: all of them are used
    ("validation_per_class: {}\n", ()), ("expected_trials: {}\n", MOST),
    ("override {{ training {{ epochs: {} }} }}\n", MOST),
    ("override {{ training {{ optimizer {{ learning_rate: {} }} }} }}\n", MOST + ("0.5", "1e300", "99999999999999999999")),
    ("override {{ input {{ size: {} }} }}\n", ()), ("execution {{ threads: {} }}\n", ())]
AXIS = "axis {{ path: '{}' value: [{}'6'] }}\n"
SPEC_TEXTS = [
    ("axis { path: 'training.epochs' value: ['1'] also: 'training.epochs' }\n", ANSWERED),
    ("axis { path: 'nowhere' value: '1' }\n", REFUSED), ("axis { path: '' value: '1' }\n", REFUSED),
    ("axis { path: 'training' value: '{' }\n", REFUSED),
    ("axis { path: 'loss.term[999999999].weight' value: '1' }\n", REFUSED),
    ("axis { path: 'loss.term[-1].weight' value: '1' }\n", REFUSED),
    (f"axis {{ path: '{'training.' * 10000}epochs' value: '1' }}\n", REFUSED),
    ("".join(AXIS.format(path, values * 200) for path, values in (
        ("training.epochs", "'1', '2', '3', '4', '5', "), ("training.batch_size", "'1', '2', '3', '4', '5', "),
        ("input.size", "'20', '21', '22', '23', '24', "))), REFUSED),
    (f"seed: [{'1, ' * 200000}2]\n", ANSWERED), ("metric { accuracy {} }\n" * 2000, REFUSED),
    ("method: [" + "'plain', " * 2000 + "'plain']\n", REFUSED), ("task: [" + "'task', " * 2000 + "'task']\n", REFUSED),
    ("metric { fpr_at_tpr { tpr: nan } }\n", REFUSED), ("metric { fpr_at_tpr { tpr: -1 } }\n", REFUSED),
    ("metric { }\n", REFUSED),
    ("search { method: 'plain' axis { path: 'training.epochs' value: ['1', '2'] } criterion { auroc {} } }\n", REFUSED)]
METHOD_CHANGES = [("max_softmax {}", "react { percentile: nan }", REFUSED),
                  ("max_softmax {}", "knn { k: 2147483647 }", ANSWERED),
                  ("max_softmax {}", "temperature_scaled_softmax { temperature: -inf }", REFUSED),
                  ("plain {}", "ensemble { members: 2147483647 }", ANSWERED),
                  ("cross_entropy {}", "cross_entropy {} weight: inf", ANSWERED),
                  ("loss { term { cross_entropy {} } }", f"loss {{ {'term { cross_entropy {} } ' * 5000}}}", ANSWERED)]
METHOD_CHANGES += [(f"{field}: {value}", f"{field}: {number}",
                    ANSWERED if (field, number) == ("batch_size", "2147483647") else REFUSED)
                   for number in ("-1", "0", "2147483647", "nan", "99999999999999999999")
                   for field, value in (("batch_size", 10), ("channels", 1), ("size", 20))]
PRESETS = ("epochs: -1", "epochs: 0", "epochs: nan", "batch_size: -1", "optimizer { learning_rate: nan }",
           "optimizer { learning_rate: -inf }", "schedule { }", "schedule { constant { x: 1 } }")

SPLIT = "split { known: [0, 1, 2] unknown: [3, 4] }"
DRAWN = "drawn {{ level {{ known: 3 unknown: 2 }} repeats: {} }} {}"
TASKS = [split.format(number) for number in ("-1", "5", "2147483647", "-2147483648", "99999999999")
         for split in ("split {{ known: [0, 1, {}] unknown: [3, 4] }}", "split {{ known: [0, 1] unknown: [3, {}] }}")]
TASKS += [DRAWN.format(*both) for both in (
    ("65536", "cross_validation { folds: 65536 }"), ("2147483647", ""), ("0", ""), ("-1", ""), ("200000", ""),
    ("2147483647", "cross_validation { folds: 2147483647 }"), ("5", "cross_validation { folds: 2147483647 }"),
    ("5", "cross_validation { folds: 1 }"), ("5", "cross_validation { folds: 2 tuning_shares: 2147483647 }"))]
TASKS += [f"{SPLIT} {more}" for more in (
    "unknown { group: 'far' data_set: 'digits' draw_samples: -1 }",
    "unknown { group: 'far' data_set: 'digits' class_id: 2147483647 }", "unknown { group: 'far' data_set: 'nowhere' }",
    "shifted { group: 'far' data_set: 'nowhere' }", "external { data_set: 'digits' class_id: -1 }")]
TASKS += ["split { known: [0, 0, 0] unknown: [3, 4] }", "split { known: [] unknown: [] }",
          f"split {{ known: [{'0, ' * 100000}1] unknown: [3, 4] }}", "drawn { levels: 2147483647 repeats: 1 }",
          "drawn { levels: 1 min_known: 2147483647 repeats: 1 }",
          "drawn { level { known: 2147483647 unknown: 2147483647 } repeats: 1 }",
          f"drawn {{ {'level { known: 3 unknown: 2 } ' * 20000}repeats: 10000 }}"]

LABELS = 'labels { path: "digits/test-labels" }'
IDX = 'idx { images { path: "digits/test-images" } ' + LABELS + " }"
CATALOG_CHANGES = [(f"{field}: {value}", f"{field}: {number}", REFUSED)
                   for number in ("-1", "0", "2147483647", "nan", "9223372036854775807")
                   for field, value in (("samples", 50), ("samples_per_class", 10), ("channels", 1), ("height", 8))]
CATALOG_CHANGES += [
    ("samples: 50", "samples: -9223372036854775808", REFUSED),
    ("samples_per_class: 10", "samples_per_class: [9223372036854775807, 9223372036854775807, 52, 0, 0]", REFUSED),
    ('"zero", "one"', '"zero", "zero"', REFUSED), ('"zero"', "'x', " * 200000 + "'y'", REFUSED),
    (LABELS, LABELS[:-1] + 'sha256: "x" }', REFUSED), (LABELS, LABELS + " class_label: [0, 0, 0, 0, 0]", REFUSED),
    (IDX, "", REFUSED), (IDX, "noise { gaussian { std: nan } }", REFUSED),
    ("digits/test-images", "digits//test-images", REFUSED),
    ("digits/test-images", "digits/./test-images", ANSWERED), ('name: "test"', 'name: "../../outside"', REFUSED),
    ('name: "test"', 'name: "train"', REFUSED)]
# If a data set is not a folder, its classes may have any name.
CATALOG_CHANGES += [('"zero"', f'"{name}"', ANSWERED)
                    for name in ("/etc", "..", ".", "a/../../b", "", "\\033[2J", "\\377")]
LISTS = ("//etc/passwd 0\n", "/etc/passwd 0\n", "../../../outside/file 0\n", "cat/1.png\n", "cat/1.png 99999999999\n",
         "cat/1.png -1\n", "cat/1.png x\n", "a\tb\tc\n", "cat/1.png\0x 0\n")


def limits():
    def change(kind, path, old, new, end=REFUSED):
        named = name_of(path).split(".")[0] if end == REFUSED else ""
        return Case(kind, new[:80], PLAN, swapped("work/" + path, old, new), end, named)
    for number in SPEC_NUMBERS:
        for field, allowed in SPEC_FIELDS:
            yield change("spec", STUDY, "seed: 0\n", "seed: 0\n" + field.format(number),
                         ANSWERED if number in allowed else REFUSED)
    for text, end in SPEC_TEXTS:
        yield change("spec", STUDY, "seed: 0\n", "seed: 0\n" + text, end)
    for old, new, end in METHOD_CHANGES:
        yield change("method", PLAIN, old, new, end)
    for text in PRESETS:
        yield change("preset", SHORT, "epochs: 1", text, ANSWERED if text == "schedule { }" else REFUSED)
    for text in TASKS:
        yield change("task", TASK, SPLIT, text, ANSWERED if text == DRAWN.format("200000", "") else REFUSED)
    for old, new, end in CATALOG_CHANGES:
        yield change("catalog", DIGITS, old, new, end)
    for samples, size in (("9223372036854775807", "1"), ("1000000000", "1000000"), ("1", "2147483647"),
                          ("4611686018427387904", "2")):
        text = (f"name: 'noise' class_name: 'x' channels: 1 height: {size} width: {size} layout {{ part {{ name: 'train' "
                f"samples: {samples} samples_per_class: {samples} noise {{ uniform {{}} }} }} }}")
        yield Case("catalog", f"noise of {samples} images of size {size}", "data verify noise --library=.",
                   holding("work/data/catalog/noise.textproto", text), NOTED, "noise")
    for text in LISTS:
        yield Case("catalog", "the image list " + text, DATA_SETS.format("listed"),
                   holding("work/files/listed/list.txt", text), named="list")


# Flags. A command with `{}` stands for one with each of the values; a value may contain blanks.

STORE, REPORT = " --store=store", "report study.textproto --store=store --data=files"
NEW = "task new mine --data=digits --known=1,2 --library=. "
REFUSED_FLAGS = [  # command, values, what the error names
    ("{}", [ESCAPES], "command"), ("help {}", [ESCAPES], "command"), ("plan {}", [ESCAPES], "openset"),
    ("plan study.textproto --{}", [ESCAPES, LONG], "flag"), ("plan study.textproto --jobs={}", [ESCAPES], "--jobs"),
    (REPORT + " --format={}", [ESCAPES], "format"), ("records {}", [ESCAPES], "action"),
    ("records ls {}" + STORE, [ESCAPES, "auroc>", "((((auroc", f"method={LONG} and"], ""),
    ("records show {}" + STORE, [ESCAPES], ""), ("explain {}" + STORE, [ESCAPES], ""), ("show {} x", [ESCAPES], ""),
    ("show method {}", [ESCAPES], "method"), ("list {}", [ESCAPES], ""), ("eval {}.csv", [ESCAPES], "csv"),
    ("plan {}", [LONG], ""), ("plan study.textproto --data=files --set={}", [LONG], "--set"),
    *[(command + "={}", ["-1", "99999999999999999999", "nan", "1e9", "0x", "1;ls"], command.split(" ")[-1])
      for command in ("plan study.textproto --jobs", "plan study.textproto --retries",
                      "plan study.textproto --memory_per_slot", "eval scores.csv --ci --replicates")],
    ("eval scores.csv --ci --level={}", ["-1", "nan", "inf", "0", "1", "x"], "--level"),
    ("records gc --store=store --older_than={}", ["-1", "nan", "-inf", "x"], "--older_than"),
    ("eval scores.csv --ci --replicates={}", ["2147483647"], "--replicates"),
    ("eval scores.csv --metrics={}", ["fpr_at_tpr { tpr: nan }"], "tpr"),
    ("eval scores.csv --metrics={}", ["{" * 100000, "auroc, auroc"], "--metrics"),
    ("eval scores.csv --score={}", ["energy { temperature: -1 }"], "--score"),
    ("eval logits.npz --score={}", ["react {"], "--score"), ("eval scores.csv --threads={}", ["-1"], "--threads"),
    ("eval scores.csv --near=a --far=a", [""], ""), ("records ls --sort={}" + STORE, [ESCAPES], ""),
    ("records export --store=store --bundle={}", ["/proc/nowhere.zip"], "/proc/nowhere.zip"),
    ("records export --store=store --bundle={}", ["store"], "store"),
    ("records export --store=store --bundle={}", ["files/nowhere/b.zip"], "b.zip"),
    ("records merge study.textproto --store=store", [""], "study.textproto"),
    ("records spec {}" + STORE, [ESCAPES], ""),
    ("reproduce {}" + STORE, [ESCAPES, "sem", LONG, "/dev/zero"], ""),
    ("records gc --store={}", ["files"], "files"), ("records gc --store={}", ["/"], ""),
    ("records verify --store=files", [""], "files"), ("records merge files --store=merged", [""], "files"),
    ("records merge /dev/zero --store=merged", [""], "/dev/zero"), ("status --store=/dev/null", [""], "/dev/null"),
    ("plan /dev/zero.textproto", [""], "/dev/zero"), ("plan study.textproto --deploy=/dev/zero", [""], "/dev/zero"),
    ("plan study.textproto --data=/dev/null", [""], ""), ("plan study.textproto --library=/dev/null", [""], "/dev/null"),
    ("task new ../../outside/x --data=digits --known=1 --library=.", [""], "outside"),
    ("task new {} --data=digits --known=1 --library=.", [ESCAPES], ""),
    ("task new x --data=digits --known=@/dev/zero --library=.", [""], "/dev/zero"),
    ("task new x --data=digits --known=2147483647 --unknown=2147483647 --library=.", [""], ""),
    ("data describe /dev/null", [""], "/dev/null"),
    ("data describe files/photos --name={}", ["../x", ".", "a b", "x;y"], "--name"),
    ("data show digits --library=. --data=files --per_class={}", ["-1"], "--per_class"),
    ("data show digits --library=. --data=files --tile={}", ["2147483647"], "--tile"),
    ("threshold scores.csv scores.csv --tpr={}", ["nan"], "--tpr"),
    ("compare scores.csv nowhere.csv", [""], "nowhere.csv"),
    ("figure study.textproto --store=store --data=files --x={} --y=auroc", [ESCAPES], ""),
    ("completion {}", [ESCAPES], ""),
    # The store's size, tables, comparisons, named networks and repeated trials.
    ("records gc --store=store --max_size={}",
     ["-1", "-1GB", "nan", "inf", "1e400", "x", "GB", "1GBB", "0x10", "1,5GB", "99999999999999999999GB", "1;ls", ESCAPES,
      "9" * 100000], "--max_size"),
    ("records gc --store=files --max_size=1GB", [""], "files"),
    ("records gc --store=store --checkpoints_older_than={}", ["nan x"], "--checkpoints_older_than"),
    ("records rm {} --store=store --dry_run",
     ["", " \t\n", "trial=2", "auroc>", "no_such_field=1", "seed=x", ESCAPES, "(" * 100004, "split=0 and"], ""),
    ("records ls full.zip {}",
     ["(", " \t\n", "trial=2", "auroc>", "no_such_field=1", "seed=x", ESCAPES, "(" * 100004, "split=0 and"], ""),
    ("records rm split=0 --store=store", [""], ""),  # nobody can be asked
    ("records rm split=0 --store=files", [""], "files"),
    ("records export --store=store --bundle=out.zip --with={}", [ESCAPES, "outputs,outputs,x"], "--with"),
    (REPORT + " --digits={}", ["-2", "13", "2147483647", "nan", "99999999999"], "--digits"),
    *[(command + "{}", [ESCAPES, "sem", LONG], named) for command, named in (
        (REPORT + " --spread=", "--spread"), (REPORT + " --sort=", ""),
        ("compare study.textproto --store=store --data=files --baseline=", ""),
        ("compare study.textproto --store=store --data=files --set ", ""),
        ("score --model=weights.safetensors --task=task --split=0 --library=. --network=", "network"), (NEW + "--near=", ""),
        (NEW + "--far=", ""), ("devices ", ""), ("plan study.textproto --data=files --devices=", "--devices"))],
    ("report {}.zip", [ESCAPES, "sem", LONG], ""), (NEW + "--near={}", ["/dev/zero"], "/dev/zero"),
    (NEW + "--far={}", ["digits,digits"], ""), ("reproduce full.zip --trials={}", ["-1", "nan"], "--trials"),
    ("reproduce full.zip --data=files --again={}", ["/dev/null"], "/dev/null"),
    ("report /dev/zero.zip", [""], "/dev/zero"), ("report {}" + STORE, ["auroc>", "((((split=0"], ""),
    ("compare study.textproto --store=store --data=files --set={}", ["training.epochs=-1"], "training.epochs")]
ANSWERED_FLAGS = [
    ("eval scores.csv --out=/proc/nowhere/x", [""]),
    ("data show digits --library=. --data=files --per_class=2147483647 --sheet=/proc/x.png", [""]),
    (REPORT + " --rows={} --columns=metric", [ESCAPES]), ("evaluate-worker", [""]),
    ("plan study.textproto --seeds={}", ["9" * 3000]), ("plan study.textproto --data=files --seeds=0..4294967295", [""]),
    ("-- --", [""]), ("{}", [""]),
    ("records gc --store=store --dry_run --max_size={}", ["0", "1e-300GB", "1e18", "0.0001TB", " 1 GB "]),
    ("compare study.textproto --all_pairs --store=store --data=files --replicates=1", [""])]
SCORE = ("score --model=weights.safetensors --network=resnet18_cifar --task=task --split=0 --library=. --data=files "
         "--store=scored --worker=/bin/true ")
SCORE_REFUSES = ("--outputs=-1", "--outputs=nan", "--size=-1", "--size=2147483647", "--channels=0",
                 "--channels=2147483647", "--mean=x", "--std=x", "--train_limit=-1", "--test_limit=-1", "--split=-1",
                 "--split=99999999999", "--methods=../../outside/file", "--model=/dev/zero", "--model=files",
                 "--model=nowhere.pth", "--weights=/dev/zero", "--head=fc", "--features")
SCORE_ANSWERS = ("--mean=nan", "--std=0", "--std=inf", "--mean=1e308,1e308,1e308", "--outputs=0,0,0",
                 "--outputs=2147483647,1,2")


def flags():
    def flag(command, value, named, end=REFUSED, writes=()):
        words = [word.replace("{}", value) for word in command.split(" ")]
        return Case("flag", "openset " + " ".join(word[:60] for word in words), words, end=end, named=named,
                    writes=writes)
    for command, values, named in REFUSED_FLAGS:
        yield from (flag(command, value, named) for value in values)
    for command, values in ANSWERED_FLAGS:
        yield from (flag(command, value, "", ANSWERED) for value in values)
    yield from (flag(SCORE + more, "", "") for more in SCORE_REFUSES)
    yield from (flag(SCORE + more, "", "", ANSWERED, ["work/scored"]) for more in SCORE_ANSWERS)


# Environment variables.

LS, EVAL, PLAN_STORE = "records ls --store=store", "eval logits.npz", "plan study.textproto --store=store --data=files"
VARIABLES = [(name, value, PLAN_STORE, ANSWERED, "")
             for value in ("/dev/zero", "", "nowhere", LONG, ESCAPES, ",,,,", "/")
             for name in ("OPENSET_DATA", "OPENSET_LIBRARY", "HOME", "TMPDIR", "XDG_CACHE_HOME")]
VARIABLES += [(name, value, command, ANSWERED if command == PLAN_STORE else HARMLESS, "")
              for value in ("x", "-1", "99999999999999999999", "", "1;touch pwn", "../../x")
              for name, command in (("SLURM_ARRAY_TASK_ID", PLAN_STORE), ("SLURM_ARRAY_JOB_ID", PLAN_STORE),
                                    ("OMP_NUM_THREADS", EVAL), ("COLUMNS", EVAL), ("TZ", LS), ("LC_ALL", LS))]
VARIABLES += [("OPENSET_LIBRARY", "nowhere", PLAN_STORE, REFUSED, "nowhere"),
              ("OPENSET_LIBRARY", ESCAPES, PLAN_STORE, REFUSED, "OPENSET_LIBRARY"),
              ("BUILD_WORKING_DIRECTORY", "/dev/zero", PLAN_STORE, ANSWERED, ""),
              ("BUILD_WORKING_DIRECTORY", "/nowhere", PLAN_STORE, ANSWERED, ""),
              ("TEST_SRCDIR", "/nowhere", PLAN_STORE, ANSWERED, ""), ("RUNFILES_DIR", "/", PLAN_STORE, ANSWERED, ""),
              ("PATH", "", EVAL, HARMLESS, "")]
PYTHONS = {  # the Python that is asked for its PyTorch and that draws figures
    "says what a terminal obeys": "printf '\\033]0;x\\007\\n\\377'; printf '\\033[2J' >&2; exit 3\n",
    "says 500 MB": "head -c 500000000 /dev/zero; exit 3\n",
    "says lines for ever, of which 200 MB are waited for": "yes | head -c 200000000 >&2; exit 1\n",
    "is killed": "kill -9 $$\n", "names another folder": "echo /dev\n",
    "names a folder that a terminal obeys": "printf '/x\\033[2J'\n", "says nothing": "exit 0\n"}


def with_torch(version="2.11.0+cu130", then=lambda fixture: None):
    """A machine with a GPU, which a fake driver simulates. PyTorch's folder is someone else's."""
    def make(fixture):
        for name in ("libcuda.so.1", "libnvidia-ml.so.1"):
            fixture.link("gpu/" + name, os.path.abspath("core/process/gpu/libfake_gpu_driver.so"))
        fixture.write("work/torch/version.py", f"__version__ = '{version}'\n")
        fixture.write("work/torch/lib/libtorch_cuda.so", "x")
        then(fixture)
    return make


def variables():
    for name, value, command, end, named in VARIABLES:
        yield Case("environment variable", f"{name}={value[:60]}", command, end=end, named=named,
                   environment={name: value})
    gpu = {"LD_LIBRARY_PATH": "{}/gpu", "FAKE_GPUS": "NVIDIA H200", "FAKE_GPU_PROCESSES": ""}  # {}: the fixture's folder
    devices = Case("environment variable", "", "devices", with_torch(), HARMLESS,
                   environment={**gpu, "OPENSET_TORCH": "torch"})
    for base in (devices, devices.but(command=PLAN + " --devices=cuda:0", end=REFUSED)):
        command = base.words()[0]
        for value in ("/dev/zero", "nowhere", LONG, ESCAPES, "/", "../outside", "torch/lib"):
            yield base.but(what=f"{command}, OPENSET_TORCH={value[:60]}", named="OPENSET_TORCH",
                           environment={**gpu, "OPENSET_TORCH": value})
        for file in ("version.py", "lib/libtorch_cuda.so"):
            yield from entries(base.but(what=f"{command}, PyTorch's {file}", end=ANSWERED), "work/torch/" + file)
        for version in ("\x1b[2J", "\xff\xfe", "2.11.0\n", "\xe2\x80\xae", "9" * 60000, ""):
            yield base.but(what=f"{command}, a PyTorch of version {version[:20]}", named="OPENSET_TORCH",
                           make=with_torch(version))
    for what, script in PYTHONS.items():
        for command in ("devices", "figure study.textproto --store=store --data=files --curve=roc --out=figure.pdf"):
            def program(fixture, script=script):
                fixture.make_program("bin/python", "#!/bin/sh\n" + script)
            yield devices.but(what=f"{command.split(' ')[0]}, a Python that {what}", command=command, end=ANSWERED,
                              make=with_torch(then=program), writes=["work/figure.pdf"],
                              environment={**gpu, "OPENSET_TORCH": "", "OPENSET_PYTHON": "{}/bin/python"})
    for value in ("/dev/zero", "nowhere", "files", ESCAPES, "-c", LONG):
        yield devices.but(what=f"OPENSET_PYTHON={value[:60]}",
                          environment={**gpu, "OPENSET_TORCH": "", "OPENSET_PYTHON": value})
        yield devices.but(what=f"OPENSET_CUDA_LIBRARY={value[:60]}", environment={"OPENSET_CUDA_LIBRARY": value})
    for gpus in ("error", "", ",,,,", "\x1b[2J", "NVIDIA H200,NVIDIA A100"):
        yield devices.but(what="a driver that shows " + gpus, environment={**devices.environment, "FAKE_GPUS": gpus})


# Deploy files: a field that the file has already is replaced.

DEPLOY = [(f"{field}: {number}", REFUSED) for number in ("-1", "99999999999", "nan", "x", "'1'")
          for field in ("jobs", "retries", "max_failures", "lease_seconds", "hang_seconds", "actions_per_gpu")]
DEPLOY += [(f"{field}: 2147483647", ANSWERED) for field in ("jobs", "max_failures", "lease_seconds", "hang_seconds")]
DEPLOY += [(f"store_gb: {number}", REFUSED) for number in ("-1", "0", "nan", "'1'", "-1e300")]
DEPLOY += [(text, REFUSED) for text in (
    "retries: 2147483647", "private: 7", "devices: '\\033[2J'", "devices: 'cuda:99999999999'", "devices: 'cuda:-1,0,0,0'",
    "engine: 7", "slurm { warning_seconds: 70000 }", "slurm { tasks: -1 }", "slurm { tasks: 100001 }",
    "slurm { idle_seconds: 0 }", "slurm { poll_seconds: -1 }")]
DEPLOY += [(text, ANSWERED) for text in (
    "lease_seconds: 601", "memory_mb: 9223372036854775807",
    "memory_mb: 1 memory { train_mb: 9223372036854775807 infer_mb: 9223372036854775807 }",
    "memory_per_slot_mb: 9223372036854775807", "store: '/dev/zero'", "store: '/proc/self/mem'",
    "store: '\\033]0;owned\\007'", "store: '\\xff\\xfe'", "store: 'a\\000b'", f"store: '{LONG}'", f"store: '{'x' * 300}'",
    "data_folder: '/dev/zero'", "data_folder: '\\033[2J'", f"slurm {{ option: '{'-' * 1000000}' }}",
    "slurm { prologue: 'rm -rf /' partition: '\\nx' time: '\\033' }")]


def deploy():
    base = Case("deploy file", "", "plan study.textproto --deploy=deploy.textproto", named="deploy.textproto")
    path = "work/deploy.textproto"
    yield from entries(base, path, {"nothing in it": {"end": ANSWERED}})  # an empty file is valid

    def with_field(text):
        field = text[:text.find(":") + 1]

        def make(fixture):
            lines = fixture.read(path).splitlines(True)
            kept = [line for line in lines if not field or not line.startswith(field)]
            fixture.write(path, "".join(kept) + text + "\n")
        return make
    for text, end in DEPLOY:
        yield base.but(what=text[:80], end=end, named="deploy.textproto" if end == REFUSED else "", make=with_field(text))
    for number in ("1e308", "1e-300", "inf"):  # a run reduces the store to this size when it ends
        yield base.but(what=f"store_gb: {number}", end=ANSWERED, named="", make=with_field(f"store_gb: {number}"),
                       command="run study.textproto --deploy=deploy.textproto --worker=/bin/true", writes=["work/store"])


def cases():
    for some in (any_text, names, references, limits, flags, variables, deploy):
        yield from some()
