"""Draws plane.svg: the unknown score of small networks over a plane, without OpenAUC's pairwise term and with three forms of it.

    python3 results/openauc_term/plane.py

Two half moons are the known classes. A network 2 -> 32 -> 32, ReLU -> 2 takes full-batch steps of momentum on the cross
entropy, plus the term over mixtures of the last features of samples of two classes (manifold mixup, Beta(2, 2), one coefficient
a step), each with the known sample at its slot if that is classified correctly. The three forms are the released one (square,
raw logit), the supplement's (square, 1 - the largest probability) and a squared hinge on the latter. Unknown test samples lie
uniformly in the square, farther than 0.5 from all test samples of the moons. Each panel has the mean AUROC and accuracy, in
percent, over SEEDS seeds. Gradients are written out, in NumPy alone.
"""

import os

import numpy as np

SEEDS, SAMPLES, HIDDEN, STEPS, RATE, MOMENTUM, RANGE, GRID = 12, 200, 32, 600, 0.1, 0.9, 3.0, 48
FORMS = [("no term", 0, None, None), ("released form, 0.1", 0.1, "logit", "square"),
         ("supplement's form, 0.1", 0.1, "probability", "square"), ("squared hinge, 0.6", 0.6, "probability", "hinge")]


def moons(random, count):
    angle = random.uniform(0, np.pi, count)
    label = np.arange(count) % 2
    x = np.where(label, 1 - np.cos(angle), np.cos(angle)) - 0.5
    y = np.where(label, 0.5 - np.sin(angle), np.sin(angle)) - 0.25
    return np.stack([x, y], 1) * 1.2 + random.normal(0, 0.1, (count, 2)), label


def forward(weights, x):
    w1, b1, w2, b2, w3, b3 = weights
    first = np.maximum(x @ w1 + b1, 0)
    features = np.maximum(first @ w2 + b2, 0)
    return first, features, features @ w3 + b3


def softmax(z):
    e = np.exp(z - z.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def score(z, kind):
    """r, and its gradient by the logits."""
    top = np.eye(z.shape[1])[z.argmax(1)]
    if kind == "logit":
        return -z.max(1), -top
    p = softmax(z)
    largest = p.max(1)
    return 1 - largest, -largest[:, None] * (top - p)


def train(seed, weight, kind, surrogate):
    random = np.random.default_rng(seed)
    x, label = moons(random, SAMPLES)
    shapes = [(2, HIDDEN), (HIDDEN,), (HIDDEN, HIDDEN), (HIDDEN,), (HIDDEN, 2), (2,)]
    weights = [random.normal(0, np.sqrt(2 / s[0]), s) if len(s) == 2 else np.zeros(s) for s in shapes]
    speed = [np.zeros(s) for s in shapes]
    for _ in range(STEPS):
        first, features, z = forward(weights, x)
        by_z = (softmax(z) - np.eye(2)[label]) / SAMPLES
        by_features, more = 0, (0, 0)
        order, share = random.permutation(SAMPLES), random.beta(2, 2)
        if weight:
            mixed = share * features + (1 - share) * features[order]
            zm = mixed @ weights[4] + weights[5]
            keep = (label != label[order]) & (z.argmax(1) == label)
            rk, by_zk = score(z, kind)
            ru, by_zu = score(zm, kind)
            rest = 1 - (ru - rk)
            if surrogate == "hinge":
                rest = np.maximum(rest, 0)
            slope = weight * -2 * rest * keep / max(1, keep.sum())
            by_z = by_z - slope[:, None] * by_zk
            by_zm = slope[:, None] * by_zu
            by_mixed = by_zm @ weights[4].T
            by_features = share * by_mixed
            np.add.at(by_features, order, (1 - share) * by_mixed)
            more = (mixed.T @ by_zm, by_zm.sum(0))
        by_features = (by_features + by_z @ weights[4].T) * (features > 0)
        by_first = (by_features @ weights[2].T) * (first > 0)
        gradient = [x.T @ by_first, by_first.sum(0), first.T @ by_features, by_features.sum(0),
                    features.T @ by_z + more[0], by_z.sum(0) + more[1]]
        for w, v, g in zip(weights, speed, gradient):
            v *= MOMENTUM
            v -= RATE * g
            w += v
    return weights


def measure(weights, seed, kind):
    random = np.random.default_rng(1000 + seed)
    known, label = moons(random, 1000)
    far = random.uniform(-RANGE, RANGE, (3000, 2))
    far = far[np.min(np.linalg.norm(far[:, None] - known[None], axis=2), axis=1) > 0.5][:1000]
    zk, zu = forward(weights, known)[2], forward(weights, far)[2]
    rk, ru = score(zk, kind)[0], score(zu, kind)[0]
    area = np.mean((ru[:, None] > rk[None]) + 0.5 * (ru[:, None] == rk[None]))
    return 100 * area, 100 * np.mean(zk.argmax(1) == label)


def draw(path):
    line = (np.arange(GRID) + 0.5) / GRID * 2 * RANGE - RANGE
    grid = np.stack(np.meshgrid(line, -line), 2).reshape(-1, 2)
    size, gap, cell = 240, 24, 240 / GRID
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{4 * (size + gap) + gap}" height="{size + 92}" '
           'font-family="sans-serif" font-size="13">',
           f'<rect width="{4 * (size + gap) + gap}" height="{size + 92}" fill="white"/>']
    results = {}
    for place, (title, weight, kind, surrogate) in enumerate(FORMS):
        kind_shown = kind or "probability"
        nets = [train(seed, weight, kind_shown, surrogate) for seed in range(SEEDS)]
        values = np.array([measure(net, seed, kind_shown) for seed, net in enumerate(nets)])
        if kind is None:
            baseline = {k: np.array([measure(net, seed, k)[0] for seed, net in enumerate(nets)])
                        for k in ("probability", "logit")}
        results[title] = (values, values[:, 0] - baseline[kind_shown])
        r = score(forward(nets[0], grid)[2], kind_shown)[0]
        low, high = r.min(), r.max()
        left, top = gap + place * (size + gap), 34
        out.append(f'<text x="{left}" y="22">{title}</text>')
        shade = 255 - 8 * np.round(22 * (r - low) / max(high - low, 1e-12)).astype(int).reshape(GRID, GRID)
        for row, shades in enumerate(shade):
            ends = [*np.flatnonzero(np.diff(shades)) + 1, GRID]
            for begin, end in zip([0, *ends], ends):
                out.append(f'<rect x="{left + begin * cell:g}" y="{top + row * cell:g}" width="{(end - begin) * cell + 0.2:.4g}" '
                           f'height="{cell + 0.2:g}" fill="rgb({shades[begin]},{shades[begin]},255)"/>')
        x, label = moons(np.random.default_rng(0), SAMPLES)
        for (u, v), y in zip(x, label):
            out.append(f'<circle cx="{left + (u + RANGE) / (2 * RANGE) * size:.1f}" '
                       f'cy="{top + (RANGE - v) / (2 * RANGE) * size:.1f}" r="1.8" fill="{("#d95f02", "#1b9e77")[y]}"/>')
        area, accuracy = values.mean(0)
        out.append(f'<text x="{left}" y="{top + size + 20}">AUROC {area:.1f} ± {values[:, 0].std(ddof=1):.1f}</text>')
        out.append(f'<text x="{left}" y="{top + size + 38}">accuracy {accuracy:.1f}</text>')
        out.append(f'<text x="{left}" y="{top + size + 56}" font-size="11" fill="#555">r from {low:.2f} (white) to {high:.2f} (blue)</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out + ["</svg>\n"]))
    for title, (values, difference) in results.items():
        half = 2.201 * difference.std(ddof=1) / np.sqrt(SEEDS)  # Student's t, 11 degrees of freedom
        print(f"{title}: AUROC {values[:, 0].mean():.2f}, accuracy {values[:, 1].mean():.2f}, minus the same score without the "
              f"term {difference.mean():.2f} ({difference.mean() - half:.2f} to {difference.mean() + half:.2f})")


if __name__ == "__main__":
    draw(os.path.join(os.path.dirname(os.path.abspath(__file__)), "plane.svg"))
