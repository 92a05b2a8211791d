"""Drop-in for sklearn-crfsuite: code goes on working when its import changes.

``from separatrix.compat import sklearn_crfsuite`` stands in for ``import sklearn_crfsuite``, and
``from separatrix.compat.sklearn_crfsuite import CRF, metrics, scorers`` for the imports from it.
"""

from separatrix.compat.sklearn_crfsuite import metrics, scorers, utils
from separatrix.compat.sklearn_crfsuite.crf import CRF

__all__ = ["CRF", "metrics", "scorers", "utils"]
