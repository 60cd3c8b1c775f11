"""Prints the numbers of stochastic weight averaging that tests expect, by torch.optim.swa_utils.

    python3 tools/peers/make_swa_golden.py

Rates: the loop of main_fmfp.py of github.com/Impression2805/FMFP (97f673c), which counts epochs from 1. Weights:
AveragedModel after three epochs. Statistics: update_bn() over batches of 4, 4 and 2 images. Made with PyTorch 2.11.
"""

import warnings

import torch
from torch import nn
from torch.optim.lr_scheduler import CosineAnnealingLR
from torch.optim.swa_utils import SWALR, AveragedModel, update_bn


def rates():
    optimiser = torch.optim.SGD(nn.Linear(1, 1).parameters(), lr=0.1, momentum=0.9)
    scheduler = CosineAnnealingLR(optimiser, T_max=100)
    swa_scheduler = SWALR(optimiser, swa_lr=0.05)
    used = []
    for epoch in range(1, 202):
        used.append(optimiser.param_groups[0]["lr"])
        if epoch > 120:
            swa_scheduler.step()
        else:
            scheduler.step()
    return used


def main():
    warnings.simplefilter("ignore")  # the optimiser makes no step
    used = rates()
    for epoch in (0, 1, 99, 100, 101, 119, 120, 121, 125, 129, 130, 131, 200):
        print(f"epoch {epoch}: rate {used[epoch]:.15f}")

    network = nn.Linear(2, 1, bias=False)
    mean = AveragedModel(network)
    for values in ((1.0, -2.0), (4.0, 0.5), (-3.0, 7.0)):
        with torch.no_grad():
            network.weight.copy_(torch.tensor([values]))
        mean.update_parameters(network)
    print("weights", mean.module.weight.tolist())

    norm = nn.BatchNorm2d(2)
    images = torch.sin(torch.arange(10 * 2 * 3, dtype=torch.float32)).view(10, 2, 3, 1)
    norm(images * 100)  # statistics that update_bn() forgets
    update_bn([images[:4], images[4:8], images[8:]], norm)
    print("mean", [round(value, 8) for value in norm.running_mean.tolist()])
    print("variance", [round(value, 8) for value in norm.running_var.tolist()])
    print("batches", norm.num_batches_tracked.item())


main()
