"""
Digits from pixels, weights as images
=====================================

On/off pixels, components, loops and aspect ratio, then a linear learner.

The digit system of the notes, on the 8 x 8 digits of scikit-learn. The picture shows what
`PixelGrid` sees of ten images, and the weights that the softmax model gave to the pixels.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline

from separatrix import LogisticRegression, MajorityClass, PixelGrid

digits = load_digits()
images = digits.images / 16  # intensities in [0, 1]
train, test, y_train, y_test = train_test_split(images, digits.target, random_state=0)

baseline = MajorityClass().fit(train.reshape(len(train), -1), y_train)
print(f"most frequent digit  {baseline.score(test.reshape(len(test), -1), y_test):.3f}")
for shapes in (False, True):
    model = make_pipeline(PixelGrid(shapes=shapes), LogisticRegression(C=0.1)).fit(train, y_train)
    name = "pixels and shapes" if shapes else "pixels"
    print(f"{name:20} {model.score(test, y_test):.3f}")

grid, learner = model[0], model[1]
names = grid.get_feature_names_out()
figure, axes = plt.subplots(4, 5, figsize=(8, 7.6), layout="constrained")
for digit in range(10):
    above, below = axes[2 * (digit // 5) :, digit % 5][:2]
    example = train[np.flatnonzero(y_train == digit)[0]]
    row = dict(zip(names, grid.transform(example[None])[0], strict=True))
    above.imshow(example > grid.threshold, cmap="gray_r")
    above.set_title(
        f"parts {row['n_components']:.0f}, loops {row['n_loops']:.0f}\n"
        f"aspect {row['aspect_ratio']:.2f}",
        fontsize="small",
    )
    weights = learner.coef_[digit, :64].reshape(8, 8)
    limit = np.abs(learner.coef_[:, :64]).max()
    below.imshow(weights, cmap="RdBu_r", vmin=-limit, vmax=limit)
    above.axis("off")
    below.axis("off")
figure.suptitle("What PixelGrid sees, and the weight of each pixel for its digit")
plt.show()
