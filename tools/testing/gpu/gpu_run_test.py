#!/usr/bin/env python3
"""The program on a machine with two simulated GPUs.

The driver is core/process/gpu/fake_gpu_driver.cc, and the worker uses the GPUs of core/tensor/testing/memory_gpu.h.
"""
import sys

sys.path.insert(0, "tools/testing")
from arrays import f32, i64, texts  # noqa: E402
from program import ROOT, ProgramTest, main  # noqa: E402

WORKER = f" --worker={ROOT}/tools/testing/gpu/memory_gpu_worker"
STUDY = """
name: "study" task: "fashion_mnist_6_4" split: 0 method: "softmax" seed: 0
override {
  input { size: 16 channels: 1 mean: 0.286 std: 0.353 }
  model { osrci_cnn { feature_dim: 8 } head { linear {} } }
  training { epochs: 2 batch_size: 32 }
}
train_limit_per_class: 20
test_limit_per_class: 10
metric { accuracy {} } metric { auroc {} }
"""
TRAINER = """
name: "mine" title: "Mine" reference: "own"
model { outputs {} } input {} inference { plain {} } score { max_softmax {} }
training { command {
  run: "cp made.npz outputs.npz; echo $CUDA_VISIBLE_DEVICES $(grep -c '^ *.device.: *.cuda' trial.json) >> SEEN; "
       "while [ $(wc -l < SEEN) -lt 2 ]; do sleep 0.1; done"
  source: "made.npz"
} }
"""


class GpuRunTest(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("study.textproto", STUDY)
        # A fake driver and a fake PyTorch; the worker needs nothing from the latter.
        library = self.program.path("lib")
        library.mkdir()
        (library / "libcuda.so.1").symlink_to(ROOT / "core/process/gpu/libfake_gpu_driver.so")
        self.write("torch/version.py", "__version__ = '2.11.0+cu130'\n")
        self.write("torch/lib/libtorch_cuda.so", "")
        self.environment = self.program.environment
        self.environment.update(LD_LIBRARY_PATH=str(library), OPENSET_TORCH=str(self.program.path("torch")),
                                FAKE_GPUS="NVIDIA H200,NVIDIA H200")

    def run_on(self, devices, store, code=0):
        return self.fails(f"run study.textproto --devices={devices} --store={store}" + WORKER, code)

    def check(self, flags="", code=0):
        return self.fails("devices --check" + WORKER + flags, code)

    def matches(self, text, *expressions):
        for expression in expressions:
            self.assertRegex(text, expression)

    def numbers(self, store):
        """The report's numbers by metric: accuracy and AUROC."""
        cells = self.program.report("study", store)["cells"]
        self.assertEqual(len(cells), 2)
        return {cell["metric"]: cell["mean"] for cell in cells}

    # Two trainings by a program at once, on a GPU each. Each waits for the other.
    def test_a_program_that_trains_sees_its_gpu_alone(self):
        self.arrays("cloud.npz", features=f32(range(18), 18, 1), label=i64(i % 3 for i in range(18)),
                    part=texts(9 * ["train"] + 9 * ["test"]))
        self.arrays("made.npz", logits=f32(18 * [-1], 9, 2))
        self.write("cloud.textproto", "name: 'cloud' data_set: 'features:cloud.npz' split { known: [0, 1] unknown: 2 }")
        self.write("mine.textproto", TRAINER.replace("SEEN", str(self.program.path("seen"))))
        self.write("study.textproto", "name: 'study' question: '?' task: 'cloud.textproto' method: 'mine.textproto' "
                   "seed: [0, 1] metric { auroc {} }")
        self.out("run study.textproto --devices=cuda:0,1 --allow_commands --retries=0" + WORKER)
        self.assertEqual(sorted(self.read("seen").splitlines()), ["0 1", "1 1"])

    def test_the_devices_are_listed(self):
        devices = self.out("devices")
        self.matches(devices, r"cuda:0 +NVIDIA H200 +16.0 GB +9.0 +yes", r"cuda:1 +NVIDIA H200 +16.0 GB +9.0 +yes")
        self.says(devices, "--devices=auto, the default, is each NVIDIA H200.")

    # Each kind of action, in each precision, gives the same bytes twice, on the CPU and on the GPU.
    def test_the_devices_are_checked(self):
        self.environment["FAKE_GPUS"] = "NVIDIA H200"
        checked = self.check().out
        for device in ("cpu", "cuda:0"):
            for actions in ("train +6 of 6", "infer +10 of 10", "evaluate +10 of 10", "choose +1 of 1"):
                self.matches(checked, f"{device} +FP32 +{actions}\n")
        for precision in ("TF32", "BF16"):  # three methods
            for actions in ("train +4 of 4", "infer +6 of 6", "evaluate +6 of 6", "choose +1 of 1"):
                self.matches(checked, f"cuda:0 +{precision} +{actions}\n")

    def test_a_check_says_what_fails(self):
        self.says(self.check(" --devices=cuda:2", 2).err, "there is no GPU 2")
        self.fails("devices --devices=cuda:0", 2, "--devices: only with --check")
        self.environment["MEMORY_GPU_FAILS"] = f"device 100 {self.program.path('failed')}"
        failed = self.check(" --devices=cuda:1", 1)
        self.matches(failed.out, "cuda:1 +FP32 +train +5 of 6\n",
                     "cuda:1, FP32: train .*an illegal memory access was encountered",
                     "cuda:1, FP32: infer .*: not tried, because it needs what failed")
        self.assertNotRegex(failed.out, "(cuda:0|cpu) +FP32")
        self.matches(failed.err, "[0-9]+ of [0-9]+ actions failed, or gave other bytes the second time")

    # The first worker uses other instructions, which sum in another order.
    def test_a_check_says_what_differs(self):
        self.write("worker.sh", f"#!/bin/sh\nmkdir {self.program.path('once')} 2>/dev/null && export "
                   f"ATEN_CPU_CAPABILITY=default\nexec {WORKER.split('=')[1]} \"$@\"\n")
        self.program.path("worker.sh").chmod(0o700)
        differs = self.fails("devices --check --devices=cpu --worker=worker.sh", 1)
        self.matches(differs.out, "cpu, FP32: train .*: gave other bytes the second time")

    def test_a_trial_on_the_second_gpu_has_the_numbers_of_the_cpu(self):
        gpu, cpu = self.run_on("cuda:1", "gpu"), self.run_on("cpu", "cpu")
        self.assertEqual(self.numbers("gpu"), self.numbers("cpu"))
        hint = "hint: FP32 on a GPU: in TF32, PyTorch's default for convolutions, an H200 trained"
        self.says(gpu.err, hint)
        self.says_not(cpu.err, hint)
        self.says(self.run_program("plan study.textproto --devices=cuda:0 --store=none --noprobe").err, hint)
        self.says_not(self.run_on("cuda:1", "gpu").err, hint)  # nothing is left to train

    # Pinned memory makes a context on the thread's current GPU, which is the first one at its start.
    def test_a_worker_of_the_second_gpu_leaves_the_first_alone(self):
        self.environment["MEMORY_GPU_ONLY"] = "1"
        self.run_on("cuda:1", "second")
        self.says(self.run_on("cuda:0", "first", 1).out, "a context on GPU 0")

    # The worker ends, another one replaces it, and the training has the numbers of an undisturbed one.
    def test_device_and_memory_errors_are_retried_in_a_new_process(self):
        self.run_on("cuda:0", "undisturbed")
        for kind, message in (("device", "an illegal memory access was encountered"), ("memory", "CUDA out of memory")):
            self.environment["MEMORY_GPU_FAILS"] = f"{kind} 100 {self.program.path(kind)}_failed"
            self.says(self.run_on("auto", kind).out, message)
            self.assertEqual(self.numbers(kind), self.numbers("undisturbed"))

    def test_a_driver_that_is_too_old_is_refused_before_anything_starts(self):
        self.environment["FAKE_GPU_CUDA"] = "12040"
        for devices in ("auto", "cuda:0"):
            self.says(self.run_on(devices, "old", 2).err, "--devices: the GPU's driver can run CUDA 12.4, and openset "
                      "needs CUDA 13.0: install driver 580 or later, or compute on the CPU with --devices=cpu")
            self.assertFalse(self.program.path("old").exists())
        self.run_on("cpu", "cpu")

    # A program without LibTorch's CUDA library, on a machine that has no such PyTorch either.
    def test_without_the_cuda_library_uses_the_cpu_or_fails(self):
        self.write("torch/version.py", "__version__ = '2.10.0+cu128'\n")
        self.says(self.run_on("cuda:0", "named", 2).err, "--devices: OPENSET_TORCH: ",
                  "is PyTorch 2.10.0+cu128, and openset needs 2.11.0 for CUDA 13")
        self.run_on("auto", "free")
        devices = self.out("devices")
        self.matches(devices, "cuda:0 +NVIDIA H200 +16.0 GB +9.0 +no")
        self.says(devices, "--devices=auto, the default, is the CPU.")


if __name__ == "__main__":
    main()
