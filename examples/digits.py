"""The demo: 1,797 handwritten digits through a two-layer network on an emulated Ascend 910B.

Run it with ``make demo`` or ``python examples/digits.py``; the kernel alone with
``pyptoc run examples/digits.py``.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

import pypto

DATA = Path(__file__).parent / "data"
digits = np.load(DATA / "digits.npz")
weights = np.load(DATA / "digits_mlp.npz")
IMAGES = (digits["images"] / 16).astype(np.float16)
LABELS = digits["labels"]
UNSEEN = np.arange(len(IMAGES)) % 5 == 0  # not trained on, as examples/train_digits.py says
W1, B1, W2, B2 = (weights[name] for name in ("w1", "b1", "w2", "b2"))


@pypto.kernel
def classify(images: pypto.Tensor) -> pypto.Tensor:
    hidden = pypto.relu(images @ W1 + B1)
    return pypto.softmax(hidden @ W2 + B2, dim=-1)


def example_inputs() -> tuple[np.ndarray, ...]:
    return (IMAGES,)


def reference(images: np.ndarray) -> np.ndarray:
    """The same network in NumPy: float16 values between the layers, float32 inside them."""
    inner = images.astype(np.float32) @ W1.astype(np.float32) + B1.astype(np.float32)
    hidden = np.maximum(inner, 0).astype(np.float16).astype(np.float32)
    logits = hidden @ W2.astype(np.float32) + B2.astype(np.float32)
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Classify handwritten digits on the emulator.")
    parser.add_argument("--output", type=Path, default=Path("build/demo"))
    folder = parser.parse_args().output
    start = time.perf_counter()
    dumps = classify.dump(folder / "ir", IMAGES)
    run = classify.run([IMAGES], check_hazards=True, timeline=folder / "timeline.json")
    predicted = run.results[0].argmax(axis=1)
    same = int((predicted == reference(IMAGES).argmax(axis=1)).sum())
    right = predicted == LABELS
    print(f"\n{len(IMAGES):,} handwritten digits (UCI), 64-128-10 network, float16, softmax\n")
    print(f"accuracy             {right.mean():8.2%}")
    print(f"  on unseen images   {right[UNSEEN].mean():8.2%}  ({UNSEEN.sum()} images)")
    print(f"same class as NumPy  {same:,} of {len(IMAGES):,}\n")
    print(run.profile.table())
    print(f"\nIR after each pass   {folder / 'ir'}/  ({len(dumps)} files, 00-input.mlir first)")
    print(f"timeline             {folder / 'timeline.json'}  (open in https://ui.perfetto.dev)")
    print(f"took                 {time.perf_counter() - start:.1f} s on this computer")
    return 0 if same == len(IMAGES) and right[UNSEEN].mean() >= 0.96 else 1


if __name__ == "__main__":
    sys.exit(main())
