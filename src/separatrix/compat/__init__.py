"""Drop-ins for other libraries' classes: code goes on working when its import changes.

``from separatrix import compat as sklearn_crfsuite`` stands in for ``import sklearn_crfsuite``, and
``from separatrix.compat import CRF, metrics, scorers`` for the imports from it.
"""

from separatrix.compat import metrics, scorers, utils
from separatrix.compat.crf import CRF

__all__ = ["CRF", "metrics", "scorers", "utils"]
