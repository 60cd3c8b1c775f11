"""Writes the TorchScript archives of models/testdata, and what PyTorch computes with them.

    python3 tools/peers/make_torchscript.py models/testdata

The stored files were made with PyTorch 2.11.0 and safetensors 0.8.0 on x86-64. Values are random, with a fixed seed.
"""

import argparse
import os
from typing import Tuple

import torch
from safetensors.torch import save_file
from torch import nn
from torch.nn import functional

import networks

IMAGES = (3, 1, 8, 8)


class Tiny(nn.Module):
    """[B, 1, 8, 8] -> 5 logits of 3 features."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 2, 3)
        self.bn = nn.BatchNorm2d(2)
        self.dropout = nn.Dropout(0.5)
        self.hidden = nn.Linear(72, 3)
        self.fc = nn.Linear(3, 5)

    def feature(self, x):
        x = functional.relu(self.bn(self.conv(x)))
        # A view, as much code has it: it wants images in the default memory layout.
        return functional.relu(self.hidden(self.dropout(x.view(x.size(0), -1))))

    def forward(self, x):
        return self.fc(self.feature(x))


class WithFeatures(Tiny):
    def forward(self, x):
        feature = self.feature(x)
        return feature, self.fc(feature)


class LogProbabilities(Tiny):
    def forward(self, x):
        return functional.log_softmax(self.fc(self.feature(x)), 1)


class Probabilities(Tiny):
    def forward(self, x):
        return functional.softmax(self.fc(self.feature(x)), 1)


class TwoImages(Tiny):
    def feature(self, x):
        x = functional.relu(self.bn(self.conv(x)))
        return functional.relu(self.hidden(self.dropout(x.view(2, -1))))


class NotANumber(Tiny):
    def forward(self, x):
        return self.fc(self.feature(x)) * float("nan")


class WritesAFile(nn.Module):
    """Code that runs when the archive is loaded."""

    def __init__(self):
        super().__init__()
        self.matrix = torch.ones(64, 5)

    def forward(self, x):
        return torch.flatten(x, 1).matmul(self.matrix)

    @torch.jit.export
    def __getstate__(self):
        return (self.matrix, self.training)

    @torch.jit.export
    def __setstate__(self, state: Tuple[torch.Tensor, bool]):
        self.training = state[1]
        memory = torch.from_file("written_by_setstate", True, 4, dtype=torch.uint8)
        memory.fill_(65)
        self.matrix = state[0] * memory.sum()  # otherwise the file has no use and is not opened


class AsDict(Tiny):
    def forward(self, x):
        return {"logits": self.fc(self.feature(x))}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    folder = parser.parse_args().folder
    torch.manual_seed(0)
    image = torch.randn(IMAGES)
    tiny = Tiny()
    tiny.train()
    tiny(image)  # batch statistics other than the first ones
    tiny.eval()

    def script_of(kind):
        network = kind()
        network.load_state_dict(tiny.state_dict())
        return torch.jit.script(network.eval())

    scripts = {
        "logits": script_of(Tiny),
        "traced": torch.jit.trace(tiny, image),
        "features": script_of(WithFeatures),
        "log_probabilities": script_of(LogProbabilities),
        "probabilities": script_of(Probabilities),
        "two_images": script_of(TwoImages),
        "nan": script_of(NotANumber),
        "dict": script_of(AsDict),
        "frozen": torch.jit.freeze(script_of(Tiny)),
        "setstate": torch.jit.script(WritesAFile().eval()),
    }
    for name, script in scripts.items():
        networks.save_script(script, os.path.join(folder, f"script_{name}.pt"))
    with torch.no_grad():
        outputs = {"image": image, "feature": tiny.feature(image), "logits": tiny(image)}
    save_file({name: tensor.contiguous() for name, tensor in outputs.items()},
              os.path.join(folder, "script_outputs.safetensors"))

    torch.manual_seed(0)
    network = networks.Network(networks.OsrciCnn(channels_in=1, size=16, feature_dim=4), 3)
    networks.save_script(torch.jit.script(network), os.path.join(folder, "osrci_cnn_script.pt"))
    torch.save(nn.Linear(1, 1).state_dict(), os.path.join(folder, "state_dict.pth"))
    save_file({f"module.{name}": tensor for name, tensor in network.state_dict().items()},
              os.path.join(folder, "osrci_cnn_parallel.safetensors"))


if __name__ == "__main__":
    main()
