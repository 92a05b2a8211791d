"""Contents of reports for the tests."""

from tests.unit.report.contents.digits import digits
from tests.unit.report.contents.enormous import enormous
from tests.unit.report.contents.minimal import minimal
from tests.unit.report.contents.regression import regression
from tests.unit.report.contents.sentences import sentences
from tests.unit.report.contents.spam import spam
from tests.unit.report.contents.unbroken import unbroken

__all__ = ["digits", "enormous", "minimal", "regression", "sentences", "spam", "unbroken"]
