"""
A model in one file
===================

A spam filter: saved, described, loaded, deployed; and what a damaged file says.
"""

import tempfile
from pathlib import Path

from sklearn.pipeline import make_pipeline

from separatrix import LogisticRegression, TextVectorizer, load, save, to_sklearn
from separatrix.errors import ModelFileError
from separatrix.models import describe

TEXTS = ["win money now", "free money", "cheap pills now", "lunch at noon", "see you at lunch"]
LABELS = ["spam", "spam", "spam", "ham", "ham"]

model = make_pipeline(TextVectorizer(), LogisticRegression(C=10.0)).fit(TEXTS, LABELS)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "spam.sx"
    save(model, path, training={"n_rows": len(TEXTS)})

    info = describe(path)
    print(f"{info.class_name}, {info.n_bytes} bytes, format {info.format_version}")
    for name, value in info.summary.items():
        print(f"  {name:12} {value}")

    # Nothing in the file is code: a file from anywhere is safe to load, and arrays are mapped.
    filter_ = load(path)
    message = ["free lunch"]
    print("free lunch:", filter_.predict(message)[0], filter_.predict_proba(message)[0].round(2))

    # The weights alone, as scikit-learn's own class.
    print("exported:", to_sklearn(filter_[-1]))

    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    try:
        load(path)
    except ModelFileError as error:
        print(str(error).replace(f"{folder}/", ""))
