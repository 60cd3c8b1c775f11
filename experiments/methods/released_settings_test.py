#!/usr/bin/env python3
"""Compares settings of methods and presets with the authors' scripts: released_settings_test.py [SOURCES], in the folder of
the source tree.

Each row of SETTINGS has a field, its value, and the line of released code that has it. With SOURCES, a folder of checkouts
by the names in COMMITS, it also looks whether these lines say so.
"""
import os
import re
import sys
import unittest

SOURCES = sys.argv[1] if len(sys.argv) > 1 else ""
COMMITS = {"cider": "deeplearning-wisc/cider dce8ad3", "scone": "deeplearning-wisc/scone 119485b",
           "OpenOOD": "Jingkang50/OpenOOD 3c35632", "openset-imagenet": "AIML-IfI/openset-imagenet d5ae792"}
PROTOCOLS, PROTOCOL_CALLS = "openset-imagenet/src/train.py", "openset-imagenet/cmd/script4.sh"
SCONE = "scone/CIFAR/"
MIX_OE = "OpenOOD/scripts/ood/mixoe/cifar10_train_mixoe.sh"
BASELINE, BASE_TRAINER = "OpenOOD/configs/pipelines/train/baseline.yml", "OpenOOD/openood/trainers/base_trainer.py"
PREPROCESSOR = "OpenOOD/openood/preprocessors/base_preprocessor.py"
# File of ours: (field, its value, file of theirs, line, what the line contains).
SETTINGS = {
    "methods/cider": [
        ("training.batch_size", 512, "cider/scripts/train_cider_cifar10.sh", 10, "--batch-size 512"),
        ("training.optimizer.learning_rate", 0.5, "cider/train_cider.py", 46, "'--learning_rate', default=0.5"),
        ("training.optimizer.weight_decay", 1e-4, "cider/train_cider.py", 57, "default=1e-4"),
        ("training.optimizer.sgd.momentum", 0.9, "cider/train_cider.py", 56, "default=0.9"),
        ("training.optimizer.sgd.nesterov", True, "OpenOOD/openood/trainers/cider_trainer.py", 37, "nesterov=True"),
        # Of a decay of 0.1 (line 51 of train_cider.py).
        ("training.schedule.cosine_restarts.floor", 0.1**3, "cider/utils/util.py", 62, "lr * (args.lr_decay_rate ** 3)"),
        ("training.schedule.cosine_restarts.warmup_epochs", 10, "cider/train_cider.py", 135, "args.warm_epochs = 10"),
        ("loss.term.cider.momentum", 0.95, "cider/scripts/train_cider_cifar10.sh", 8, "--proto_m 0.95"),
        # With the temperature of 0.1 over the base temperature.
        ("loss.term.cider.compactness", 2 * 0.1 / 0.07, "cider/utils/losses.py", 157, "base_temperature=0.07"),
        ("loss.term.cider.compactness", 2 * 0.1 / 0.07, "cider/scripts/train_cider_cifar10.sh", 11, "--w 2"),
        ("augmentation*", ["resize", "random_resized_crop", "horizontal_flip", "random_greyscale"], "cider/utils/util.py",
         102, "RandomHorizontalFlip()"),
        ("augmentation.random_resized_crop.min_area", 0.2, "cider/utils/util.py", 101, "scale=(0.2, 1.)"),
        ("views.count", 1, "cider/utils/util.py", 126, "TwoCropTransform(train_transform_supcon)"),
        ("views.augmentation*", ["random_resized_crop", "horizontal_flip", "random_greyscale"], "cider/utils/util.py", 106,
         "RandomGrayscale(p=0.2)"),
        ("views.augmentation.random_resized_crop.min_area", 0.2, "cider/utils/util.py", 101, "scale=(0.2, 1.)"),
    ],
    "methods/scone": [
        ("training.epochs", 100, SCONE + "run.sh", 19, "epochs=100"),
        ("training.batch_size", 128, SCONE + "run.sh", 16, "batch_size=128"),
        ("training.optimizer.learning_rate", 1e-4, SCONE + "run.sh", 15, "learning_rate=0.0001"),
        ("training.optimizer.weight_decay", 5e-4, SCONE + "train.py", 69, "default=0.0005, help='Weight decay"),
        ("training.optimizer.sgd.momentum", 0.9, SCONE + "train.py", 67, "default=0.9"),
        ("training.optimizer.sgd.nesterov", True, SCONE + "train.py", 354, "nesterov=True"),
        ("training.schedule.step.milestone*", [50, 75, 90], SCONE + "train.py", 358,
         "int(args.epochs*.5), int(args.epochs*.75), int(args.epochs*.9)"),
        ("training.schedule.step.factor", 0.5, SCONE + "train.py", 358, "gamma=0.5"),
        ("loss.term.energy_constraint.margin", -10, SCONE + "run.sh", 23, "eta=-10.0"),
        ("loss.term.energy_constraint.false_alarm", 0.05, SCONE + "train.py", 126, "default=0.05"),
        ("loss.term.energy_constraint.cross_entropy_limit", 2, SCONE + "train.py", 130, "default=2"),
    ],
    "methods/mix_oe": [
        ("training.epochs", 10, MIX_OE, 15, "--optimizer.num_epochs 10"),
        ("training.optimizer.learning_rate", 0.001, MIX_OE, 14, "--optimizer.lr 0.001"),
        ("training.batch_size", 128, MIX_OE, 16, "--dataset.train.batch_size 128"),
        ("training.optimizer.weight_decay", 5e-4, BASELINE, 33, "weight_decay: 0.0005"),
        ("training.optimizer.sgd.momentum", 0.9, BASELINE, 32, "momentum: 0.9"),
        ("training.optimizer.sgd.nesterov", True, BASE_TRAINER, 27, "nesterov=True"),
        ("training.schedule.cosine_restarts.cycle_epochs", 10, BASE_TRAINER, 34, "config.optimizer.num_epochs * len("),
        ("training.schedule.cosine_restarts.floor", 1e-6 / 0.001, BASE_TRAINER, 36, "1e-6 / config.optimizer.lr"),
        ("training.schedule.cosine_restarts.stepping", "ITERATION", BASE_TRAINER, 64, "            self.scheduler.step()"),
        ("open_set.external_images.mix.kind", "CUTMIX", "OpenOOD/configs/pipelines/train/train_mixoe.yml", 11, "cutmix"),
        ("open_set.external_images.mix.alpha", 0.1, "OpenOOD/configs/pipelines/train/train_mixoe.yml", 9, "alpha: 0.1"),
        ("open_set.external_images.mix.beta", 1, "OpenOOD/configs/pipelines/train/train_mixoe.yml", 10, "beta: 1.0"),
        ("open_set.external_images.share", 1, MIX_OE, 17, "--dataset.oe.batch_size 128"),
        ("loss.term.lambda", 1, "OpenOOD/configs/pipelines/train/train_mixoe.yml", 8, "lambda_oe: 1.0"),
    ],
    "presets/openood_cifar_training": [
        ("model.resnet_cifar.variant", "RESNET18", "OpenOOD/configs/networks/resnet18_32x32.yml", 2, "resnet18_32x32"),
        ("training.epochs", 100, BASELINE, 30, "num_epochs: 100"),
        ("training.optimizer.learning_rate", 0.1, BASELINE, 31, "lr: 0.1"),
        ("training.optimizer.sgd.momentum", 0.9, BASELINE, 32, "momentum: 0.9"),
        ("training.optimizer.weight_decay", 5e-4, BASELINE, 33, "weight_decay: 0.0005"),
        ("training.batch_size", 128, "OpenOOD/configs/datasets/cifar10/cifar10.yml", 20, "batch_size: 128"),
        ("training.optimizer.sgd.nesterov", True, BASE_TRAINER, 27, "nesterov=True"),
        ("training.schedule.cosine_restarts.cycle_epochs", 100, BASE_TRAINER, 34, "config.optimizer.num_epochs * len("),
        ("training.schedule.cosine_restarts.floor", 1e-6 / 0.1, BASE_TRAINER, 36, "1e-6 / config.optimizer.lr"),
        ("training.schedule.cosine_restarts.stepping", "ITERATION", BASE_TRAINER, 64, "            self.scheduler.step()"),
        ("input.mean*", [0.4914, 0.4822, 0.4465], "OpenOOD/openood/preprocessors/transform.py", 4, "[0.4914, 0.4822, 0.4465]"),
        ("input.std*", [0.2470, 0.2435, 0.2616], "OpenOOD/openood/preprocessors/transform.py", 4, "[0.2470, 0.2435, 0.2616]"),
        ("augmentation*", ["resize", "center_crop", "horizontal_flip", "random_crop"], PREPROCESSOR, 46,
         "RandomHorizontalFlip()"),
        ("augmentation.resize.shorter_side", 32, "OpenOOD/configs/datasets/cifar10/cifar10.yml", 4, "pre_size: 32"),
        ("augmentation.random_crop.padding", 4, PREPROCESSOR, 47, "padding=4"),
    ],
    "presets/openset_imagenet": [
        ("model.resnet_imagenet.variant", "RESNET50", "openset-imagenet/src/model.py", 18, "models.resnet50(pretrained=False)"),
        ("training.epochs", 120, PROTOCOL_CALLS, 36, "epochs=120"),
        ("training.batch_size", 64, PROTOCOL_CALLS, 36, "batch_size=64"),
        ("training.optimizer.learning_rate", 0.001, PROTOCOL_CALLS, 36, "opt.lr=0.001"),
        ("training.optimizer.weight_decay", 0, PROTOCOLS, 472, "Adam(params=model.parameters(), lr=cfg.opt.lr)"),
        ("training.schedule", "constant", "openset-imagenet/config/config.yaml", 25, "if 0, no decay"),
        ("augmentation*", ["resize", "random_crop", "horizontal_flip"], PROTOCOLS, 383, "RandomHorizontalFlip(0.5)"),
        ("augmentation.resize.shorter_side", 256, PROTOCOLS, 381, "Resize(256)"),
        ("augmentation.random_crop.padding", 0, PROTOCOLS, 382, "RandomCrop(224)"),
        ("augmentation.random_crop.window", "INPUT_SIZE", PROTOCOLS, 382, "RandomCrop(224)"),
        ("input.size", 224, PROTOCOLS, 389, "CenterCrop(224)"),
        ("input.test_shorter_side", 256, PROTOCOLS, 388, "Resize(256)"),
    ],
}
TOKEN = re.compile(r'\s*(?:#[^\n]*\n\s*)*("(?:[^"\\]|\\.)*"|[\w.+-]+|[{}\[\]:,])')


def parsed(text):
    """A text proto as {field: list of its values}; a message is such a dictionary, a name or text a string."""
    tokens = [found[1] for found in TOKEN.finditer(re.sub(r"(?m)#.*$", "", text))] + ["}"]

    def value(token):
        try:
            return float(token)
        except ValueError:
            return {"true": True, "false": False}.get(token, token)

    def message():
        fields = {}
        while (name := tokens.pop(0)) != "}":
            into, token = fields.setdefault(name, []), tokens.pop(0)
            token = tokens.pop(0) if token == ":" else token
            if token == "{":
                into.append(message())
            elif token == "[":
                while (token := tokens.pop(0)) != "]":
                    into += [] if token == "," else [value(token)]
            else:
                into.append(value(token))
                while tokens[0].startswith('"'):  # a text in several parts
                    tokens.pop(0)
        return fields

    return message()


def under(base, own):
    """A method over its base: messages field by field, all else of the method's own."""
    merged = dict(base)
    for name, values in own.items():
        both = len(values) == len(base.get(name, [])) == 1 and isinstance(values[0], dict) and name != "augmentation"
        merged[name] = [under(base[name][0], values[0])] if both else values
    return merged


def settings(name):
    with open(f"experiments/{name}.textproto", encoding="utf-8") as file:
        own = parsed(file.read())
    return under(settings("methods/" + own["base"][0].strip('"')), own) if "base" in own else own


def look_up(message, path):
    """All values of a field: of a message that is repeated, those of each; a message with one field stands for its name."""
    found = [message]
    for name in path.removesuffix("*").split("."):
        found = [value for one in found for value in one.get(name, [])]
    found = [next(iter(value)) if isinstance(value, dict) else value for value in found]
    return found if path.endswith("*") else found[0] if len(found) == 1 else found


class ReleasedSettings(unittest.TestCase):
    def test_are_those_of_the_methods_and_presets(self):
        for name, rows in SETTINGS.items():
            ours = settings(name)
            for path, value, file, line, _ in rows:
                with self.subTest(f"{name}: {path}, {file}:{line}"):
                    found = look_up(ours, path)
                    if isinstance(value, float):
                        self.assertAlmostEqual(found, value, delta=1e-12 * max(1, value))
                    else:
                        self.assertEqual(found, value)

    def test_another_value_would_be_seen(self):
        ours = settings("methods/scone")
        self.assertEqual(look_up(ours, "training.optimizer.learning_rate"), 1e-4)
        self.assertEqual(look_up(ours, "pretraining.training.optimizer.learning_rate"), 0.1)
        self.assertEqual(look_up(settings("methods/cider"), "training.epochs"), 200)  # of its base
        self.assertEqual(look_up(ours, "training.swa"), [])

    def test_are_in_the_released_code(self):
        if not SOURCES:
            self.skipTest("without SOURCES")
        for rows in SETTINGS.values():
            for _, _, file, line, text in rows:
                with open(os.path.join(SOURCES, file), encoding="utf-8") as source:
                    self.assertIn(text, source.read().split("\n")[line - 1], f"{file}:{line}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
