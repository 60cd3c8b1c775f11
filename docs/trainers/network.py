# A small network in PyTorch. With loss "softmax": maximum softmax probability. With loss "doc": Deep Open Classification
# (Shu et al. 2017), one sigmoid for each class against all others, in place of the softmax.
import os

import torch
import torch.nn.functional as functional
from torch import nn

import openset.trainer

trial = openset.trainer.load()
trial.set_seeds()
device = torch.device(trial.device)
classes = len(trial.class_names)
channels = int(trial.get("input.channels"))


# openset's osrci_cnn.
body = nn.Sequential(nn.Conv2d(channels, 10, 5), nn.MaxPool2d(2), nn.ReLU(),
                     nn.Conv2d(10, 20, 5), nn.MaxPool2d(2), nn.ReLU(),
                     nn.Flatten(), nn.LazyLinear(64), nn.ReLU()).to(device)
body(torch.zeros(1, channels, int(trial.get("input.size")), int(trial.get("input.size")), device=device))
head = nn.Linear(64, classes).to(device)
network = nn.Sequential(body, head)
optimizer = torch.optim.SGD(network.parameters(), trial.get("training.optimizer.learning_rate"), momentum=0.9,
                            nesterov=True, weight_decay=trial.get("training.optimizer.weight_decay", 0))
loss_name = trial.parameters.get("loss", "softmax")
saved = os.path.join(trial.state, "epoch.pth")
done = 0
if os.path.exists(saved):
    state = torch.load(saved, weights_only=True)
    network.load_state_dict(state["network"])
    optimizer.load_state_dict(state["optimizer"])
    done = state["epoch"]

for epoch in trial.epochs(after=done):
    network.train()
    total, steps = 0.0, 0
    for images, labels in trial.train(epoch=epoch):
        images, labels = torch.from_numpy(images).to(device), torch.from_numpy(labels).to(device)
        logits = network(images)
        if loss_name == "doc":
            targets = functional.one_hot(labels, classes).float()
            loss = functional.binary_cross_entropy_with_logits(logits, targets, reduction="none").sum(1).mean()
        else:
            loss = functional.cross_entropy(logits, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        total, steps = total + loss.item(), steps + 1
    torch.save({"network": network.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch}, saved + ".new")
    os.replace(saved + ".new", saved)
    trial.progress(epoch, loss=total / steps)

network.eval()
with torch.inference_mode():
    def predict(images):
        features = body(torch.from_numpy(images).to(device))
        return head(features), features
    trial.finish(predict, head=(head.weight, head.bias))
