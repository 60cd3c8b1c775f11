"""Hostile stores and bundles: records, checkpoints, outputs, claims, logs, requests, caches; members and streams."""
import os
import time

from case import ANSWERED, HARMLESS, NOTED, REFUSED, Case, entries, holding
from fixture import (ANY, MANIFEST, RECORDS, SUMS, TAR_END, Member, bundle_members, framed, from_xz, gzip_of, npy,
                     npy_texts, packed, sha256, signed, sums_of, tar_entry, tar_header, tar_of, unfolding, xz_of, zip_of)

TRIAL, OUTPUTS, CHECKPOINT = ANY.trials[0], ANY.outputs_keys[0], ANY.checkpoint_keys[0]
RECORD = ANY.record()
OF_STUDY = "study.textproto --store=store --data=files"
RUN = "run study.textproto --deploy=deploy.textproto --worker=/bin/true"
VERIFY = "records verify --store=store"
STORE = ["work/store"]


def quoted(text):
    return '"' + "".join(f"\\{ord(c):03o}" if c in "\"\\\n" or not " " <= c < "\x7f" else c for c in text) + '"'


def both(*makes):
    def make(fixture):
        for one in makes:
            one(fixture)
    return make


def without_record(fixture):
    """Then `run` has to evaluate the first trial's outputs."""
    fixture.remove(RECORD)


# Records with extreme fields and correct checksums. What changes, and how (hostile_tool.cc): $n is a number, $s the same
# within 32 bits, $m the number times -1, $t a text.

INTEGERS = (-1, -10**9, 10**9, -2**63, 2**63 - 1)
OF_INTEGERS = [
    ("mistake.row", "details.mistake[0].row $n"), ("mistake.predicted_label", "details.mistake[0].predicted_label $s"),
    ("mistake.class_id", "details.mistake[0].class_id $n"),
    ("confusion.actual", "+details { decisions { confusion { actual: $s } } }"),
    ("confusion.predicted", "+details { decisions { confusion { predicted: $s } } }"),
    ("known.class_id", "details.decisions.known[0].class_id $n"),
    ("known.samples", "details.decisions.known[0].samples $n"),
    ("density.count", "details.density.series[0].count[0] $n"), ("counts", "+counts { known: $n unknown_classes: $s }"),
    ("split", "+trial { split: $s }"), ("epoch", "+epoch { epoch: $s }"),
    ("threads", "provenance.stage[0].threads $s"), ("peak_memory_bytes", "provenance.stage[0].peak_memory_bytes $n"),
    ("schema_version", "+schema_version: $s")]
REALS = ("nan", "inf", "-inf", "1e308", "-1e308")
OF_REALS = [
    ("metric.value", "metric[0].value $n"),
    ("metric.interval", "metric[0].interval.low $n\nmetric[0].interval.high $m"), ("openness", "+trial { openness: $n }"),
    ("epoch.loss", "+epoch { loss: $n }"), ("threshold", "+details { decisions { threshold: $n } }"),
    ("density.low", "+details { density { low: $n } }"), ("curve.x", "details.curve[0].x[0] $n"),
    ("started_at_seconds", "provenance.stage[0].started_at_seconds $n\nprovenance.stage[0].wall_seconds $n")]
TEXTS = ("\xff\xfe", "\x1b]0;owned\a", "a\nb", "\xe2\x80\xaegnp", "\xc2\x9b31m", "../../outside/file", "x';touch pwn;'",
         "=1+1", "</script><script>alert(1)</script>", "a\0b", "", "x" * 200000)
OF_TEXTS = [
    ("method", "+trial { method { name: $t } }"), ("task", "+trial { task: $t }"),
    ("axis", "+trial { axis { name: $t value: $t } }"), ("experiment", "+trial { experiment: $t }"),
    ("overrides", "+trial { overrides: $t }"), ("metric.name", "metric[0].name $t"),
    ("metric.absent_reason", "-metric\n+metric { name: 'auroc' spec { auroc {} } absent_reason: $t }"),
    ("group.set", "metric[0].group { kind: SET set: $t }"),
    ("host, cpu, commit", "\n".join(f"provenance.stage[0].{field} $t" for field in ("host", "cpu", "commit", "libraries")) +
     "\nprovenance.stage[0].component[] { family: $t }"),
    ("outputs_key", "+outputs_key: $t"), ("checkpoint_key", "+checkpoint_key: $t"), ("split_sha256", "+split_sha256: $t"),
    ("ignored_tensor", "+ignored_tensor: $t"), ("decisions.rule", "+details { decisions { rule: $t } }"),
    ("mistake.set", "details.mistake[0].set $t")]
SHAPES = [
    ("nothing in it", None), ("only id and version", f"bare\n+schema_version: 3 trial_id: '{TRIAL}'"),
    ("no trial", "-trial"), ("no metrics", "-metric"),
    ("10,000 metrics", "+" + "metric { name: 'auroc' value: 0.5 spec { auroc {} } } " * 10000),
    ("curves of different lengths", "details.curve[0].x[] 1"), ("a curve that goes back", "details.curve[0].x[0] 2"),
    ("densities of different lengths", "details.density.series[0].count[] 1"),
    ("a million counts", "+details { density { series { kind: KNOWN_RIGHT " + "count: 1 " * 1000000 + "} } }"),
    ("another trial's id", f"+trial_id: '{sha256('another')}'"), ("another trial", "+trial { seed: 77 }"),
    ("another method", "trial.method.model {}"), ("a search without candidates", "+trial { search { chosen: 7 } }"),
    ("methods that start from methods", "+" + "epoch { metric { spec { auroc {} } } } " * 2000)]
READERS = [f"report {OF_STUDY} --format=html", "records ls --store=store", f"report {OF_STUDY}",
           "records ls --store=store --format=json", VERIFY + " --dry_run", f"report {OF_STUDY} --format=json",
           "records ls --store=store --format=csv", f"records show {TRIAL} --store=store",
           f"records show {TRIAL} --store=store --format=json", f"report {OF_STUDY} --format=markdown",
           f"explain {TRIAL} --store=store --data=files --library=.", f"report {OF_STUDY} --format=csv --tidy",
           f"status {OF_STUDY}", f"export outputs {TRIAL} exported --store=store", f"report {OF_STUDY} --format=latex",
           f"figure {OF_STUDY} --curve=roc --out=figure.svg", f"report {OF_STUDY} --format=tensorboard --out=events",
           "records board site --store=store"]


def changed_record(fixture, changes):
    if changes is None:
        return framed("")
    path = RECORD
    if changes.startswith("bare\n"):
        path, changes = "", changes[5:]
    return fixture.changed("TrialRecord", path, changes.split("\n"))


def record_changes():
    for number in INTEGERS:
        small = max(-2**31, min(2**31 - 1, number))
        for what, changes in OF_INTEGERS:
            yield f"{what} {number}", changes.replace("$n", str(number)).replace("$s", str(small))
    for number in REALS:
        for what, changes in OF_REALS:
            yield f"{what} {number}", changes.replace("$n", number).replace("$m", ("-" + number).replace("--", ""))
    for text in TEXTS:
        for what, changes in OF_TEXTS:
            yield f"{what} is the text {text[:20]}", changes.replace("$t", quoted(text))
    yield from SHAPES


def records():
    for n, (what, changes) in enumerate(record_changes(), 1):
        def in_store(fixture, changes=changes):
            fixture.write(RECORD, changed_record(fixture, changes))

        def in_bundle(fixture, changes=changes, form=packed if n % 2 == 0 else list):
            content = changed_record(fixture, changes)
            members = bundle_members(fixture, "work/bundle.zip")
            fixture.write("work/bundle.zip", signed(form([one._replace(content=content) if TRIAL in one.name else one
                                                          for one in members])))
        yield Case("record", what, READERS[(n - 1) % len(READERS)], in_store, ANSWERED,
                   writes=["work/exported", "work/figure.svg", "work/events"])
        if n % 3 == 0:
            yield Case("bundle", what, "records merge bundle.zip --store=merged", in_bundle, ANSWERED,
                       writes=["work/merged"])
    for command in (READERS[2], READERS[1], READERS[4]):
        yield from entries(Case("record", "", command, end=NOTED, named=TRIAL + ".rec"), RECORD)
    yield from entries(Case("record", "", RUN, end=ANSWERED, writes=STORE), RECORD)
    yield from entries(Case("bundle", "", "records merge bundle.zip --store=merged", named="bundle.zip"),
                       "work/bundle.zip")


# Other members of bundles with a correct signature. A change gets the dictionary of the members by name and returns
# members that are added. Cases about members in general use bundles of version 1.

MERGE = "records merge full.zip --store=merged"
# Commands that read a bundle's library; no other library has its names.
REPRODUCE = "reproduce full.zip --data=files --worker=/bin/true --jobs=1 --retries=0 --again=again"
SPEC_OF = f"records spec full.zip {TRIAL} --data=files"


def bundle(what, command, change, end, named="", form=packed):
    def make(fixture):
        members = {one.name: one for one in bundle_members(fixture, "work/full.zip")}
        added = change(members) or []
        fixture.write("work/full.zip", signed(form(list(members.values()) + [Member(*one) for one in added])))
        if command in (REPRODUCE, SPEC_OF):
            fixture.remove("work/data")
    return Case("bundle", what, command, make, end, named, ["work/merged", "work/again"])


def holds(name, content):
    def change(members):
        members[name] = Member(name, content)
    return change


def unfolds(name, of, megabytes):
    def change(members):
        members[name] = unfolding(name, of, megabytes)
    return change


def becomes_link(name, target):
    def change(members):
        members[name] = Member(name, target, mode=0o120777)
    return change


def gone(*names):
    def change(members):
        for name in names:
            del members[name]
    return change


def adds(*members):
    return lambda _: members


OTHER = "a" * 64
ONE = "records/ab/ab" + "1" * 62 + ".rec"
STRANGE = ["../../outside/file", "/var/lib/pwn", "records/\x1b]0;x\a.rec", "records/\xff\xfe.rec",
           "records/" + "x" * 60000 + ".rec", "records/a\0b.rec", "records/x", "library/methods/x.textproto",
           "library/specs/.x.textproto", "library/specs/../x.textproto", "library/specs/a b.textproto",
           "library/specs/x.textproto/y", "library/specs/$(touch pwn).textproto", "library/specs/\x1b[2J.textproto",
           "library/tasks/" + "n" * 101 + ".textproto", "library/catalog/x.so", "library/specs/", "outputs/",
           f"outputs/zz/{OUTPUTS}/outputs.npz", *[f"outputs/aa/{OTHER}{more}" for more in (
               "/evil.so", "/../../../version", "", "/summary.rec/x", "/state.safetensors", "/\x1b]0;x\a")],
           f"outputs/AA/{'A' * 64}/outputs.npz", f"checkpoints/aa/{OTHER}/outputs.npz", f"checkpoints/aa/{OTHER}/.tmp.1",
           "version", "running/" + OTHER, "quarantine/1/reason"]


def id_path(i):
    return f"{sha256(str(i))[:2]}/{sha256(str(i))}"


def members():
    refused = [("no members", lambda members: members.clear())]
    refused += [(f"no {needed}", gone(needed)) for needed in (MANIFEST, "schema.binpb")]
    refused += [("a member " + strange[:60], adds((strange, "x"))) for strange in STRANGE]
    refused += [
        ("30,000 members that no bundle has", adds(*[("records/x", "")] * 30000)),
        ("a manifest that is no text", holds(MANIFEST, "\xff{{{")),
        ("a manifest of another version", holds(MANIFEST, "schema_version: 2147483647\n")),
        ("a manifest without a version", holds(MANIFEST, "")),
        ("a manifest that counts to -1", holds(MANIFEST, "schema_version: 3 records: -1 replicas: -1\n")),
        ("a manifest of line ends that unfolds", unfolds(MANIFEST, "\n", 200)),
        ("a record that unfolds", adds(unfolding(ONE, "\0", 200))),
        ("a record that says it has 4 GB", adds(Member(ONE, "x", declared=0xfffffffe)))]
    for what, change in refused:
        yield bundle(what, MERGE, change, REFUSED, "full.zip", list)
    for what, change, end in (
            ("a record that is a link", adds(Member(ONE, "/etc/passwd", mode=0o120777)), NOTED),
            ("20,000 records of one byte", lambda _: [(f"records/{id_path(i)}.rec", "x") for i in range(20000)], NOTED),
            ("a schema of noise", holds("schema.binpb", "\x0b" * 1000), HARMLESS),
            ("a manifest that counts wrongly", holds(MANIFEST, f"schema_version: 3 records: {2**63 - 1}\n"), REFUSED),
            ("sums of noise", adds((SUMS, "\x1b[2J\xff")), ANSWERED),
            ("the manifest twice", adds((MANIFEST, "schema_version: 3\n")), ANSWERED)):
        yield bundle(what, MERGE, change, end, form=list)


# Specs, tasks and catalog entries: a member, and texts instead of a text in it.
LIBRARIES = [
    ("specs/study", "seed: 0\n", ("seed: [0..99999999999]", "task: '../../outside/file'", "override { training {")),
    ("tasks/task", "split { known: [0, 1, 2] unknown: [3, 4] }\n",
     ("split { known: [0, 2147483647] unknown: [-1] }", "drawn { level { known: 3 unknown: 2 } repeats: 2147483647 }",
      "split { known: [0, 1] unknown: [3] } external { data_set: '/etc' class_id: 0 }")),
    ("catalog/digits", "height: 8\n",
     ("height: 9223372036854775807", "height: 0", "height: 8 fetch { urls { file { url: '-K/etc/passwd' path: 'x' } } }",
      "height: 8 layout { part { name: 'more' image_folder { path: '/etc' } } }"))]


def libraries():
    for name, anchor, lines in LIBRARIES:
        member = f"library/{name}.textproto"

        def line_instead(line, member=member, anchor=anchor):
            def change(members):
                assert anchor in members[member].content
                members[member] = Member(member, members[member].content.replace(anchor, line + "\n"))
            return change
        for what, change in [
                ("nothing", holds(member, "")), ("noise", holds(member, "\0\xff\xfe\x1b]0;x\a{{{")),
                ("100,000 open braces", holds(member, "{" * 100000)),
                ("a field that a terminal obeys", holds(member, "\x1b[2J\xe2\x80\xae: 1\n")),
                ("a name that leads out", holds(member, "name: '../../outside/file'\n")),
                ("2 MB of comments", holds(member, "#" * 2000000)), ("60 MB that unfold", unfolds(member, "\n", 60)),
                ("a link", becomes_link(member, "/etc/passwd")), *[(line, line_instead(line)) for line in lines]]:
            for command in (REPRODUCE, SPEC_OF):
                yield bundle(f"{command.split(' ')[0]}, {name}: {what}", command, change, ANSWERED)
    for command in ("records ls full.zip", "report full.zip", SPEC_OF):
        word = command.split(" ")[0]
        yield bundle(f"{word}, 1.8 GB of tasks", command, lambda _: [
            unfolding(f"library/tasks/t{i}.textproto", "\n", 60) for i in range(30)], REFUSED, "full.zip")
        yield bundle(f"{word}, 20,000 tasks", command, lambda _: [
            (f"library/tasks/t{i}.textproto", "name: 't'") for i in range(20000)], ANSWERED)


# Folders of outputs and checkpoints, under the key of their action.
def folders():
    for kind, key, name, type_, seed in (
            ("outputs", OUTPUTS, "outputs.npz", "InferSummary", "action.infer.execution.threads 77"),
            ("checkpoints", CHECKPOINT, "checkpoint.safetensors", "TrainSummary", "action.train.seed 77")):
        folder = f"{kind}/{key[:2]}/{key}/"
        summary, file = folder + "summary.rec", folder + name

        def other_action(members, summary=summary, type_=type_, seed=seed):  # would substitute another network
            members[summary] = Member(summary, ANY.changed(type_, "work/store/" + summary, [seed]))

        def only_summaries(members, kind=kind, summary=summary, file=file):  # too many messages to list each key
            members[file] = Member(file, "x")
            return [(f"{kind}/{id_path(i)}/summary.rec", members[summary].content) for i in range(500)]

        def large(members, file=file):
            members[file] = members[file]._replace(declared=0xfffffffe)

        def programs(members):
            members.update({name: one._replace(mode=0o106777) for name, one in members.items()})
        noted = [("no summary", gone(summary)), ("no file", gone(file)),
                 ("a summary of noise", holds(summary, "\xff" * 1000)),
                 *[(f"a summary of {len(payload)} bytes", holds(summary, framed(payload)))
                   for payload in ("", "\x0b" * 100000, "\x0a\xff\xff\xff\xff\x07")],
                 ("a file of noise", holds(file, "noise")), ("nothing in its file", holds(file, "")),
                 ("a link in its file's place", becomes_link(file, "../../../../../outside/file")),
                 ("a file of 300 MB that unfolds", unfolds(file, "\0", 300)),
                 ("the summary of another action", other_action)]
        for what, change, end, named in [
                *[(what, change, NOTED, key) for what, change in noted],
                ("500 folders of nothing but a summary", only_summaries, NOTED, "501 corrupt"),
                ("a file that says it has 4 GB", large, REFUSED, "full.zip"),
                ("modes of a program that becomes its owner", programs, HARMLESS, ""),
                ("an action that a terminal obeys", holds(folder + "action.textproto", "\x1b]0;x\a\xff"), ANSWERED, ""),
                ("its file twice", adds((file, "other")), ANSWERED, "")]:
            yield bundle(f"{'outputs' if kind == 'outputs' else 'a checkpoint'}: {what}", MERGE, change, end, named)
        # Existing outputs and checkpoints stay: nothing in the store changes.
        yield bundle(f"{name} of a key that is there", "records merge full.zip --store=store", holds(file, "other"),
                     HARMLESS).but(writes=[])
    state = f"checkpoints/{CHECKPOINT[:2]}/{CHECKPOINT}/state.safetensors"
    yield bundle("the saved state of a training that unfolds", MERGE, adds(unfolding(state, "\0", 300)), ANSWERED)


def studies():
    """A published study: a folder with a spec and its records."""
    def study(fixture):
        fixture.write("work/study/study.textproto", fixture.read("work/study.textproto"))
    yield from entries(Case("bundle", "of a published study", "report study --data=files", study, named="study"),
                       "work/study/study.zip")
    for action in ("ls", "verify"):
        yield from entries(Case("bundle", action, f"records {action} full.zip", named="full.zip"), "work/full.zip")


# The stream of a bundle's records, records.tar.xz, in bundles with a correct signature.

STREAM_READERS = ["records merge bundle.zip --store=merged", "records ls bundle.zip", "records verify bundle.zip",
                  "report bundle.zip", f"records show bundle.zip {TRIAL}", "report study --data=files"]


def record_name(n):
    return f"records/ff/ff{n:062d}.rec"


def stream(change):
    def make(members):
        members[RECORDS] = Member(RECORDS, change(members[RECORDS].content))
    return make


def archive(more, alone=False):
    """Appends to the records or, with `alone`, replaces them."""
    return stream(lambda content: xz_of(("" if alone else from_xz(content)[:-len(TAR_END)]) + more))


def twenty_large(members):
    part = "\0" * (60 << 20)
    members[RECORDS] = Member(RECORDS, xz_of("".join(tar_entry(record_name(i), part) for i in range(20)) + TAR_END))
    members[SUMS] = Member(SUMS, "".join(f"{sha256(part)}  {record_name(i)}\n" for i in range(20)))


def many_small(members):
    files = [(record_name(i), "x") for i in range(20000)]
    members[RECORDS] = Member(RECORDS, xz_of(tar_of(files)))
    members[SUMS] = Member(SUMS, sums_of(files))


def sums(change):
    def make(members):
        members[SUMS] = Member(SUMS, change(members[SUMS].content))
    return make


def flip_digit(text):
    at = text.index("  records/") - 1
    return text[:at] + ("1" if text[at] == "0" else "0") + text[at + 1:]


def flip_bit(text):
    at = len(text) // 2
    return text[:at] + chr(ord(text[at]) ^ 4) + text[at + 1:]


STREAM_NAMES = ["../../outside/file", "/var/lib/pwn", "records/\x1b]0;x\a.rec", "records/\xff\xfe.rec", "records/x",
                "running/" + OTHER, "version", MANIFEST, SUMS, "library/tasks/x.textproto",
                f"outputs/aa/{OTHER}/outputs.npz", f"records/ab/{OTHER}.rec", f"records/AA/{'A' * 64}.rec", ""]
SIZES = ["77777777777", "-0000000001", "99999999999", "\x80\x7f" + "\xff" * 10, "\xff", "00000000002", ""]
FIRST = tar_entry(record_name(1), "x")
STREAMS = [
    ("none", gone(RECORDS)), ("nothing", stream(lambda _: "")), ("noise", stream(lambda _: "\xfd" * 100000)),
    ("gzip", stream(lambda content: gzip_of(from_xz(content)))), ("the tar archive itself", stream(from_xz)),
    ("half", stream(lambda content: content[:len(content) // 2])), ("all but a byte", stream(lambda c: c[:-1])),
    ("a byte more", stream(lambda content: content + "x")), ("twice in a row", stream(lambda content: 2 * content)),
    ("a bit changed", stream(flip_bit)), ("an xz stream of nothing", stream(lambda _: xz_of(""))),
    ("deflated, unfolds", unfolds(RECORDS, "\0", 200)),
    ("says it has 4 GB", lambda m: m.update({RECORDS: m[RECORDS]._replace(declared=0xfffffffe)})),
    # Streams that unpack to zeros, to a file that is too large, or to many smaller files.
    ("300 MB of zeros", stream(lambda _: xz_of("\0" * (300 << 20)))),
    ("a file of 300 MB", stream(lambda _: xz_of(tar_of([(record_name(0), "\0" * (300 << 20))])))),
    ("20 files of 60 MB", twenty_large),
    *[("a file " + name, archive(tar_of([(name, "x")]))) for name in STREAM_NAMES],
    *[(f"a member of kind {ord(kind)}",
       archive(tar_of([(record_name(0), "x", kind, "/etc/passwd" if kind in "12" else "")])))
      for kind in "123456789xgLKSVN\0"],
    *[("a size of " + size, archive(tar_header(record_name(0), "0", size) + "x" * 512 + TAR_END)) for size in SIZES],
    ("a record twice", archive(FIRST + FIRST + TAR_END)),
    ("records out of order", archive(FIRST + tar_entry(record_name(0), "x") + TAR_END)),
    ("a header of noise", archive("\xff" * 512 + TAR_END)),
    ("a sum of a header that is wrong", archive("x" + FIRST[1:] + TAR_END)),
    ("an archive without an end", archive("")), ("half an end", archive("\0" * 512)),
    ("a header cut short", archive(FIRST[:100])), ("a file cut short", archive(FIRST[:522])),
    ("a block of zeros before a file", archive("\0" * 512 + FIRST + TAR_END)),
    ("a file after the end", archive(TAR_END + FIRST + TAR_END)), ("zeros after the end", archive(2 * TAR_END)),
    ("no files, whose sums are there", archive(TAR_END, alone=True)),
    # The members next to the stream.
    ("sums of nothing", sums(lambda _: "")), ("sums of noise", sums(lambda _: "\x1b[2J\xff\n\n")),
    ("sums with a digit changed", sums(flip_digit)),
    ("sums without the last", sums(lambda text: text[:text.rindex("\n", 0, len(text) - 1) + 1])),
    ("sums of a record more", sums(lambda text: text + sums_of([(record_name(7), "x")]))),
    ("a record beside it", adds((record_name(3), "x"))),
    *[("a manifest of " + what, holds(MANIFEST, "schema_version: 3\n" + text)) for what, text in (
        ("version 1", ""), ("version 3", "bundle_version: 3\n"), ("version 0", "bundle_version: 0\n"),
        ("version -1", "bundle_version: -1\n"), ("a large version", "bundle_version: 2147483647\n"),
        ("two versions", "bundle_version: 2\n" * 2))],
    # If a name occurs twice, the last member counts.
    ("twice, the last of noise", adds((RECORDS, "x"))), ("20,000 files of a byte", many_small)]


def streams():
    for n, (what, change) in enumerate(STREAMS):
        small = what == "20,000 files of a byte"  # corrupt records, in a stream that is not
        command = STREAM_READERS[0 if small else n % len(STREAM_READERS)]
        path = "work/study/study.zip" if command.startswith("report study") else "work/bundle.zip"

        def make(fixture, change=change, path=path):
            members = {one.name: one for one in packed(bundle_members(fixture, "work/bundle.zip"))}
            added = change(members) or []
            fixture.write(path, signed(list(members.values()) + [Member(*one) for one in added]))
            if "study" in path:
                fixture.write("work/study/study.textproto", fixture.read("work/study.textproto"))
        yield Case("bundle", "stream of records: " + what, command, make, NOTED if small else REFUSED,
                   "" if small else path.split("/")[-1], ["work/merged"])


# Checkpoints and outputs.
def results():
    for kind, folder, files in (("checkpoint", ANY.checkpoint(), ("checkpoint.safetensors", "summary.rec", "action.textproto")),
                                ("outputs", ANY.outputs(), ("outputs.npz", "summary.rec"))):
        for file in files:
            yield from entries(Case(kind, file, VERIFY, end=NOTED, named=file, writes=STORE), folder + file)
        for payload in ("", "\x0b" * 100000, "\x0a\xff\xff\xff\xff\x07", "\xff" * 1000):  # with correct checksums
            yield Case(kind, f"a summary of {len(payload)} bytes", VERIFY, holding(folder + "summary.rec", framed(payload)),
                       NOTED, writes=STORE)
    yield from entries(Case("outputs", "for an evaluation", RUN, without_record, ANSWERED, writes=STORE),
                       ANY.outputs() + "outputs.npz")
    yield from entries(Case("checkpoint", "in the folder's place", VERIFY, end=ANSWERED, writes=STORE),
                       ANY.checkpoint()[:-1])
    logits = npy("<f4", (50, 3), [0.5] * 150)
    for what, array in (("labels beyond the outputs", npy("<i8", (50,), [10**9] * 50)),
                        ("labels below -1", npy("<i8", (50,), [-2**63] * 50)),
                        ("labels of another length", npy("<i8", (3,), [0] * 3)), ("a label", npy("<i8", (), [0])),
                        ("labels that are texts", npy_texts(["a", "b"]))):
        def make(fixture, array=array):  # their digest is in the summary
            content = zip_of([("label.npy", array), ("logits.npy", logits), ("class_id.npy", array)])
            summary = ANY.outputs() + "summary.rec"
            fixture.write(summary, fixture.changed("InferSummary", summary, [f"+outputs_sha256: '{sha256(content)}'"]))
            fixture.write(ANY.outputs() + "outputs.npz", content)
            without_record(fixture)
        yield Case("outputs", what, RUN, make, NOTED, writes=STORE)


# Claims on the missing evaluation, and the states of their processes.

PROCESS = "elsewhere.01234567.1.1"
CLAIM = "work/store/running/" + TRIAL
STATE = f"work/store/runs/{PROCESS}.rec"
LIVES = [f"+id: '{PROCESS}' host: 'elsewhere' pid: 1 sequence: 1 lease_seconds: 1 experiment: 'study'"]
CLAIMS = [(f"one of the name {name[:20]}", {CLAIM: name}) for name in (
    "", "x", "../../../outside/file", "a/b", "\x1b]0;owned\a+1", "\xff\xfe+1", "x" * 255, "x" * 100000, "....+1",
    "a.b.99999999999999.1+1", "a\0b+1")]
CLAIMS += [("two that name each other", {CLAIM: PROCESS + "+1", f"{CLAIM}~{PROCESS}+1": PROCESS + "+2",
                                         f"{CLAIM}~{PROCESS}+2": PROCESS + "+1"}),
           ("one that names itself", {CLAIM: PROCESS + "+1", f"{CLAIM}~{PROCESS}+1": PROCESS + "+1"}),
           ("a chain of 20,000", {CLAIM: PROCESS + "+0",
                                  **{f"{CLAIM}~{PROCESS}+{i}": f"{PROCESS}+{i + 1}" for i in range(20000)}})]
STATES = [("lease is 2^31 - 1 seconds", "+lease_seconds: 2147483647"), ("lease is -1 seconds", "+lease_seconds: -1"),
          ("id is another's", "+id: '../../../outside/file'"),
          ("id has control characters", "+id: '\\033]0;x\\007.1.1.1' host: '\\033[2J'"),
          ("host is not UTF-8", "+host: '\\377\\376'"),
          ("numbers are extreme", "+sequence: -9223372036854775808 actions: -1 ended: 1073741824 fraction: -1e308 "
           "seconds_left: 1e308")]
SAYS = ("+host: '\\033[2J' experiment: '\\033]0;x\\007\\377' slurm_job: '\\n\\n' fraction: 1e308 seconds_left: 1e308 "
        "running { description: '\\342\\200\\256 x' kind: '\\n' progress { what: '\\033' "
        "metric: '\\233' epoch: -1 epochs: 2147483647 loss: 1e308 } }")


def claims():
    for what, files in CLAIMS:
        def make(fixture, files=files):
            without_record(fixture)
            for path, name in files.items():
                fixture.write(path, name + "\n")
        yield Case("claim", what, RUN, make, ANSWERED, writes=STORE)

    def state(change):
        return lambda fixture: fixture.write(STATE, fixture.changed("RunState", "", LIVES + [change]))
    for what, change in STATES:
        yield Case("claim", "a process whose " + what, RUN,
                   both(without_record, holding(CLAIM, PROCESS + "+1\n"), state(change)), ANSWERED, writes=STORE)
    for command in (RUN, "status study.textproto --deploy=deploy.textproto"):
        for place, path in (("running/KEY", CLAIM), ("runs/elsewhere.01234567.1.1.rec", STATE)):
            yield from entries(Case("claim", f"{command.split(' ')[0]}, {place}", command, without_record, ANSWERED,
                                    writes=STORE), path)
    yield Case("claim", "what a process says of itself", "status --store=store", state(SAYS), HARMLESS)


# Logs, and failed attempts: `status` and the report show why they failed.
def logs():
    yield from entries(Case("log", "", f"explain {TRIAL} --store=store", end=ANSWERED),
                       f"work/store/logs/{CHECKPOINT}.log")
    status = Case("log", "an attempt", f"status {OF_STUDY}", end=ANSWERED)
    yield from entries(status, f"work/store/attempts/{CHECKPOINT}/1.rec")
    for text in ("\x1b]0;owned\a", "\xff\xfe", "a\nb\nc", "x" * 1000000, "\xe2\x80\xae", "</script>"):
        fields = " ".join(f"{field}: {quoted(text)}" for field in ("kind", "description", "message", "log_tail", "host"))
        failure = f"+schema_version: 3 key: '{TRIAL}' {fields} code: 99 epoch: -1 failed_at_seconds: {2**63 - 1}"

        def make(fixture, failure=failure):
            without_record(fixture)
            fixture.write(f"work/store/attempts/{TRIAL}/1.rec", fixture.changed("FailureRecord", "", [failure]))
        for command in (status.command, f"report {OF_STUDY} --format=html"):
            yield status.but(what="an attempt that failed by " + text[:20], command=command, make=make)
    yield status.but(what="the attempt of number 2147483647", make=both(*[
        holding(f"work/store/attempts/{TRIAL}/{n}.rec", "x")
        for n in ("2147483647", "99999999999999999999", "-1", "0", "x")]))


# The folders of a store, and the names in them. Files that are not the store's stay, even if they are old and large.

ROOMS = ("records", "checkpoints", "outputs", "replicas", "attempts", "quarantine", "runs", "running", "logs", "tmp",
         "partial", "programs", "slurm", "data", "reports")


def aged(*tops):
    """Makes everything below old."""
    def make(fixture):
        old = time.time() - 100 * 86400
        for top in tops:
            for folder, folders, files in os.walk(fixture.path(top)):
                for path in (os.path.join(folder, name) for name in folders + files):
                    if not os.path.islink(path):
                        os.utime(path, (old, old))
    return make


def is_link(path):
    return lambda fixture: fixture.link(path, fixture.folder + "/outside")


def is_pipe(path):
    def make(fixture):
        fixture.remove(path)
        os.mkfifo(fixture.path(path), 0o600)
    return make


def strange_names(path):
    return both(*[holding(path + name, "x") for name in ("/\x1b]0;x\a", "/\xff\xfe", "/a\nb")])


def stores():
    gc = "records gc --store=store --older_than=0"
    yield from entries(Case("store", "version", "records ls --store=store", named="store"), "work/store/version")
    yield Case("store", "the quarantine of number 2147483647", VERIFY,
               both(holding("work/store/quarantine/2147483647/reason", "x\n"), holding(RECORD, "x")), NOTED, writes=STORE)
    yield Case("store", "reasons that a terminal obeys", VERIFY,
               holding("work/store/quarantine/1/reason", "\x1b]0;x\a\n"), ANSWERED, writes=STORE)
    for room in ROOMS:
        path = "work/store/" + room
        yield Case("store", f"{room} is a link to other people's files", gc, is_link(path), REFUSED,
                   f"store/{room}: is a link", STORE)
        yield Case("store", f"{room} is a pipe", VERIFY, is_pipe(path), ANSWERED, writes=STORE)
        yield Case("store", f"in {room} names that a terminal obeys", VERIFY, strange_names(path), ANSWERED, writes=STORE)
    # Old files with names similar to temporary files, which are not ours.
    for name in ("my.tmp.notes/file", "thesis.tmp.2024", "x.tmp.", ".tmp.1", "a.tmp.host.1.1.1/file"):
        for command in (gc, VERIFY):
            yield Case("store", "somebody's " + name, command,
                       both(holding("work/store/" + name, "x"), aged("work/store")), ANSWERED,
                       writes=["work/store/tmp", "work/store/quarantine", "work/store/logs"])
    yield Case("store", "gc in a folder that is none", "records gc --store=files --older_than=0",
               holding("work/files/my.tmp.notes/file", "x"), REFUSED, "files")


def petabyte(fixture):
    fixture.write("work/store/logs/large", "x")
    try:
        os.truncate(fixture.path("work/store/logs/large"), 2**50)
    except OSError:
        pass  # too large for the disk


def sizes():
    kept = ["work/store/checkpoints", "work/store/outputs", "work/store/tmp"]

    def gc(what, make, writes=kept, end=ANSWERED):
        return Case("store", "gc --max_size: " + what, "records gc --store=store --max_size=0",
                    both(make, aged("work/store", "outside")), end, writes=writes)
    yield gc("all of it", lambda _: None)
    for room in ("checkpoints", "outputs", "logs", "quarantine", "tmp"):
        path = "work/store/" + room

        def links(fixture, path=path):
            fixture.link(f"{path}/{OUTPUTS[:2]}/aa{OUTPUTS[2:]}", fixture.folder + "/outside/folder")
            fixture.link(path + "/1", fixture.folder + "/outside/folder")
        yield gc(f"{room} leads to other people's files", is_link(path), [], REFUSED)
        yield gc(f"in {room} a link to other people's files", links,
                 kept + ["work/store/logs", "work/store/quarantine"])
        yield gc(f"in {room} somebody's notes", both(holding(path + "/my notes/file", "x"), holding(path + "/ab/notes", "x")))
    yield gc("a file of a petabyte", petabyte)
    yield gc("a record that can't be read", holding(RECORD, "x"))


# The request of `openset score`, stored next to its report.

REQUEST = "work/store/reports/score_net/score.textproto"
REQUESTS = ["model: '/dev/zero' task: 'task'", "model: '\\033[2J' task: '\\377'",
            "model: 'weights.safetensors' network: '../../x' task: 'task'",
            "model: 'net.pt' task: '../../outside/file' split: -1 size: 2147483647 channels: -1",
            "model: 'net.pt' task: 'task' mean: nan std: 0 outputs: -2147483648 outputs: 2147483647",
            "model: 'net.pt' task: 'task' " + "also { " * 90 + "}" * 90,
            "model: 'net.pt' task: 'task' " + "also { task: 'task' split: 0 methods: 'plain' }\n" * 20000]


def requests():
    for command in ("report", "status"):
        base = Case("store", command + ", a request of score",
                    f"{command} score_net --store=store --data=files --library=.", end=ANSWERED)
        yield from entries(base, REQUEST)
        for text in REQUESTS:
            yield base.but(what=f"{base.what}: {text[:60]}", make=lambda fixture, text=text: fixture.write(
                REQUEST, f"folder: '{fixture.folder}/work'\n{text}"))


def caches():
    """~/.cache/openset, which only the user can write, or a faulty program of theirs."""
    for file in ("digests", "probes", "data"):
        yield from entries(Case("cache", file, f"report {OF_STUDY}", end=ANSWERED), "home/.cache/openset/" + file)
    yield from entries(Case("cache", "the folder", f"plan {OF_STUDY}", end=ANSWERED), "home/.cache")


def cases():
    for some in (records, members, libraries, folders, studies, streams, results, claims, logs, stores, sizes, requests,
                 caches):
        yield from some()
