"""Makes the arrays of this study: what Magika's network says of files from Debian packages.

    pip install magika==1.0.3 onnx==1.23.2 onnxruntime==1.32.0 numpy==2.4.6
    python3 results/magika/make_arrays.py PACKAGES ARRAYS

On Debian 12 (amd64), it downloads the packages of packages.txt into the folder PACKAGES with `apt-get download`, and
reads files from them; nothing is installed. A file's type is its suffix (or its folder): KNOWN has types that are among
the 214 labels of the network, TEXT and BINARY types that are not. Files of fewer than 64 bytes and files with the content
of another one are left out. At most MOST_FILES files of a type come from one package, and at most MOST_PACKAGES packages
have files of a type.

The packages are dealt to ten splits: in the order of the type of which they have most files, one to each. Split S tests
every second file of a type from each of its packages:

    test_S.npz          these files, known and unknown
    fit_S.npz           all known files of the other splits' packages
    fit_shared_S.npz    the same, and the known files of its own packages that are not tested
    decision_S.npz      the samples of test_S.npz, as Magika itself decides: its outputs and one for the unknown

Each has logits, features (the input of the last layer), the last layer itself, labels, and the packages as clusters.
"""

import collections
import hashlib
import json
import os
import re
import subprocess
import sys
import tarfile

import magika
import numpy
import onnx
import onnxruntime

SPLITS = 10
MOST_FILES = 10
MOST_PACKAGES = 40
BLOCK = 4096  # bytes from each end that Magika reads
KNOWN = {
    "bzip": r"\.bz2", "c": r"\.c", "cmake": r"\.cmake", "cpp": r"\.(cc|cpp|cxx)", "css": r"\.css", "csv": r"\.csv",
    "diff": r"\.(diff|patch)", "elf": r"\.so(\.[0-9.]+)?", "erlang": r"\.(erl|hrl)", "gemspec": r"\.gemspec",
    "gif": r"\.gif", "go": r"/gocode/.*\.go$", "gzip": r"\.gz", "html": r"\.html?", "ico": r"\.ico", "ini": r"\.ini",
    "jar": r"\.jar", "javascript": r"\.(js|mjs|cjs)", "jpeg": r"\.jpe?g", "json": r"\.json", "latex": r"\.(tex|sty)",
    "lisp": r"\.lisp", "lua": r"\.lua", "m4": r"\.m4", "markdown": r"\.md", "matlab": r"\.m", "ocaml": r"\.mli?",
    "ogg": r"\.og[ga]", "otf": r"\.otf", "pdf": r"\.pdf", "pebin": r"\.dll", "perl": r"\.p[lm]", "php": r"\.php",
    "png": r"\.png", "po": r"\.po", "python": r"\.py", "r": r"\.[rR]", "rst": r"\.rst", "ruby": r"\.rb", "rust": r"\.rs",
    "scss": r"\.scss", "shell": r"\.sh", "sql": r"\.sql", "svg": r"\.svg", "tcl": r"\.tcl", "toml": r"\.toml",
    "ttf": r"\.ttf", "typescript": r"\.d\.ts", "wav": r"\.wav", "woff": r"\.woff", "woff2": r"\.woff2", "xml": r"\.xml",
    "yaml": r"\.ya?ml",
}
TEXT = {
    "Adobe font metrics": r"\.afm", "GAP": r"\.(g|gd|gi)", "hunspell": r"\.(aff|dic)", "Metafont": r"\.(mf|mp)",
    "pkg-config": r"\.pc", "QML": r"\.qml", "Scheme": r"\.scm", "fish": r"\.fish", "Texinfo": r"\.texi",
    "Vala": r"\.(vala|vapi)", "Vim script": r"\.vim",
}
BINARY = {
    "BEAM": r"\.beam", "colour profile": r"\.(icc|icm)", "EOT font": r"\.eot", "FITS": r"\.fits",
    "Haskell interface": r"\.(dyn_)?hi", "message catalog": r"\.mo", "OCaml compiled": r"\.(cma|cmi|cmt|cmti|cmx|cmxa)",
    "Qt messages": r"\.qm", "R database": r"\.rdb", "static library": r"\.a", "TeX font": r"\.(tfm|vf)",
    "terminfo": r"/terminfo/.*", "time zone": r"/zoneinfo/[A-Z].*/[A-Za-z_]+", "Type 1 font": r"\.(pfb|pfm)",
    "typelib": r"\.typelib", "XCF": r"\.xcf",
}
GROUPS = ["text", "binary"]  # of unknown types
GENERIC = ("randombytes", "randomtxt", "txt")  # Magika then says "unknown" or "text"
TYPES = [(name, re.compile(pattern), group) for group, types in (("", KNOWN), ("text", TEXT), ("binary", BINARY))
         for name, pattern in types.items()]


def type_of(path):
    """(type, group) of a path in a package; a group's name is empty for known types."""
    name = path.rsplit("/", 1)[-1]
    for kind, pattern, group in TYPES:
        if pattern.pattern.startswith("/") and pattern.search(path):
            return kind, group
        if re.fullmatch(".+" + pattern.pattern, name):
            return kind, group
    return None


def download(folder):
    """{package: path of its file}, with the versions of packages.txt."""
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "packages.txt"), encoding="utf-8") as file:
        wanted = file.read().split()
    os.makedirs(folder, exist_ok=True)

    def there():
        return {tuple(name.replace("%3a", ":").split("_")[:2]): os.path.join(folder, name)
                for name in os.listdir(folder) if name.endswith(".deb")}

    missing = [one for one in wanted if tuple(one.split("=")) not in there()]
    if missing:
        subprocess.run(["apt-get", "download", "--quiet", *missing], cwd=folder, check=True)
    found = there()
    return {one.split("=")[0]: found[tuple(one.split("="))] for one in wanted}


def spread(items, most):
    """At most `most` of the items, evenly spaced."""
    return [items[i * len(items) // most] for i in range(most)] if len(items) > most else items


def files_of(deb, seen):
    """[(type, group, path, (first bytes, last bytes, size))] of a package. `seen`: digests of all contents so far."""
    found = []
    packed = subprocess.Popen(["dpkg-deb", "--fsys-tarfile", deb], stdout=subprocess.PIPE)
    with tarfile.open(fileobj=packed.stdout, mode="r|") as tar:
        for member in tar:
            kind = type_of(member.name) if member.isfile() and member.size >= 64 else None
            if kind is None:
                continue
            content = tar.extractfile(member).read()
            digest = hashlib.sha256(content).digest()
            if digest not in seen:
                seen.add(digest)
                found.append((*kind, member.name, (content[:BLOCK], content[-BLOCK:], member.size)))
    packed.wait()
    return found


def samples_of(packages):
    """[(package, type, group, path, number in its package and type, ends)], in the order of packages and types."""
    seen, by_type = set(), collections.defaultdict(dict)
    for package, deb in packages.items():
        for kind, group, path, content in sorted(files_of(deb, seen), key=lambda file: file[2]):
            by_type[kind, group].setdefault(package, []).append((path, content))
    samples = []
    for (kind, group), of_packages in sorted(by_type.items()):
        for package in spread(sorted(of_packages), MOST_PACKAGES):
            chosen = spread(of_packages[package], MOST_FILES)
            samples += [(package, kind, group, path, i, content) for i, (path, content) in enumerate(chosen)]
    return sorted(samples, key=lambda sample: sample[:4])


class Network:
    """Magika's network with its last layer: logits = features weight^T + bias."""

    def __init__(self):
        folder = os.path.join(os.path.dirname(magika.__file__), "models", "standard_v3_3")
        with open(os.path.join(folder, "config.min.json"), encoding="utf-8") as file:
            self.config = json.load(file)
        self.labels = self.config["target_labels_space"]
        model = onnx.load(os.path.join(folder, "model.onnx"))
        last = [node for node in model.graph.node if node.op_type == "MatMul"][-1]
        bias = next(node for node in model.graph.node if node.op_type == "Add" and last.output[0] in node.input)
        constants = {tensor.name: onnx.numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
        self.weight = constants[last.input[1]].T.copy()
        self.bias = next(constants[name] for name in bias.input if name in constants).reshape(-1)
        for name in (last.input[0], bias.output[0]):
            model.graph.output.append(onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None))
        self.outputs = ["target_label", last.input[0], bias.output[0]]
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options)

    def bytes_of(self, first, last):
        """What the network reads: 1,024 bytes from the beginning and from the end, without white space around them."""
        take, blank = self.config["beg_size"], self.config["padding_token"]
        first, last = first.lstrip()[:take], last.rstrip()[-take:]
        return list(first) + [blank] * (2 * take - len(first) - len(last)) + list(last)

    def run(self, ends):
        """(probabilities, features, logits) for [(first bytes, last bytes, size)]."""
        rows = numpy.array([self.bytes_of(first, last) for first, last, _ in ends], dtype=numpy.int32)
        parts = [self.session.run(self.outputs, {"bytes": rows[i:i + 32]}) for i in range(0, len(rows), 32)]
        return [numpy.concatenate(part) for part in zip(*parts)]


def decisions(network, probability, logits):
    """As Magika decides: all outputs, and a last one that is the largest where it says no type.

    Magika keeps the label with the largest probability p if p is at least the label's threshold t. The last output is
    log(t / p) above the largest one; if that is of a generic label, p is the largest probability of the others and t 1.
    """
    is_generic = numpy.isin(network.labels, GENERIC)
    threshold = numpy.array([network.config["thresholds"].get(name, network.config["medium_confidence_threshold"])
                             for name in network.labels])
    top = probability.argmax(axis=1)
    t = numpy.where(is_generic[top], 1.0, threshold[top])
    p = numpy.where(is_generic, 0.0, probability).max(axis=1).astype(float)
    return numpy.column_stack([logits, logits.max(axis=1) + numpy.log(t / numpy.maximum(p, 1e-30))])


def check(ends, is_rejected):
    """Compares the decisions with those of Magika's own program, for the files that are small enough to be here whole."""
    small = [i for i, (_, _, size) in enumerate(ends) if size <= BLOCK]
    program = magika.Magika()
    for i in small:
        label = program.identify_bytes(ends[i][0]).output.label
        assert (label in ("unknown", "txt")) == is_rejected[i], f"file {i}: Magika says {label}"
    print(f"as Magika's own program decides, for all {len(small)} files of at most {BLOCK} bytes")


def main(packages_folder, out):
    network = Network()
    assert not set(KNOWN) - set(network.labels)
    samples = samples_of(download(packages_folder))
    probability, features, logits = network.run([sample[5] for sample in samples])
    package = numpy.array([sample[0] for sample in samples])
    group = numpy.array([GROUPS.index(sample[2]) if sample[2] else -1 for sample in samples])
    is_tested = numpy.array([sample[4] % 2 == 0 for sample in samples])
    label = numpy.array([-1 if sample[2] else network.labels.index(sample[1]) for sample in samples])

    decided = decisions(network, probability, logits)
    check([sample[5] for sample in samples], decided.argmax(axis=1) == len(network.labels))

    counts = collections.defaultdict(collections.Counter)
    for sample in samples:
        counts[sample[0]][sample[1]] += 1
    order = sorted(counts, key=lambda name: (counts[name].most_common(1)[0][0], name))
    split_of = {name: i % SPLITS for i, name in enumerate(order)}
    split = numpy.array([split_of[name] for name in package])

    os.makedirs(out, exist_ok=True)
    for s in range(SPLITS):
        test = is_tested & (split == s)
        for name, chosen in (("test", test), ("fit", (split != s) & (label >= 0)),
                             ("fit_shared", ~test & (label >= 0))):
            numpy.savez_compressed(
                os.path.join(out, f"{name}_{s}.npz"), logits=logits[chosen], features=features[chosen],
                head_weight=network.weight, head_bias=network.bias, label=label[chosen], group=group[chosen],
                group_names=numpy.array(GROUPS), cluster=package[chosen])
        numpy.savez_compressed(
            os.path.join(out, f"decision_{s}.npz"), logits=decided[test], num_classes=numpy.array(len(network.labels)),
            label=label[test], group=group[test], group_names=numpy.array(GROUPS), cluster=package[test])
    with open(os.path.join(out, "files.tsv"), "w", encoding="utf-8") as file:
        for sample, answer in zip(samples, probability.argmax(axis=1)):
            print(split_of[sample[0]], *sample[:4], network.labels[answer], sep="\t", file=file)
    for name, types in (("known", KNOWN), ("text", TEXT), ("binary", BINARY)):
        rows = collections.Counter(sample[1] for sample in samples if sample[1] in types)
        print(f"{name}: {sum(rows.values())} files; " + ", ".join(f"{kind} {n}" for kind, n in sorted(rows.items())))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*sys.argv[1:])
