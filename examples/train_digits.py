"""Makes examples/data anew: the digits (with --export, needs scikit-learn) and trained weights.

Plain NumPy: a 64-128-10 network, Adam, cross entropy, images shifted by up to one pixel while
training. Every fifth image is held out. Same seed, same NumPy: same weights.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

DATA = Path(__file__).parent / "data"
IMAGES, WEIGHTS = DATA / "digits.npz", DATA / "digits_mlp.npz"
HIDDEN, CLASSES, BATCH, EPOCHS, SEED = 128, 10, 64, 400, 7

Parameters = dict[str, np.ndarray]


def export() -> None:
    """Store scikit-learn's copy of the UCI handwritten digits as bytes."""
    from sklearn.datasets import load_digits  # pyright: ignore[reportMissingImports]

    images, labels = load_digits(return_X_y=True)
    np.savez_compressed(IMAGES, images=images.astype(np.uint8), labels=labels.astype(np.uint8))


def held_out(count: int) -> np.ndarray:
    """Which of ``count`` images are never trained on: every fifth."""
    return np.arange(count) % 5 == 0


def shifted(images: np.ndarray, draw: np.random.Generator) -> np.ndarray:
    """Each 8x8 image moved by -1, 0 or 1 pixel along both axes, empty pixels entering."""
    padded = np.pad(images.reshape(-1, 8, 8), ((0, 0), (1, 1), (1, 1)))
    rows, columns = draw.integers(0, 3, (2, len(images), 1, 1))
    grid = np.arange(8)
    picked = padded[np.arange(len(images))[:, None, None], rows + grid[:, None], columns + grid]
    return picked.reshape(-1, 64)


def forward(parameters: Parameters, images: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    hidden = np.maximum(images @ parameters["w1"] + parameters["b1"], 0)
    return hidden, hidden @ parameters["w2"] + parameters["b2"]


def gradients(parameters: Parameters, images: np.ndarray, labels: np.ndarray) -> Parameters:
    """Of the mean cross entropy plus a small weight decay."""
    hidden, logits = forward(parameters, images)
    probabilities = np.exp(logits - logits.max(axis=1, keepdims=True))
    probabilities /= probabilities.sum(axis=1, keepdims=True)
    probabilities[np.arange(len(labels)), labels] -= 1
    error = probabilities / len(labels)
    behind = (error @ parameters["w2"].T) * (hidden > 0)
    return {
        "w1": images.T @ behind + 1e-4 * parameters["w1"],
        "b1": behind.sum(axis=0),
        "w2": hidden.T @ error + 1e-4 * parameters["w2"],
        "b2": error.sum(axis=0),
    }


def batches(count: int, draw: np.random.Generator) -> Iterator[np.ndarray]:
    order = draw.permutation(count)
    yield from np.array_split(order, count // BATCH)


def train(images: np.ndarray, labels: np.ndarray) -> Parameters:
    draw = np.random.default_rng(SEED)
    parameters = {
        "w1": draw.normal(0, (2 / 64) ** 0.5, (64, HIDDEN)),
        "b1": np.zeros(HIDDEN),
        "w2": draw.normal(0, (2 / HIDDEN) ** 0.5, (HIDDEN, CLASSES)),
        "b2": np.zeros(CLASSES),
    }
    first = {name: np.zeros_like(value) for name, value in parameters.items()}
    second = {name: np.zeros_like(value) for name, value in parameters.items()}
    step = 0
    for epoch in range(EPOCHS):
        rate = 3e-3 * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
        for batch in batches(len(images), draw):
            step += 1
            gradient = gradients(parameters, shifted(images[batch], draw), labels[batch])
            for name, slope in gradient.items():
                first[name] += 0.1 * (slope - first[name])
                second[name] += 0.001 * (slope**2 - second[name])
                size = np.sqrt(second[name] / (1 - 0.999**step)) + 1e-8
                parameters[name] -= rate * first[name] / (1 - 0.9**step) / size
    return parameters


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--export", action="store_true", help="make digits.npz from scikit-learn")
    if parser.parse_args().export:
        export()
    stored = np.load(IMAGES)
    images, labels = stored["images"] / 16.0, stored["labels"]
    unseen = held_out(len(images))
    parameters = train(images[~unseen], labels[~unseen])
    rounded = {name: value.astype(np.float16) for name, value in parameters.items()}
    np.savez(WEIGHTS, **rounded)  # pyright: ignore[reportArgumentType]
    wide = {name: value.astype(np.float64) for name, value in rounded.items()}
    logits = forward(wide, images)[1]
    right = logits.argmax(axis=1) == labels
    ranked = np.sort(logits, axis=1)
    print(f"accuracy {right.mean():.4f}, held out {right[unseen].mean():.4f}")
    lead = (ranked[:, -1] - ranked[:, -2]).min()
    print(f"smallest lead of the first class over the second {lead:.4f}")


if __name__ == "__main__":
    main()
