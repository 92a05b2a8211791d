"""Chunks, and the worst sequences, token by token."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from separatrix.report import formats
from separatrix.report.parts.classes import PerClass
from separatrix.report.parts.part import NAN, Part, Section, View, cut

if TYPE_CHECKING:
    from separatrix.report.content import Content

MOST_SENTENCES = 24
MOST_TOKENS = 120
LONGEST_WORD = 40


@dataclass(frozen=True)
class PerChunk(PerClass):
    """Scores per type of chunk, and of all chunks together."""

    section = Section("chunks", "Chunks per type", 80)
    template = """\
<p class="lead">A chunk of the {{ part.rows }} {{ content.data.unit }}s is right where its first token, its last token and its type are, as conlleval counts. Precision: how many of the predicted chunks are right. Recall: how many of the true ones are found. F1: their harmonic mean.{% if view.sorted %} The weakest types come first.{% endif %}</p>
{{ m.scores(view, "Chunks per type", "type", part.units, "types") }}
"""


@dataclass(frozen=True)
class Token:
    """One token.

    Attributes
    ----------
    word : str
    truth, prediction : str
        Labels.
    probability : float
        Given to the prediction.
    """

    word: str
    truth: str
    prediction: str
    probability: float = NAN


@dataclass(frozen=True)
class Sentence:
    """One sequence that is labeled wrong.

    Attributes
    ----------
    row : str
        Which sequence of the source.
    tokens : tuple of Token
    log_probability : float
        Of the true labels, all together.
    """

    row: str
    tokens: tuple[Token, ...]
    log_probability: float = NAN


@dataclass(frozen=True)
class Sentences(Part):
    """The worst sequences, the worst first, and how many have mistakes in all."""

    section = Section("sentences", "Worst sequences", 110)
    template = """\
<p class="lead">{{ part.n_wrong | count }} of {{ part.n_rows | count }} {{ part.rows }} {{ content.data.unit }}s have a wrong label ({{ view.share }}). {{ view.order }} Under each word stands its label; where it is wrong, the true one below.</p>
<ol class="sentences">
  {% for one in view.sentences %}
  <li>
    <p class="source">{{ one.row | clip(120) }}, {{ one.wrong }}{% if one.chance %}, {{ one.chance }}{% endif %}</p>
    <ul class="tokens" dir="auto">
      {% for token in one.tokens %}
      <li{% if token.wrong %} class="wrong"{% endif %}><b>{{ token.word }}</b><span{% if token.share %} title="probability {{ token.share }}"{% endif %}>{{ token.prediction }}</span>{% if token.wrong %}<span class="truth"><span class="sr">truth </span>{{ token.truth }}</span>{% endif %}</li>
      {% endfor %}
    </ul>
    {{ m.left_out(one.left_out, "tokens") }}
  </li>
  {% endfor %}
</ol>
{{ m.left_out(view.left_out, "sequences") }}
"""

    sentences: tuple[Sentence, ...]
    n_wrong: int
    n_rows: int
    rows: str = "test"

    def view(self, _: Content) -> View:
        """Words over their labels."""
        shown, left_out = cut(self.sentences, MOST_SENTENCES)
        told = any(not math.isnan(one.log_probability) for one in shown)
        return {
            "sentences": [_sentence(one) for one in shown],
            "left_out": left_out,
            "share": formats.percent(self.n_wrong / max(self.n_rows, 1)),
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
