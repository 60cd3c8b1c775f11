"""Compares the includes of each target's sources with the `deps` it declares; --fix writes them into the BUILD files.
Also finds sources that belong to no target, such as a test whose name is not its library's.

A target declares the target of every header that its own sources include, and no others. Targets without headers, which
are only linked, may be declared too. `torch = True` is set exactly if a source file includes LibTorch, directly or not.

BUILD files are evaluated as Python, with the rules of tools/build_defs/cc.bzl replaced by functions that record their
arguments.

    python3 tools/checks/deps.py [--fix] [FOLDER]     the folder of the repository, by default the current one
"""

import argparse
import ast
import glob
import os
import re
import sys

INCLUDE = re.compile(r'^\s*(?:#include|import)\s+(?:public )?["<]([^">]+)[">]', re.M)
EXTERNAL = [
    ("google/protobuf/descriptor.proto", "@protobuf//:descriptor_proto"),
    ("google/protobuf/", "@protobuf"),
    ("absl/", "@absl"),
    ("Eigen/", "@eigen"),
    ("unsupported/Eigen/", "@eigen"),
    ("boost/math/", "@boost_math"),
    ("boost/asio/", "@boost_beast"),
    ("boost/beast/", "@boost_beast"),
    ("nlohmann/", "@nlohmann_json//:json"),
    ("gtest/", "@googletest//:gtest"),
    ("gmock/", "@googletest//:gtest"),
    ("glog/", "@glog"),
    ("nettle/", "@nettle"),
    ("minizip/", "@zlib//:minizip"),
    ("zlib.h", "@zlib//:z"),
    ("lzma.h", "@xz//:lzma"),
    ("spng.h", "@spng"),
    ("jpeglib.h", "@jpeg"),
    ("jerror.h", "@jpeg"),
    ("libexif/", "@exif"),
    ("tiffio.h", "@tiff"),
    ("gif_lib.h", "@gif"),
    ("utf8proc.h", "@utf8proc"),
    ("webp/", "@webp"),
    ("benchmark/", "@benchmark//:benchmark"),
    ("third_party/revisions.h", "//third_party:revisions"),
    ("torch/", "//third_party:torch"),
    ("ATen/", "//third_party:torch"),
    ("c10/", "//third_party:torch"),
]
TORCH_HEADERS = ("core/tensor/torch.h", "core/tensor/torch_library.h", "core/tensor/torch_nn.h", "core/tensor/torch_runtime.h",
                 "core/tensor/torch_script.h")
# The dependencies that the macros add: to all targets, and to targets of a kind.
ALWAYS = {"@absl", "@protobuf", "//core:status_macros"}
ADDED = {
    "openset_cc_test": {"@googletest//:gtest", "//core/testing:status_matchers"},
    "openset_cc_benchmark": {"@benchmark//:benchmark"},
}


class Target:
    def __init__(self, package, kind, name, attributes, deps_attribute="deps", rule=None, added=()):
        self.package, self.kind, self.name, self.deps_attribute = package, kind, name, deps_attribute
        self.rule = rule or name
        self.added = set(added)  # what the rule adds
        self.sources = [s for s in attributes.get("srcs", []) + attributes.get("hdrs", []) if s[0] not in ":/"]
        self.headers = [h for h in attributes.get("hdrs", []) if h[0] not in ":/"]
        self.deps = attributes.get("deps", [])
        self.torch = attributes.get("torch", False)

    @property
    def label(self):
        return f"//{self.package}:{self.name}"


def absolute(label, package):
    if label.startswith(":"):
        return f"//{package}{label}"
    if label.startswith("//") and ":" not in label:
        return f"{label}:{label.split('/')[-1]}"
    return label


def relative(label, package):
    if not label.startswith("//"):
        return label
    folder, name = label[2:].split(":")
    if folder == package:
        return f":{name}"
    return f"//{folder}" if folder.split("/")[-1] == name else label


def order(label):
    """buildifier's sort key of a label: of "//core:name" and "//core/files:name", the one with the colon comes first."""
    return (0 if label.startswith(":") else 1 if label.startswith("//") else 2, label.replace(":", "\0"))


class Repository:
    def __init__(self, root):
        self.root = root
        self.targets = []
        self.packages = []
        self.owner = {}  # header or .proto -> label
        self.text = {}
        for path in sorted(glob.glob(f"{root}/**/BUILD", recursive=True)):
            package = os.path.relpath(os.path.dirname(path), root)
            if package.split("/")[0] not in ("third_party", "docs") and not package.startswith(("bazel-", ".")):
                self.packages.append(package)
                self.evaluate(path, package)
        for target in self.targets:
            for header in target.headers:
                self.owner[f"{target.package}/{header}"] = target.label
            if target.kind == "openset_proto":
                for source in target.sources:
                    self.owner[f"{target.package}/{source}"] = target.label
                    self.owner[f"{target.package}/{source[:-6]}.pb.h"] = target.label + "_cc_proto"
                    self.owner[f"{target.package}/{source[:-6]}.proto.h"] = target.label + "_cc_proto_h"
        # Targets without headers are only linked.
        self.link_only = {t.label for t in self.targets if t.kind == "openset_cc_library" and not t.headers}

    def evaluate(self, path, package):
        folder = os.path.dirname(path)

        def glob_in_package(include, exclude=(), **_):
            found = {os.path.relpath(f, folder) for pattern in include for f in glob.glob(os.path.join(folder, pattern))}
            return sorted(found - {os.path.relpath(f, folder) for pattern in exclude for f in glob.glob(os.path.join(folder, pattern))})

        def note(kind):
            def rule(**attributes):
                self.targets.append(Target(package, kind, attributes["name"], attributes))
            return rule

        def member(name, deps=(), test_deps=(), torch=False, **_):
            library = {"hdrs": [f"{name}.h"], "srcs": glob_in_package([f"{name}.cc"]), "deps": list(deps), "torch": torch}
            self.targets.append(Target(package, "openset_cc_library", name, library, rule=name))
            tests = glob_in_package([f"{name}_test.cc"])
            if tests:
                attributes = {"srcs": tests, "deps": [f":{name}"] + list(test_deps), "torch": torch}
                self.targets.append(Target(package, "openset_cc_test", f"{name}_test", attributes, "test_deps", name))

        def family(name, deps=(), test_deps=(), torch=False, helpers=(), **_):
            label = f"//{package}:{name}"
            self.owner[f"{package}/{name}.h"] = label
            members = [source[:-3] for source in glob_in_package(
                ["*.cc"], ["*_test.cc", "*_benchmark.cc"] + [f"{helper}.cc" for helper in helpers])]
            # What any of them includes.
            library = {"srcs": [f"{each}.cc" for each in members], "deps": list(deps), "torch": torch,
                       "hdrs": glob_in_package([f"{each}.h" for each in members])}
            self.targets.append(Target(package, "openset_family", name, library, added=[label]))
            attributes = {"srcs": glob_in_package([f"{each}_test.cc" for each in members]), "deps": list(test_deps), "torch": torch}
            self.targets.append(Target(package, "openset_cc_test", f"{name}_test", attributes, "test_deps", name, [label]))

        def folder_of(name, deps=(), test_deps=(), torch=False, subfolders=(), without=(), **_):
            places = [""] + [f"{subfolder}/" for subfolder in subfolders]
            tests = glob_in_package([f"{place}*_test.cc" for place in places], without)
            library = {"hdrs": glob_in_package([f"{place}*.h" for place in places], without),
                       "srcs": glob_in_package([f"{place}*.cc" for place in places],
                                               list(without) + tests + [f"{place}*_benchmark.cc" for place in places]),
                       "deps": list(deps), "torch": torch}
            self.targets.append(Target(package, "openset_cc_library", name, library, rule=name))
            attributes = {"srcs": tests, "deps": list(test_deps), "torch": torch}
            self.targets.append(Target(package, "openset_cc_test", f"{name}_test", attributes, "test_deps", name, [f"//{package}:{name}"]))

        class Globals(dict):
            def __missing__(self, key):
                return lambda *_, **__: []

        names = Globals(glob=glob_in_package, openset_member=member, openset_family=family, openset_folder=folder_of, range=range, len=len, True_=True)
        # A table that is only linked.
        names["component_fingerprints"] = lambda name, **_: note("openset_cc_library")(name=name)
        for kind in ("openset_cc_library", "openset_cc_test", "openset_cc_binary", "openset_cc_benchmark", "openset_proto"):
            names[kind] = note(kind)
        # Tests include its sources.
        names["cuda_library"] = lambda srcs, hdrs, **rest: note("openset_cc_library")(hdrs=hdrs + srcs, **rest)
        names["__builtins__"] = {}
        with open(path, encoding="utf-8") as file:
            exec(compile(file.read(), path, "exec"), names)  # pylint: disable=exec-used

    def includes(self, path):
        if path not in self.text:
            try:
                with open(os.path.join(self.root, path), encoding="utf-8") as file:
                    self.text[path] = INCLUDE.findall(file.read())
            except OSError:
                self.text[path] = []
        return self.text[path]

    def sees_torch(self, path, seen):
        if path in TORCH_HEADERS:
            return True
        seen.add(path)
        return any(i not in seen and self.sees_torch(i, seen) for i in self.includes(path))

    def wanted(self, target):
        """The labels that a target's sources need."""
        labels = set()
        for source in target.sources:
            for included in self.includes(f"{target.package}/{source}"):
                if included in self.owner:
                    labels.add(self.owner[included])
                else:
                    labels |= {label for prefix, label in EXTERNAL if included.startswith(prefix)
                               and not (prefix == "google/protobuf/" and included.endswith(".proto"))}
        declared = {absolute(dep, target.package) for dep in target.deps}
        labels |= declared & self.link_only
        added = ALWAYS | ADDED.get(target.kind, set()) if target.kind != "openset_proto" else set()
        return labels - (added - {f"//{target.package}:{target.rule}"}) - target.added - {target.label}

    def orphans(self):
        """C++ and .proto files that no target lists."""
        listed = {os.path.normpath(f"{target.package}/{source}") for target in self.targets for source in target.sources}
        for package in self.packages:
            for ending in ("cc", "h", "proto"):
                for path in sorted(glob.glob(os.path.join(self.root, package, f"*.{ending}"))):
                    if os.path.relpath(path, self.root) not in listed:
                        yield os.path.relpath(path, self.root)

    def problems(self):
        """(target, missing labels, unused labels, whether `torch` is wrong)"""
        for target in self.targets:
            wanted = self.wanted(target)
            declared = {absolute(dep, target.package) for dep in target.deps}
            files = [s for s in target.sources if s.endswith(".cc")]
            torch = any(self.sees_torch(f"{target.package}/{s}", set()) for s in files)
            wrong = target.kind != "openset_proto" and torch and not target.torch
            wrong = wrong or (target.torch and not torch and target.deps_attribute == "deps" and files)
            if wanted != declared or wrong:
                yield target, wanted - declared, declared - wanted, wrong


def list_text(name, labels):
    """An attribute with its list, in buildifier's format."""
    if len(labels) == 1:
        return f'    {name} = ["{labels[0]}"],'
    return f"    {name} = [\n" + "".join(f'        "{label}",\n' for label in labels) + "    ],"


def fix(repository, target, torch_wrong):
    path = os.path.join(repository.root, target.package, "BUILD")
    with open(path, encoding="utf-8") as file:
        lines = file.read().split("\n")
    call = next((n.value for n in ast.parse("\n".join(lines)).body if isinstance(n, ast.Expr) and isinstance(n.value, ast.Call)
                 and any(k.arg == "name" and isinstance(k.value, ast.Constant) and k.value.value == target.rule
                         for k in n.value.keywords)
                 and n.value.func.id in ({target.kind} if target.kind == "openset_proto" else
                                         {target.kind, "openset_member", "openset_family", "openset_folder"})), None)
    if call is None:
        print(f"//{target.package}:{target.rule}: not written by hand, mend it yourself")
        return
    labels = {relative(label, target.package) for label in repository.wanted(target)}
    if target.deps_attribute == "test_deps":
        labels -= {f":{target.rule}"}
    text = list_text(target.deps_attribute, sorted(labels, key=order)) if labels else None
    old = next((k for k in call.keywords if k.arg == target.deps_attribute), None)
    if old is not None:
        lines[old.value.lineno - 1:old.value.end_lineno] = [text] if text else []
    elif text:
        lines.insert(call.end_lineno - 1, text)
    if torch_wrong:
        if target.torch:
            at = next(i for i in range(call.lineno - 1, call.end_lineno) if lines[i].strip() == "torch = True,")
            del lines[at]
        else:
            at = next(i for i in range(call.lineno - 1, call.end_lineno) if lines[i].strip().startswith("name ="))
            lines.insert(at + 1, "    torch = True,")
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(lines))


def main(arguments):
    parser = argparse.ArgumentParser(description="Checks the deps of all targets.")
    parser.add_argument("--fix", action="store_true", help="write them into the BUILD files")
    parser.add_argument("folder", nargs="?", default=".", help="of the repository")
    options = parser.parse_args(arguments)
    fixing = options.fix
    if not os.path.isdir(os.path.join(options.folder, "core")):
        parser.error(f"{options.folder}: not the repository's folder, which has a folder core/")
    count = 0
    repository = Repository(options.folder)
    orphans = list(repository.orphans())
    for path in orphans:
        print(f"{path}: in no target")
    for target, missing, unused, torch_wrong in list(repository.problems()):
        count += 1
        for label in sorted(missing):
            print(f"{target.label}: add {relative(label, target.package)}")
        for label in sorted(unused):
            print(f"{target.label}: remove {relative(label, target.package)}")
        if torch_wrong:
            print(f"{target.label}: {'remove' if target.torch else 'add'} torch = True")
        if fixing:
            fix(repository, target, torch_wrong)
    print(f"{len(repository.targets)} targets, {count} with problems"
          + ("" if fixing or not count else "; 'python3 tools/checks/deps.py --fix' mends them"))
    return 1 if orphans or (count and not fixing) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
