"""What an output is, one object per kind: its target, metrics, answers, scores, reasons, report.

A kind has a file of its own and a line in `table.TASKS`; experiments, the command line, the
service, the report and model files ask it and know no kind themselves.
"""

from separatrix.tasks.table import TASKS, all_metrics, find_task, kind_of, task_named, task_of_kind
from separatrix.tasks.task import FieldError, Fitted, Options, Scores, Task

__all__ = [
    "TASKS",
    "FieldError",
    "Fitted",
    "Options",
    "Scores",
    "Task",
    "all_metrics",
    "find_task",
    "kind_of",
    "task_named",
    "task_of_kind",
]
