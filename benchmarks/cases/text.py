"""T1-T3: raw text to matrices, which have to be those of scikit-learn."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks import text
from benchmarks.spec import Bound, Case, Contender


def _contenders(
    data: str, peer: str, ours: dict[str, Any], **options: Any
) -> tuple[Contender, ...]:
    """Ours and scikit-learn's class `peer`; `ours` are the options that only ours needs."""
    both: list[Contender] = []
    for name, cls, more in (
        ("separatrix", "separatrix.features:TextVectorizer", ours),
        (f"sklearn {peer}", f"sklearn.feature_extraction.text:{peer}", {}),
    ):
        run = partial(text.vectorize, cls=cls, dtype="float32", **options, **more)
        read = partial(text.read_vectorized, name=data, peer=peer, options=options)
        mine = cls.startswith("separatrix")
        both.append(Contender(name, text.prepare, run, read, ours=mine))
    return tuple(both)


_NOTE = (
    "Documents are a Python list of str before the clock starts; values are float32. A time counts "
    "only if shape and structure are exactly scikit-learn's and four sums over the values agree "
    "to 1e-6; the tests compare value by value."
)

T1 = Case(
    name="t1",
    title="tf-idf, 1-2-grams, min_df 2, imdb: fit_transform of train, transform of test",
    data="imdb-text",
    contenders=_contenders(
        "imdb-text", "TfidfVectorizer", {}, ngram_range=(1, 2), min_df=2, sublinear_tf=True
    ),
    bounds=(Bound("time", must=15, goal=40),),
    note=_NOTE,
)

T2 = Case(
    name="t2",
    title="tf-idf, words, min_df 2, 20newsgroups: fit_transform of train, transform of test",
    data="20newsgroups-text",
    contenders=_contenders("20newsgroups-text", "TfidfVectorizer", {}, min_df=2, sublinear_tf=True),
    bounds=(Bound("time", must=12, goal=30),),
    note=_NOTE,
)

T3 = Case(
    name="t3",
    title="hashing to 2^20 columns, words, imdb train",
    data="imdb-text",
    contenders=_contenders(
        "imdb-text", "HashingVectorizer", {"use_idf": False}, n_features=2**20, norm="l2"
    ),
    bounds=(Bound("time", must=6, goal=15),),
    note=_NOTE,
)

CASES = [T1, T2, T3]
