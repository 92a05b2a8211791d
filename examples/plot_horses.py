"""
Horses against their background
===============================

Horses against their background: a grid of pixels with contrast, above pixels on their own.

Protocol: the Weizmann horses 1-228 train, 229-328 test, gray images. Settings (C) are chosen on the
last 60 of the training images, for both models on their own, by the intersection over union (IoU)
of the horse pixels; the chosen models are fitted on all training images, and the test images are
opened once. The search takes minutes and chooses C = 0.1 for both: SEPARATRIX_FULL=1 repeats it,
without that the choice is taken as known. Images are worked on with a longer side of 28 pixels, and
scored at their full size. "unary" is a softmax regression of every pixel on its color, place and
texture; "grid" adds edges between neighbors whose weights depend on the contrast, learned by
tree-reweighted likelihood.

Data: ``weizmann_horses`` in the folder SEPARATRIX_DATA. Without it images are drawn; with
SEPARATRIX_SHORT=1 some of the training images take the place of all others.
"""

import os
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import jaccard_score

from separatrix import Segmenter
from separatrix.plots import SegmentationDisplay

data_folder = Path(os.environ.get("SEPARATRIX_DATA", Path(__file__).parents[2] / "shared" / "data"))
folder = data_folder / "weizmann_horses"
short = bool(os.environ.get("SEPARATRIX_SHORT")) or not folder.is_dir()
max_side = 16 if short else 28
GRID = (1e-3,) if short else (1e-3, 1e-2, 1e-1)
if not short and not os.environ.get("SEPARATRIX_FULL"):
    GRID = (1e-1,)  # what the search chooses


def load(numbers):
    """Images and masks: True on the horse."""
    if folder.is_dir():
        images = [plt.imread(folder / "gray" / f"horse{k:03d}.jpg") for k in numbers]
        masks = [plt.imread(folder / "figure_ground" / f"horse{k:03d}.jpg") > 127 for k in numbers]
        return images, masks
    images, masks = [], []
    for k in numbers:
        random = np.random.default_rng(k)
        y, x = np.mgrid[:40, :60]
        middle = random.uniform([15, 20], [25, 40])
        mask = ((y - middle[0]) / 10) ** 2 + ((x - middle[1]) / 16) ** 2 < 1
        images.append(np.clip(0.4 + 0.2 * mask + random.normal(0, 0.15, mask.shape), 0, 1))
        masks.append(mask)
    return images, masks


def scores(model, images, masks):
    """Share of the pixels that are right, and IoU of the horse, over all pixels together."""
    predicted = np.concatenate([one.ravel() for one in model.predict(images)])
    truth = np.concatenate([one.ravel() for one in masks])
    return float(np.mean(predicted == truth)), float(jaccard_score(truth, predicted))


train, n_held_out = range(1, 25 if short else 229), 6 if short else 60
test = range(25, 31) if short else range(229, 329)
images, masks = load(train)
print(f"{len(train)} train and {len(test)} test images" + (" (short form)" if short else ""))
final = {}
for name, neighborhood in (("unary", 0), ("grid", 4)):

    def fitted(C, images, masks, neighborhood=neighborhood):
        return Segmenter(
            neighborhood=neighborhood, max_side=max_side, max_sweeps=12, C=C, tol=1e-3,
            max_iter=40,
        ).fit(images, masks)  # fmt: skip

    start = time.perf_counter()
    C, told = GRID[0], f"C={GRID[0]:g}"
    if len(GRID) > 1 or short:
        cut = len(images) - n_held_out
        held_out = {
            C: scores(fitted(C, images[:cut], masks[:cut]), images[cut:], masks[cut:])[1]
            for C in GRID
        }
        C = max(held_out, key=held_out.get)
        told = "held-out IoU " + ", ".join(f"C={C:g}: {iou:.4f}" for C, iou in held_out.items())
    final[name] = fitted(C, images, masks)
    print(f"  {name:6} {told} ({time.perf_counter() - start:.0f} s)")

images, masks = load(test)
found = {name: scores(model, images, masks) for name, model in final.items()}
for name, (accuracy, iou) in found.items():
    print(f"  {name:6} test pixels right {100 * accuracy:.2f} %, IoU {100 * iou:.2f} %")
print(f"  grid over unary: {100 * (found['grid'][1] - found['unary'][1]):+.2f} points of IoU")

# The first and the last test image: above by pixels on their own, below with their neighbors.
figure, panels = plt.subplots(4, 4, figsize=(9.5, 7.6), layout="constrained")
for k, row in enumerate(panels):
    name = ("unary", "grid")[k % 2]
    image, mask = images[-(k // 2)], masks[-(k // 2)]
    SegmentationDisplay.from_estimator(final[name], image, y=mask, axes=row)
    row[0].set_ylabel(name)
plt.show()
