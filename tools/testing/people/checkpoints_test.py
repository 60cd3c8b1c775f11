#!/usr/bin/env python3
"""Files of weights that people gave to openset score, and what came instead of weights."""
import json
import pathlib
import struct
import sys

sys.path[:0] = ["tools/testing", "tools/testing/people"]
from program import main  # noqa: E402
from situation import PeopleTest, answers, refuses, write_files  # noqa: E402

# The first three classes are known; the network of models/testdata/osrci_cnn_* has three outputs.
TASK = """
name: "own" data_set: "fashion_mnist" unknown { data_set: "fashion_mnist" class_id: [3, 4] } split { known: [0, 1, 2] }
"""
METHOD = """
model { osrci_cnn { feature_dim: 4 } head { linear {} } weights { file: "FILE" } }
input { size: 16 channels: 1 mean: 0.286 std: 0.353 }
"""
STUDY = """
name: "study" task: "own.textproto" method: "net.textproto" split: 0 seed: 0 test_limit_per_class: 5
metric { accuracy {} }
"""


def torch_file(name):
    return pathlib.Path(f"core/files/formats/testdata/torch_{name}.pth").read_bytes()


def network(name):
    return pathlib.Path("models/testdata", name).read_bytes()


def files(name, content):
    """The file, and a method and a study of the network that has it."""
    return {name: content, "own.textproto": TASK, "net.textproto": METHOD.replace("FILE", name),
            "study.textproto": STUDY}


def safetensors(prefix="", **replaced):
    """The network's tensors with a prefix instead of "module.". replaced: {name: numbers}, for example head_bias."""
    content = network("osrci_cnn_parallel.safetensors")
    length, = struct.unpack("<Q", content[:8])
    header, data = json.loads(content[8:8 + length]), b""
    tensors = {}
    for name, tensor in header.items():
        if name != "__metadata__":
            name = name.replace("module.", "")
            begin, end = (8 + length + at for at in tensor["data_offsets"])
            bits = content[begin:end]
            if numbers := replaced.get(name.replace(".", "_")):
                bits = struct.pack(f"<{len(numbers)}f", *numbers)
                tensor["shape"] = [len(numbers) // 4, 4] if len(tensor["shape"]) == 2 else [len(numbers)]
            tensors[prefix + name] = {**tensor, "data_offsets": [len(data), len(data) + len(bits)]}
            data += bits
    text = json.dumps(tensors).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


TEN_CLASSES = files("w.safetensors", safetensors(head_weight=[0.5] * 40, head_bias=[0] * 10))
STATE, EMA = network("osrci_cnn_state.pth"), network("osrci_cnn_ema.pth")

SCORE = "score --model=net.textproto --task=own.textproto --methods=mcp --test_limit=5 --jobs=1"


def score_network(name):
    return f"score --model={name} --network=resnet18_cifar --task=own.textproto --methods=mcp --jobs=1"


class CheckpointsTest(PeopleTest):
    def test_names_and_keys(self):
        ema = "sming256/OpenTAD#44"
        self.check(
            answers("old format", "Tencent/FaceDetection-DSFD#18", files("w.pth", network("osrci_cnn_old.pth")), SCORE,
                    "records: "),
            answers("Lightning", "ashleve/lightning-hydra-template#447", files("w.safetensors", safetensors("model.")),
                    SCORE, "weights of w.safetensors: all names begin with 'model.', which is left out"),
            answers("compiled", "SeonghwanSeo/kfold#229", files("w.safetensors", safetensors("_orig_mod.module.")),
                    SCORE, "all names begin with '_orig_mod.module.', which is left out"),
            answers("averaged", ema, files("w.pth", EMA), SCORE + " --key=state_dict_ema",
                    "all names begin with 'model.module.', which is left out",
                    "those under 'state_dict_ema' are used; there are others under 'state_dict'"),
            answers("averaged and not", ema, files("w.pth", EMA), SCORE,
                    "those under 'state_dict' are used; there are others under 'state_dict_ema' (weights.key"),
            refuses("several dicts", ema, files("w.pth", torch_file("two_dicts")), SCORE,
                    "tensors under several keys, 'student', 'teacher'", "--key"))

    def test_outputs_and_values(self):
        issue = "pytorch/pytorch#3805"
        self.check(
            refuses("ten outputs", issue, TEN_CLASSES, SCORE,
                    "The file's head has 10 outputs, the split has 3 known classes", "--outputs"),
            answers("some of ten outputs", issue, TEN_CLASSES, SCORE + " --outputs=9,0,4", "records: "),
            refuses("outputs that the file lacks", issue, TEN_CLASSES, SCORE + " --outputs=9,0,10",
                    "weights.output lists 10, but the file's outputs are 0 to 9"),
            refuses("NaN", issue, files("w.safetensors", safetensors(head_bias=[0, float("nan"), 0])), SCORE,
                    "values that are NaN or infinite, in 1 tensor: 'head.bias' (1 of 3 values)", never=("--set",)))

    def test_other_formats(self):
        issue, face_detection = "pytorch/pytorch#3805", "Tencent/FaceDetection-DSFD#18"
        whole_module, state_dict = "bearpaw/pytorch-classification#11", 'torch.save(model.state_dict(), "weights.pth")'
        self.check(
            refuses("namespace", "mlcommons/mlperf-automations#465", files("w.pth", torch_file("namespace")),
                    score_network("w.pth"), "'argparse Namespace'",
                    'torch.save(checkpoint["model"], "weights.pth")'),
            refuses("whole module", whole_module, files("w.pth", torch_file("module")), score_network("w.pth"),
                    "a whole network", state_dict),
            refuses("old whole module", whole_module, files("w.pth", torch_file("old_module")), score_network("w.pth"),
                    state_dict),
            refuses("LFS pointer", face_detection,
                    files("w.pth", "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 46830571\n"),
                    score_network("w.pth"), "w.pth: is a Git LFS pointer", "download"),
            refuses("web page", face_detection,
                    files("w.pth", "<!DOCTYPE html><title>Google Drive - Virus scan warning</title>"),
                    score_network("w.pth"), "w.pth: is a web page", "download it again"),
            refuses("web page for a network", face_detection, files("w.pt", "<html><title>404</title></html>"),
                    "score --model=w.pt --task=own.textproto --methods=mcp", "is a web page"),
            refuses("web page in a study", face_detection, files("w.pth", "<html>"), "plan study.textproto",
                    "net.textproto:2: model.weights.file: ", "w.pth: is a web page"),
            refuses("safetensors", issue, files("w.pth", safetensors()), SCORE,
                    "is a safetensors file", "rename it to .safetensors"),
            refuses("archive named safetensors", issue, files("w.safetensors", STATE), SCORE,
                    "not a safetensors file as its name says"),
            answers("archive named bin", issue, files("pytorch_model.bin", STATE), SCORE, "records: "),
            answers("weights of TorchScript", issue, files("w.pth", network("osrci_cnn_script.pt")), SCORE,
                    "records: "))

    # The same network: before PyTorch 1.6, under another key, with prefixes, and as TorchScript.
    def test_one_network_gives_the_same_numbers(self):
        measured = []
        for name, content, option in (
                ("state.pth", STATE, ""), ("old.pth", network("osrci_cnn_old.pth"), ""),
                ("ema.pth", EMA, " --key=state_dict_ema"), ("script.pth", network("osrci_cnn_script.pt"), ""),
                ("lightning.safetensors", safetensors("model."), "")):
            program = self.another_program(name)
            write_files(program, files(name, content))
            program.must_run(SCORE + option)
            record, = program.shown_records()
            measured.append([metric["value"] for metric in record["metric"]])
        self.assertEqual(measured, measured[:1] * 5)
        self.assertGreater(len(measured[0]), 1)

    # Files of weights run no code, whatever they are called and whoever names them.
    def test_weights_run_no_code(self):
        def has_run(program):
            """Whether the code of script_setstate.pt has run in the program's folder; removes its trace."""
            found = list(program.folder.rglob("written_by_setstate"))
            for path in found:
                path.unlink()
            return bool(found)

        def given(name):
            program = self.another_program(name)
            write_files(program, files(name, network("script_setstate.pt")))
            return program

        for name in ("resnet18.pth", "model.safetensors", "weights.pt", "pytorch_model.bin", "weights"):
            program = given(name)
            for command in (SCORE, score_network(name), f"{SCORE} --weights={name}", "run study.textproto",
                            "plan study.textproto", "status study.textproto"):
                result = program.run(command)
                self.assertEqual(result.code, 2, result)
                self.says(result.err, "not a safetensors file as its name says" if name.endswith(".safetensors") else
                          "its code defines __setstate__")
                self.assertFalse(has_run(program), result)
        # A scripted network does, so that this test can fail.
        program = given("net.pt")
        program.run("score --model=net.pt --size=8 --channels=1 --task=own.textproto --methods=mcp")
        self.assertTrue(has_run(program))


if __name__ == "__main__":
    main()
