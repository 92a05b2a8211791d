"""The worst sequences, token by token."""

from __future__ import annotations

import math

from separatrix.report import formats
from separatrix.report.content import Content
from separatrix.report.parts import Sentence, Sentences
from separatrix.report.views.common import View, cut

__all__ = ["sentences"]

MOST_SENTENCES = 24
MOST_TOKENS = 120
LONGEST_WORD = 40


def sentences(part: Sentences, _: Content) -> View:
    """Words over their labels."""
    shown, left_out = cut(part.sentences, MOST_SENTENCES)
    told = any(not math.isnan(one.log_probability) for one in shown)
    return {
        "sentences": [_sentence(one) for one in shown],
        "left_out": left_out,
        "share": formats.percent(part.n_wrong / max(part.n_rows, 1)),
        "order": "First come those whose true labels the champion finds least probable."
        if told
        else "First come those with the most wrong labels.",
    }


def _sentence(one: Sentence) -> dict[str, object]:
    shown, left_out = cut(one.tokens, MOST_TOKENS)
    n_wrong = sum(token.truth != token.prediction for token in one.tokens)
    chance = ""
    if one.log_probability == -math.inf:
        chance = "with a true label that the champion does not know"
    elif not math.isnan(one.log_probability):
        chance = f"probability of the true labels e^{one.log_probability:.1f}"
    return {
        "row": one.row,
        "wrong": f"{n_wrong} of {formats.counted(len(one.tokens), 'token')} wrong",
        "chance": chance,
        "left_out": left_out,
        "tokens": [
            {
                "word": formats.clip(token.word, LONGEST_WORD),
                "prediction": formats.clip(token.prediction, LONGEST_WORD),
                "truth": formats.clip(token.truth, LONGEST_WORD),
                "wrong": token.truth != token.prediction,
                "share": formats.percent(token.probability)
                if math.isfinite(token.probability)
                else "",
            }
            for token in shown
        ],
    }
