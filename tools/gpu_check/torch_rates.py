"""PyTorch's training images a second: torch_rates.py NETWORK DEVICE eager|compile SECONDS prints {variant: rate}, a line each.

A step is a forward pass, cross entropy, a backward pass and SGD with momentum, on one ready batch of 128 images of 32 x 32.
"deterministic" is with use_deterministic_algorithms, the others with cuDNN's benchmark. BF16 is autocast.
"""
import json
import os
import sys
import time

import torch
from torch import nn
from torch.nn import functional

sys.path.append(os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "peers"))
import networks  # noqa: E402  beside this file in the package

BATCH, CLASSES = 128, 6
# Name, precision, channels-last, deterministic, how a step is run.
EAGER = [("FP32", "FP32", False, False, ""), ("FP32 deterministic", "FP32", False, True, ""),
         ("TF32 channels-last", "TF32", True, False, ""), ("BF16 channels-last", "BF16", True, False, ""),
         ("BF16 channels-last, deterministic", "BF16", True, True, ""), ("FP32 CUDA graph", "FP32", False, False, "graph"),
         ("BF16 channels-last, CUDA graph", "BF16", True, False, "graph")]
COMPILED = [("BF16 channels-last, torch.compile", "BF16", True, False, "compile"),
            ("FP32 torch.compile", "FP32", False, False, "compile")]


def backbone(name):
    if name != "resnet18":
        return {"osrci_cnn": networks.OsrciCnn, "vgg32": networks.Vgg32}[name]()
    widths = [64, 64, 128, 256, 512]
    blocks = [networks.BasicBlock(widths[stage + block], widths[stage + 1], 2 if stage and not block else 1)
              for stage in range(4) for block in (0, 1)]
    network = nn.Sequential(nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU(), *blocks,
                            nn.AdaptiveAvgPool2d(1), nn.Flatten())
    network.feature_dim = 512
    return network


def rate(name, device, seconds, precision, channels_last, deterministic, how):
    on_gpu = device != "cpu"
    torch.manual_seed(1)
    torch.use_deterministic_algorithms(deterministic)
    torch.backends.cudnn.deterministic, torch.backends.cudnn.benchmark = deterministic, not deterministic
    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = precision == "TF32"
    layout = torch.channels_last if channels_last else torch.contiguous_format
    model = networks.Network(backbone(name), CLASSES).to(device, memory_format=layout)
    optimizer = torch.optim.SGD(model.parameters(), 0.01, momentum=0.9, weight_decay=1e-4, fused=True)
    image = torch.randn(BATCH, 3, 32, 32, device=device).contiguous(memory_format=layout)
    label = torch.arange(BATCH, device=device) % CLASSES

    def loss():
        with torch.autocast(device.split(":")[0], torch.bfloat16, enabled=precision == "BF16", cache_enabled=how != "graph"):
            logits = model(image)[1]
        return functional.cross_entropy(logits.float(), label)

    forward = torch.compile(loss, mode="max-autotune") if how == "compile" else loss

    def step():
        optimizer.zero_grad(set_to_none=True)
        if how == "compile":
            torch.compiler.cudagraph_mark_step_begin()
        forward().backward()
        optimizer.step()

    if how == "graph":
        side, graph = torch.cuda.Stream(), torch.cuda.CUDAGraph()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                step()
        torch.cuda.synchronize()
        optimizer.zero_grad(set_to_none=True)
        with torch.cuda.graph(graph):
            forward().backward()
            optimizer.step()
        step = graph.replay

    def some_steps():
        for _ in range(20 if on_gpu else 1):
            step()
        if on_gpu:
            torch.cuda.synchronize()
        return 20 if on_gpu else 1

    some_steps()
    begin, steps = time.perf_counter(), 0
    while time.perf_counter() - begin < seconds:
        steps += some_steps()
    return round(BATCH * steps / (time.perf_counter() - begin))


def main():
    network, device, how, seconds = sys.argv[1:]
    for name, *settings in EAGER if how == "eager" else COMPILED:
        if device == "cpu" and (settings[0] != "FP32" or settings[3] == "graph"):
            continue
        if device != "cpu":
            torch.cuda.set_device(device)
        try:
            found = rate(network, device, float(seconds), *settings)
        except Exception as error:  # the other variants go on
            found = (str(error).splitlines() or [repr(error)])[0][:200]
        print(json.dumps({name: found}), flush=True)


main()
