"""What several contents have in common."""

from __future__ import annotations

import numpy as np

from separatrix.report.parts import ClassScores, PerClass


def class_report(labels: tuple[str, ...], counts: np.ndarray) -> PerClass:
    right, truth, said = np.diag(counts), counts.sum(axis=1), counts.sum(axis=0)
    precision, recall = right / np.maximum(said, 1), right / np.maximum(truth, 1)
    f1 = 2 * precision * recall / np.maximum(precision + recall, 1e-12)
    return PerClass(
        tuple(
            ClassScores(label, float(p), float(r), float(f), int(n))
            for label, p, r, f, n in zip(labels, precision, recall, f1, truth, strict=True)
        ),
        (
            ClassScores(
                "macro average",
                float(precision.mean()),
                float(recall.mean()),
                float(f1.mean()),
                int(truth.sum()),
            ),
        ),
    )
