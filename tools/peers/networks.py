"""The project's networks in PyTorch, with the names of their parameters and buffers in checkpoints."""

import io
import zipfile

import torch
from torch import nn
from torch.nn import functional


def save_script(script, path):
    """Without the debug information, which has the paths of sources."""
    buffer = io.BytesIO()
    torch.jit.save(script, buffer)
    with zipfile.ZipFile(buffer) as source, zipfile.ZipFile(path, "w") as target:
        for entry in source.infolist():
            if not entry.filename.endswith(".debug_pkl"):
                target.writestr(zipfile.ZipInfo(entry.filename), source.read(entry))


class Vgg32(nn.Module):
    def __init__(self, channels_in=3, width=64, feature_dim=128, dropout=0.2):
        super().__init__()
        channels = [width] * 2 + [2 * width] * 6 + [feature_dim]
        for layer in range(9):
            stride = 2 if layer % 3 == 2 else 1
            setattr(self, f"conv{layer + 1}", nn.Conv2d(channels_in, channels[layer], 3, stride, 1, bias=False))
            setattr(self, f"bn{layer + 1}", nn.BatchNorm2d(channels[layer]))
            channels_in = channels[layer]
        self.dropout = nn.Dropout2d(dropout)
        self.feature_dim = feature_dim

    def layers(self, x, numbers):
        for layer in numbers:
            if layer % 3 == 0:
                x = self.dropout(x)
            x = getattr(self, f"conv{layer + 1}")(x)
            x = functional.leaky_relu(getattr(self, f"bn{layer + 1}")(x), 0.2)
        return x

    def before_last_stage(self, x):
        return self.layers(x, range(6))

    def last_stage(self, x):
        return functional.adaptive_avg_pool2d(self.layers(x, range(6, 9)), 1).flatten(1)

    def forward(self, x):
        return self.last_stage(self.before_last_stage(x))


class OsrciCnn(nn.Module):
    def __init__(self, channels_in=3, size=32, feature_dim=64, dropout=0.5):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, 10, 5)
        self.conv2 = nn.Conv2d(10, 20, 5)
        self.dropout = nn.Dropout2d(dropout)
        self.fc = nn.Linear(20 * (((size - 4) // 2 - 4) // 2) ** 2, feature_dim)
        self.feature_dim = feature_dim

    def before_last_stage(self, x):
        return functional.relu(functional.max_pool2d(self.conv1(x), 2))

    def last_stage(self, x):
        x = functional.relu(functional.max_pool2d(self.dropout(self.conv2(x)), 2))
        return functional.relu(self.fc(x.flatten(1)))

    def forward(self, x):
        return self.last_stage(self.before_last_stage(x))


class BasicBlock(nn.Module):
    def __init__(self, channels_in, channels, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, channels, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(channels)
        self.conv2 = nn.Conv2d(channels, channels, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(channels)
        self.downsample = None
        if stride != 1 or channels_in != channels:
            convolution = nn.Conv2d(channels_in, channels, 1, stride, bias=False)
            self.downsample = nn.Sequential(convolution, nn.BatchNorm2d(channels))

    def forward(self, x):
        out = self.bn2(self.conv2(functional.relu(self.bn1(self.conv1(x)))))
        return functional.relu(out + (x if self.downsample is None else self.downsample(x)))


class Resnet20(nn.Module):
    def __init__(self, channels_in=3):
        super().__init__()
        self.conv1 = nn.Conv2d(channels_in, 16, 3, 1, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(16)
        for stage, (before, channels) in enumerate([(16, 16), (16, 32), (32, 64)]):
            first = BasicBlock(before, channels, 1 if stage == 0 else 2)
            rest = [BasicBlock(channels, channels, 1) for _ in range(2)]
            setattr(self, f"layer{stage + 1}", nn.Sequential(first, *rest))
        self.feature_dim = 64

    def forward(self, x):
        x = functional.relu(self.bn1(self.conv1(x)))
        x = self.layer3(self.layer2(self.layer1(x)))
        return functional.adaptive_avg_pool2d(x, 1).flatten(1)


class Network(nn.Module):
    """Gives (features, logits)."""

    def __init__(self, backbone, outputs, bias=True):
        super().__init__()
        self.backbone = backbone
        self.head = nn.Linear(backbone.feature_dim, outputs, bias=bias)

    def forward(self, image):
        feature = self.backbone(image)
        return feature, self.head(feature)
