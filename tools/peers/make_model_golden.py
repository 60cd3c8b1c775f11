"""Writes models/testdata/{vgg32,osrci_cnn,resnet20,resnet18,resnet50,resnet18_32x32,densenet121,swin_transformer,
vision_transformer,wide_resnet}.safetensors: what PyTorch computes with these networks, in f64, and
resnet50_imported.safetensors: the same of a whole ResNet-50. resnet18, resnet50, densenet121 and swin_transformer are
torchvision's own, vision_transformer timm's, wide_resnet pytorch-ood's (those that have a size are small), resnet18_32x32
OpenOOD's.

    python3 tools/peers/make_model_golden.py models/testdata OPENOOD

OPENOOD is a checkout of Jingkang50/OpenOOD 3c35632.

The stored files were made with PyTorch 2.11.0, torchvision 0.26.0, timm 1.0, pytorch-ood 0.4.0 and safetensors 0.8.0 on x86-64. Weights, buffers and images are
not random but sines of squares, which the reader of the files computes too (models/testing/golden_outputs.cc); dropout is off.
"""

import argparse
import importlib.util
import os

import timm
import torch
import torchvision
from pytorch_ood.model import WideResNet
from safetensors.torch import save_file
from torch.nn import functional

import networks

CLASSES = 3
EVAL_BATCH = 2
TRAIN_BATCH = 4


def sines(shape, phase):
    element = torch.arange(torch.Size(shape).numel(), dtype=torch.float64)
    return torch.sin(0.01 * (element * element) + phase).reshape(shape)


def set_state(network):
    """The t-th tensor in the order of the names is made from sines(shape, t)."""
    state = network.state_dict()
    for number, name in enumerate(sorted(name for name in state if not name.endswith("relative_position_index"))):
        tensor = state[name]
        if not tensor.is_floating_point():
            continue
        if tensor.dim() > 1:
            value = 1.5 * (tensor.shape[0] / tensor.numel()) ** 0.5 * sines(tensor.shape, number)
        elif name.endswith(("weight", "running_var")):
            value = 1 + 0.5 * sines(tensor.shape, number)
        else:
            value = 0.1 * sines(tensor.shape, number)
        tensor.copy_(value)


def summary(tensor):
    """The sums of the elements, of the elements times sines(shape, 0), and of their absolute values."""
    flat = tensor.detach().flatten().to(torch.float64)
    return torch.stack([flat.sum(), flat.dot(sines(flat.shape, 0)), flat.abs().sum()])


def golden(backbone, size=32):
    network = networks.Network(backbone, CLASSES).double()
    set_state(network)
    result = {}

    network.eval()
    with torch.no_grad():
        result["eval.feature"], result["eval.logits"] = network(sines((EVAL_BATCH, 3, size, size), 0))

    network.train()
    _, logits = network(sines((TRAIN_BATCH, 3, size, size), 0))
    loss = functional.cross_entropy(logits, torch.arange(TRAIN_BATCH) % CLASSES)
    loss.backward()
    result["train.logits"] = logits.detach()
    result["train.loss"] = loss.detach()
    for name, parameter in network.named_parameters():
        result["gradient." + name] = summary(parameter.grad)
    for name, buffer in network.named_buffers():
        if name.endswith("relative_position_index"):  # no weights
            continue
        result["after." + name] = summary(buffer)
    return {name: tensor.contiguous() for name, tensor in result.items()}


def torchvision_resnet(make):
    network = make()
    network.feature_dim = network.fc.in_features
    network.fc = torch.nn.Identity()
    return network


def without_head(network, head, feature_dim):
    setattr(network, head, torch.nn.Identity())
    network.feature_dim = feature_dim
    return network


def openood(folder):
    """Its network for images of 32x32, whose shortcuts are named as torchvision's."""
    spec = importlib.util.spec_from_file_location("resnet", os.path.join(folder, "openood", "networks", "resnet18_32x32.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    network = torchvision_resnet(module.ResNet18_32x32)
    for block in [block for stage in (1, 2, 3, 4) for block in getattr(network, f"layer{stage}")]:
        block.downsample = block._modules.pop("shortcut")
    module.BasicBlock.shortcut = property(lambda block: block.downsample)
    return network


def imported():
    """Of one image of 224x224."""
    network = torchvision.models.resnet50().double().eval()
    set_state(network)
    features = []
    network.avgpool.register_forward_hook(lambda *of: features.append(of[2].flatten(1)))
    with torch.no_grad():
        logits = network(sines((1, 3, 224, 224), 0))
    return {"feature": features[0], "logits": logits}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("openood")
    arguments = parser.parse_args()
    folder = arguments.folder
    save_file(golden(networks.Vgg32(dropout=0)), os.path.join(folder, "vgg32.safetensors"))
    save_file(golden(networks.Resnet20()), os.path.join(folder, "resnet20.safetensors"))
    save_file(golden(torchvision_resnet(torchvision.models.resnet18), size=64), os.path.join(folder, "resnet18.safetensors"))
    save_file(golden(torchvision_resnet(torchvision.models.resnet50), size=64), os.path.join(folder, "resnet50.safetensors"))
    save_file(golden(openood(arguments.openood)), os.path.join(folder, "resnet18_32x32.safetensors"))
    densenet = torchvision.models.DenseNet(8, (6, 12, 24, 16), 16)
    save_file(golden(without_head(densenet, "classifier", 256), size=64), os.path.join(folder, "densenet121.safetensors"))
    swin = torchvision.models.SwinTransformer([4, 4], 24, [2, 2, 6, 2], [3, 6, 12, 24], [7, 7], stochastic_depth_prob=0.0)
    save_file(golden(without_head(swin, "head", 192), size=64), os.path.join(folder, "swin_transformer.safetensors"))
    vit = timm.models.vision_transformer.VisionTransformer(32, 8, embed_dim=24, depth=2, num_heads=3, num_classes=0)
    save_file(golden(without_head(vit, "head", 24)), os.path.join(folder, "vision_transformer.safetensors"))
    wide = WideResNet(num_classes=3, depth=16, widen_factor=2, drop_rate=0.0)
    save_file(golden(without_head(wide, "fc", 128)), os.path.join(folder, "wide_resnet.safetensors"))
    save_file(imported(), os.path.join(folder, "resnet50_imported.safetensors"))
    save_file(golden(networks.OsrciCnn(dropout=0)), os.path.join(folder, "osrci_cnn.safetensors"))


if __name__ == "__main__":
    main()
