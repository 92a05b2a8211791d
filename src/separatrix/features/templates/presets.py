"""Templates that are known to work, by task."""

from __future__ import annotations

from separatrix.errors import ParameterError
from separatrix.features.templates.grammar import parse
from separatrix.features.templates.spec import TemplateTerm

__all__ = ["PRESETS", "preset"]

#: Name -> text of the templates.
PRESETS = {
    "chunking": """\
bias
word[-2..2]
pos[-2..2]
ngrams(word[-1..1], 2)
ngrams(pos[-2..2], 2..3)
""",
    # Chosen on the development part of UD English-EWT.
    "pos": """\
bias
word
lower(word)[-2..2]
shape(word)
short_shape(word)[-1..1]
prefix(lower(word), 1..5)
suffix(lower(word), 1..6)
suffix(lower(word), 2..3)[-1]
suffix(lower(word), 2..3)[1]
ngrams(lower(word)[-1..1], 2)
""",
    # Chosen on the development parts of wnut17 and of CoNLL-2002, both languages.
    "ner": """\
bias
word[-2..2]
lower(word)[-2..2]
prefix(lower(word), 2..5)
suffix(lower(word), 1..6)
suffix(lower(word), 3)[-1]
suffix(lower(word), 3)[1]
case(word)[-2..2]
ngrams(case(word)[-2..2], 2..3)
digits(word)
shape(word)
short_shape(word)[-2..2]
ngrams(short_shape(word)[-1..1], 2..3)
ngrams(lower(word)[-1..1], 2)
lower(word)[-1] & short_shape(word)
lower(word)[1] & short_shape(word)
""",
}


def preset(name: str) -> list[TemplateTerm]:
    """The templates of a preset, to be extended.

    Parameters
    ----------
    name : {"chunking", "pos", "ner"}
        - "chunking": words and parts of speech in a window of five, pairs of words, pairs and
          triples of parts of speech (as in CRF++'s example for CoNLL-2000);
        - "pos": the word and its shape, words of a window of five in lower case and pairs of them,
          prefixes of up to five and suffixes of up to six characters, short shapes and suffixes of
          the neighbors;
        - "ner": words in a window of five, as written and in lower case, prefixes of up to five and
          suffixes of up to six characters, shapes and case with pairs and triples of them, pairs of
          words, and the neighbors' words with the shape.

    Returns
    -------
    list of TemplateTerm
        The templates.

    Examples
    --------
    >>> from separatrix.features.templates import Templates, preset
    >>> templates = Templates([*preset("ner"), "pos[-2..2]"])
    """
    if name not in PRESETS:
        raise ParameterError(f"there is no preset {name!r}; there are {', '.join(PRESETS)}")
    return parse(PRESETS[name])
