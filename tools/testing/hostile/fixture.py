"""The folder in which hostile cases are tried: a small library, data, and a store with records; and bytes of any format.

All texts, contents and paths are str with one character for each byte ("\\xff" is the byte 255). The folder is made once,
by the project's own code (hostile_tool.cc), and copied for each case:

    work/     the folder that the program runs in:
      study.textproto, data/, experiments/   a library: task `task`, methods `plain` and `pairs`, preset `short`
      files/                                 data files: digits/, mats/, arrays/, binary/, photos/, listed/
      store/                                 checkpoints, outputs and records of the study's two trials
      bundle.zip, full.zip                   its records; full.zip also has their library, outputs and checkpoints
      scores.csv, logits.npz, label.npy, deploy.textproto, ...
    served/   what the fake curl in bin/ downloads
    bin/      the first folder of PATH
    home/     HOME; the program may write below its .cache
    tmp/      TMPDIR
    outside/  other people's files
"""
import atexit
import functools
import hashlib
import lzma
import os
import random
import shutil
import socket
import stat
import struct
import subprocess
import tempfile
import typing
import zlib

HERE = "tools/testing/hostile/"
TEMPORARY = tempfile.mkdtemp(dir=os.environ.get("TEST_TMPDIR"))


def raw(text):
    return text if isinstance(text, bytes) else text.encode("latin-1")


def text_of(content):
    return content.decode("latin-1")


def read_file(path):
    with open(path, "rb") as file:
        return text_of(file.read())


def little(number, size=4):
    return text_of((number % 256**size).to_bytes(size, "little"))


def big(number, size=4):
    return text_of((number % 256**size).to_bytes(size, "big"))


def stored_image(name):
    return read_file("data/readers/testdata/" + name)


def sha256(text):
    return hashlib.sha256(raw(text)).hexdigest()


def _deflated(content, window):
    deflate = zlib.compressobj(9, zlib.DEFLATED, window)
    return text_of(deflate.compress(raw(content)) + deflate.flush())


def zlib_of(content):
    return _deflated(content, 15)


def gzip_of(content):
    return _deflated(content, 31)


def xz_of(content):
    return text_of(lzma.compress(raw(content)))


def from_xz(content):
    return text_of(lzma.decompress(raw(content)))


class Member(typing.NamedTuple):
    """Of a zip archive. declared: its size, if not the actual one; times: how often it contains `content`."""
    name: str
    content: str
    deflated: bool = False
    mode: int = 0o100644  # 0o120777: a link to `content`
    declared: int = -1
    times: int = 1


def unfolding(name, of, megabytes):
    return Member(name, of * (1 << 20), True, times=megabytes)


@functools.lru_cache(2)
def _stored(content, deflated, times):
    """What an archive has of a member, and its checksum."""
    return _deflated(content * times, -15) if deflated else content * times, zlib.crc32(raw(content * times))


def zip_of(members, comment=""):
    parts, listed, at = [], [], 0
    for one in (Member(*each) for each in members):
        stored, checksum = _stored(one.content, one.deflated, one.times)
        size = len(one.content) * one.times if one.declared < 0 else one.declared
        common = (little(20, 2) + little(0, 2) + little(8 if one.deflated else 0, 2) + little(0x21 << 16) +
                  little(checksum) + little(len(stored)) + little(size) + little(len(one.name), 2) + little(0, 2))
        listed.append("PK\1\2" + little(3 << 8 | 20, 2) + common + little(0, 6) + little(one.mode << 16) + little(at) +
                      one.name)
        parts.append("PK\3\4" + common + one.name + stored)
        at += len(parts[-1])
    central = "".join(listed)
    return ("".join(parts) + central + "PK\5\6" + little(0) + 2 * little(len(members), 2) + little(len(central)) +
            little(at) + little(len(comment), 2) + comment)


def read_zip(content):
    """(name, content) of each member of an archive that zip_of() or the program wrote."""
    members, at = [], content.rfind("PK\5\6")
    count, _, place = struct.unpack("<HII", raw(content[at + 10:at + 20]))
    for _ in range(count):
        method, = struct.unpack("<H", raw(content[place + 10:place + 12]))
        packed, = struct.unpack("<I", raw(content[place + 20:place + 24]))
        name, extra, comment = struct.unpack("<HHH", raw(content[place + 28:place + 34]))
        head, = struct.unpack("<I", raw(content[place + 42:place + 46]))
        begin = head + 30 + sum(struct.unpack("<HH", raw(content[head + 26:head + 30])))
        stored = content[begin:begin + packed]
        members.append(Member(content[place + 46:place + 46 + name],
                              stored if method == 0 else text_of(zlib.decompress(raw(stored), -15))))
        place += 46 + name + extra + comment
    return members


def tar_header(name, kind, size, target="", mode=0o644):
    """With a correct checksum. size: a number, or the field's content."""
    if isinstance(size, int):
        size = f"{size:011o}\0" if size < 1 << 33 else "\x80\0\0\0" + "\x7f" * 8
    fields = ((name, 100), (f"{mode:07o}", 8), ("0000000", 8), ("0000000", 8), (size, 12), ("00000000000", 12), (" " * 8, 8),
              (kind, 1), (target, 100), ("ustar\0" "00", 8))
    header = "".join(value[:width].ljust(width, "\0") for value, width in fields).ljust(512, "\0")
    return header[:148] + f"{sum(map(ord, header)):06o}\0 " + header[156:]


def tar_entry(name, content="", kind="0", target="", mode=0o644, declared=None):
    return (tar_header(name, kind, len(content) if declared is None else declared, target, mode) + content +
            "\0" * (-len(content) % 512))


TAR_END = "\0" * 1024


def tar_of(entries):
    return "".join(tar_entry(*one) for one in entries) + TAR_END


def framed(payload):
    """A record file (core/proto/record_file.h) with a correct checksum of these bytes."""
    length = little(len(payload), 8)
    return "openset record 1\n" + length + text_of(hashlib.sha256(raw(length + payload)).digest()) + payload


def npy(descr, shape, values=(), data=None):
    """An array. descr: "<f4" ...; shape: a tuple, or any text."""
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}"
    kind = {"<f4": "f", "<f8": "d", "<i8": "q"}.get(descr)
    data = text_of(struct.pack(f"<{len(values)}{kind}", *values)) if data is None else data
    return npy_of_header(header + " " * (-(len(header) + 11) % 64) + "\n", data)


def npy_of_header(header, data="\0" * 48):
    return "\x93NUMPY\1\0" + little(len(header), 2) + header + data


def npy_texts(texts):
    width = max(map(len, texts))
    return npy(f"<U{width}", (len(texts),), data=text_of("".join(t.ljust(width, "\0") for t in texts).encode("utf-32-le")))


def npz(**arrays):
    return zip_of([(name + ".npy", content) for name, content in arrays.items()])


LABEL = npy("<i8", (6,), (0, 1, 0, 1, -1, -1))
LOGITS = npy("<f4", (6, 2), (3, 0, 0, 3, 2, 1, 1, 2, 1, 1, 0, 1))


def safetensors(header, length=-1, data=24):
    return little(len(header) if length < 0 else length, 8) + header + "\0" * data


def tensor(name, kind, shape, offsets):
    return f'{{"{name}":{{"dtype":"{kind}","shape":{shape},"data_offsets":{offsets}}}}}'


FETCHED = "\0x\1y"


def _data_set(name, shape, classes, numbers, format_):
    return (f'name: "{name}"\nclass_name: [{classes}]\n{shape}\nlayout {{\n  part {{\n    name: "train"\n    {numbers}\n'
            f"    {format_}\n  }}\n}}\n")


def _catalog():
    two, six, any_size = '"cat", "dog"', ", ".join(f'"{c}"' for c in "abcdef"), "channels: 3 height: 0 width: 0"
    small, pairs = "channels: 3 height: 4 width: 5", "samples: 4 samples_per_class: 2"
    digits = 'name: "digits"\ntitle: "Five digits"\nclass_name: ["zero", "one", "two", "three", "four"]\n'
    digits += "channels: 1\nheight: 8\nwidth: 8\nlayout {\n"
    for part, each in (("train", 20), ("test", 10)):
        digits += (f'  part {{\n    name: "{part}"\n    samples: {5 * each}\n    samples_per_class: {each}\n    idx {{ images '
                   f'{{ path: "digits/{part}-images" }} labels {{ path: "digits/{part}-labels" }} }}\n  }}\n')
    fetch = ('fetch { title: "official" urls { file {\n  url: "https://example.org/train.bin"\n  path: "fetched/train.bin"\n'
             f'  bytes: 4\n  sha256: "{sha256(FETCHED)}"\n}} }} }}\n')
    return {
        "digits": digits + "}\n",
        "photos": _data_set("photos", any_size, two, pairs, 'image_folder { path: "photos" }'),
        "listed": _data_set("listed", any_size, two, pairs,
                            'image_list { path: "photos" list { path: "listed/list.txt" } }'),
        "mats": _data_set("mats", small, ", ".join(f'"{i}"' for i in range(10)),
                          "samples: 6 samples_per_class: [2, 1, 1, 1, 0, 0, 0, 0, 0, 1]",
                          'mat { file { path: "mats/digits.mat" } class_label: [10, 1, 2, 3, 4, 5, 6, 7, 8, 9] }'),
        "arrays": _data_set("arrays", small, six, "samples: 6 samples_per_class: 1",
                            'npz { images { path: "arrays/images.npz" } }'),
        "binary": _data_set("binary", "channels: 3 height: 2 width: 2", two, pairs,
                            'cifar_binary { file { path: "binary/train.bin" } }'),
        "fetched": _data_set("fetched", "channels: 1 height: 1 width: 1", two, "samples: 2 samples_per_class: 1",
                             'cifar_binary { file { path: "fetched/train.bin" } }') + fetch}


# The classes follow each other; the pixels of image i have the value i.
def _digits(each):
    images = big(0x803) + big(5 * each) + big(8) + big(8) + "".join(chr(i) * 64 for i in range(5 * each))
    return images, big(0x801) + big(5 * each) + "".join(chr(i // each) for i in range(5 * each))


def _files():
    files = {
        "study.textproto": 'name: "study"\nquestion: "Which is better?"\ntask: "task"\nmethod: ["plain", "pairs+short"]\n'
        'split: 0\nseed: 0\nmetric { accuracy {} }\nmetric { auroc {} }\nreport { published { name: "table" } }\n',
        "deploy.textproto":
        'store: "store"\ndata_folder: "files"\njobs: 1\nretries: 0\nlease_seconds: 2\nhang_seconds: 5\n',
        "data/tasks/task.textproto":
        'name: "task"\ntitle: "Digits"\ndata_set: "digits"\nsplit { known: [0, 1, 2] unknown: [3, 4] }\n',
        "experiments/methods/plain.textproto":
        'name: "plain"\nmodel { osrci_cnn {} head { linear {} } }\ninput { size: 20 channels: 1 }\n'
        "loss { term { cross_entropy {} } }\ntraining {\n  epochs: 2\n  batch_size: 10\n"
        "  optimizer { learning_rate: 0.1 sgd {} }\n  schedule { constant {} }\n}\ninference { plain {} }\n"
        "score { max_softmax {} }\n",
        "experiments/methods/pairs.textproto": 'name: "pairs"\nbase: "plain"\nopen_set { feature_mixup {} }\n'
        "loss { term { open_auc {} } }\nscore { max_logit {} }\n",
        "experiments/presets/short.textproto": 'note: "One epoch."\ntraining { epochs: 1 }\n',
        "experiments/published/table.textproto":
        'name: "table"\npaper: "Somebody 1999"\ntable: "Table 1"\ncolumn { label: "D" task: "task" metric { auroc {} } }\n'
        'row { label: "CE" method: "plain" cell { value: 90 std: 1 } }\n',
        "scores.csv": "label,prediction,unknown_score\n0,0,0.1\n1,1,0.2\n1,1,0.4\n0,1,0.6\n-1,0,0.3\n-1,1,0.5\n",
        "files/mats/digits.mat": stored_image("digits.mat"),
        "files/binary/train.bin": "\0abcdefghijkl\0abcdefghijkl\1abcdefghijkl\1abcdefghijkl",
        "files/listed/list.txt": "cat/1.png 0\ncat/2.jpg 0\ndog/1.webp 1\ndog/2.png 1\n",
        "files/arrays/images.npz": npz(images=npy("|u1", (6, 4, 5, 3), data="\3" * 360),
                                       labels=npy("<i8", (6,), range(6))),
        "logits.npz": npz(label=LABEL, logits=LOGITS),
        "label.npy": LABEL,
        "unknown_score.npy": npy("<f8", (6,), (.1, .2, .3, .4, .5, .6)),
        "weights.safetensors": safetensors(tensor("backbone.weight", "F32", "[2,3]", "[0,24]")),
    }
    for part, each in (("train", 20), ("test", 10)):
        files[f"files/digits/{part}-images"], files[f"files/digits/{part}-labels"] = _digits(each)
    for photo, image in (("cat/1.png", "rgb.png"), ("cat/2.jpg", "rgb.jpg"), ("dog/1.webp", "lossless.webp"),
                         ("dog/2.png", "grey.png")):
        files["files/photos/" + photo] = stored_image(image)
    files.update({f"data/catalog/{name}.textproto": text for name, text in _catalog().items()})
    return {**{"work/" + path: text for path, text in files.items()}, "served/train.bin": FETCHED, "bin/curl": CURL,
            "home/notes": "somebody's", "outside/file": "somebody else's", "outside/folder/file": "somebody else's"}


# "Downloads" the file in served/ that has the last part of the address as its name, and ignores all other options.
CURL = """#!/bin/sh
out=
for word in "$@"; do
  if [ "$before" = --output ]; then out=$word; fi
  before=$word
done
[ -n "$out" ] || exit 2
here=$(dirname "$0")/..
echo "$@" >> "$here/tmp/curl.log"
[ -f "$here/served/${word##*/}" ] || exit 22
cat "$here/served/${word##*/}" > "$out"
"""


def _write(path, content):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(raw(content))


def remove(path):
    """Removes what is at `path`, if anything is, whatever its permissions are."""
    if os.path.islink(path) or not os.path.isdir(path):
        if os.path.lexists(path):
            os.remove(path)
        return
    os.chmod(path, 0o700)
    for folder, folders, _ in os.walk(path):
        for name in folders:
            if not os.path.islink(os.path.join(folder, name)):
                os.chmod(os.path.join(folder, name), 0o700)
    shutil.rmtree(path)


def tool(*words, given=""):
    return text_of(subprocess.run([HERE + "hostile_tool", *words], input=raw(given), stdout=subprocess.PIPE,
                                  check=True).stdout)


class Fixture:
    """Makes a new copy, which replaces the previous one. Paths are below its folder: "work/study.textproto"."""

    _made = None  # (folder, [(trial, outputs key, checkpoint key)])

    def __init__(self):
        if Fixture._made is None:
            folder = os.path.join(TEMPORARY, "template")
            remove(folder)
            for path, content in _files().items():
                _write(os.path.join(folder, path), content)
            os.chmod(os.path.join(folder, "bin/curl"), 0o700)
            os.mkdir(os.path.join(folder, "tmp"))
            Fixture._made = folder, [line.split() for line in tool("store", folder + "/work").splitlines()]
        self.folder = os.path.join(TEMPORARY, "fixture")
        remove(self.folder)
        shutil.copytree(Fixture._made[0], self.folder, symlinks=True)
        self.trials, self.outputs_keys, self.checkpoint_keys = zip(*Fixture._made[1])

    def path(self, path):
        return os.path.join(raw(self.folder), raw(path))

    def read(self, path):
        return read_file(self.path(path))

    def write(self, path, content):
        """Replaces anything with this path. Creates missing folders."""
        self.remove(path)
        _write(self.path(path), content)

    def replace(self, path, old, new):
        text = self.read(path)
        assert old in text, (path, old)
        self.write(path, text.replace(old, new))

    def remove(self, path):
        remove(self.path(path))

    def make_program(self, path, content):
        self.write(path, content)
        os.chmod(self.path(path), 0o700)

    def link(self, path, target):
        self.remove(path)
        os.makedirs(os.path.dirname(self.path(path)), exist_ok=True)
        os.symlink(raw(target), self.path(path))

    def record(self, trial=0):
        """The path of the trial's record; of the folders of its outputs and its checkpoint."""
        return f"work/store/records/{self.trials[trial][:2]}/{self.trials[trial]}.rec"

    def outputs(self, trial=0):
        return f"work/store/outputs/{self.outputs_keys[trial][:2]}/{self.outputs_keys[trial]}/"

    def checkpoint(self, trial=0):
        return f"work/store/checkpoints/{self.checkpoint_keys[trial][:2]}/{self.checkpoint_keys[trial]}/"

    def changed(self, type_, path, changes):
        """The record file at `path` ("": of an empty message) after changes (hostile_tool.cc)."""
        return tool("change", type_, path and os.fsdecode(self.path(path)), given="".join(c + "\n" for c in changes))

    def snapshot(self):
        """The type and content of every file, folder and link, by its path."""
        found = {}
        for folder, folders, files in os.walk(raw(self.folder)):
            for name in folders + files:
                path = os.path.join(folder, name)
                info = os.lstat(path)
                what = f"{info.st_mode:o} "
                if stat.S_ISLNK(info.st_mode):
                    what += text_of(os.readlink(path))
                elif stat.S_ISREG(info.st_mode):
                    what += f"{info.st_size} "
                    if info.st_size < 16 << 20:
                        try:
                            what += sha256(read_file(path))
                        except OSError:
                            pass
                found[text_of(path[len(self.folder) + 1:])] = what
        return found


atexit.register(remove, TEMPORARY)
ANY = Fixture()  # for what is the same in every copy


# Bundles, as lists of members. Version 1 has record files as members; version 2 has them in records.tar.xz.

SUMS, RECORDS, MANIFEST = "SHA256SUMS", "records.tar.xz", "manifest.textproto"


def bundle_members(fixture, path):
    """The members of a valid bundle in the form of version 1, without its sums."""
    members, records = [], []
    for one in read_zip(fixture.read(path)):
        if one.name == RECORDS:
            tar = from_xz(one.content)
            at = 0
            while tar[at] != "\0":
                size = int(tar[at + 124:at + 135], 8)
                records.append(Member(tar[at:at + 100].rstrip("\0"), tar[at + 512:at + 512 + size]))
                at += 512 + size + -size % 512
        elif one.name != SUMS:
            members.append(one._replace(content=one.content.replace("bundle_version: 2\n", "")
                                        if one.name == MANIFEST else one.content))
    return members + records


def packed(members):
    """These members in the form of version 2, with their sums."""
    is_record = lambda one: one.name.startswith("records/") and one.name.endswith(".rec")  # noqa: E731
    records = [one for one in members if is_record(one)]
    others = [one._replace(content=one.content + "\nbundle_version: 2\n") if one.name == MANIFEST else one
              for one in members if not is_record(one)]
    others.append(Member(RECORDS, xz_of(tar_of([one[:2] for one in records]))))
    return others + [Member(SUMS, sums_of(others + records))]


def sums_of(members):
    return "".join(f"{sha256(one[1])}  {one[0]}\n" for one in members)


def signed(members):
    """A bundle of these members, and of their sums unless they contain them."""
    members = [Member(*one) for one in members]
    if all(one.name != SUMS for one in members):
        members.append(Member(SUMS, sums_of(members)))
    before = zip_of(members, "openset bundle sha256:" + "0" * 64)[:-64]
    return before + sha256(before)


# Entries of all kinds in place of a file.


def _socket(path):
    # A path may be too long for a socket's name, so the socket is made with a short one.
    before = os.getcwd()
    os.chdir(os.path.dirname(path))
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("s")
    os.rename("s", path)
    os.chdir(before)


def _closed(path):
    _write(path, "x")
    os.chmod(path, 0)


def _large(path):
    _write(path, "x")
    os.truncate(path, 10_000_000_000)


def _holds(content):
    return lambda path: _write(path, content)


def _leads(target):
    return lambda path: os.symlink(target, path)


TERMINAL = "\x1b]0;owned\a\x1b[2J\xc2\x9b31m\xe2\x80\xae gnp \r\n\b{{{\xff\xfe"
ENTRIES = {
    "nothing in it": _holds(""),
    "a folder": lambda path: os.makedirs(path + b"/inner"),
    "a pipe that nobody writes to": lambda path: os.mkfifo(path, 0o600),
    "a socket": _socket,
    "a link to itself": lambda path: os.symlink(os.path.basename(path), path),
    "a link to nowhere": _leads("nowhere"),
    "a link to /dev/zero": _leads("/dev/zero"),
    "a link to /dev/tty": _leads("/dev/tty"),
    "a link to a folder": _leads("/"),
    "it is closed": _closed,
    "10 GB of nothing": _large,
    "zeros": _holds("\0" * 65536),
    "noise": _holds(text_of(random.Random(0).randbytes(4096))),
    "what a terminal obeys": _holds(TERMINAL),
}


def put_entry(fixture, path, entry):
    fixture.remove(path)
    os.makedirs(os.path.dirname(fixture.path(path)), exist_ok=True)
    ENTRIES[entry](fixture.path(path))
