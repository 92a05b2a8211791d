"""
The features of a sentence
==========================

Templates as text, as objects, as a preset and as a CRF++ file.
"""

import io

from separatrix import Templates, read
from separatrix.features.templates import bag, column, preset, transitions

TRAIN = """\
He PRP B-NP
moved VBD B-VP
to TO B-PP
New NNP B-NP
York NNP I-NP
in IN B-PP
1999 CD B-NP

Prices NNS B-NP
moved VBD B-VP
up RB B-ADVP
"""
data = read(io.StringIO(TRAIN), "conll")


def show(title, templates, token=3):
    """Print the attributes of one token of the first sentence."""
    rows = templates.fit_transform(data.X)
    print(f"{title}: {rows.matrix.shape[1]} attributes of {rows.matrix.shape[0]} tokens")
    print("  " + "\n  ".join(rows[0][token]) + "\n")
    return rows


show(
    "as text",
    Templates(
        """
        bias
        word[-1..1]                       # three templates, one per place
        suffix(lower(word), 2..3)
        short_shape(word) & pos[-1]       # a conjunction
        listed(word, place)               # B on the first, I on further words of an entry
        transitions: pos                  # goes with pairs of labels
        """,
        dictionaries={"place": ["New York", "Oslo"]},
    ),
)

word, pos = column("word"), column("pos")
show("as objects", Templates([word[0] & pos[0], bag(word.window(-2, 2)), transitions(pos[1])]))

rows = show("the preset for chunking", Templates("chunking"))
print("CSR of", rows.matrix.dtype, rows.matrix.shape, "and lengths", rows.lengths.tolist(), "\n")

show("a preset with more", Templates([*preset("ner"), "pos[-1..1]"], padding="mark"))
show("a template file of CRF++", Templates.from_crfpp("U0:%x[0,0]\nU1:%x[-4,1]/%x[0,1]\nB\n"))

templates = Templates("word[-1] & word").fit(data.X)
print("unseen attributes are left out:", templates.transform([["He", "moved", "away"]])[0])
