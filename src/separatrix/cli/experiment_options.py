"""The options of experiments, declared once for all commands that run one."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.options import (
    Debug,
    Delimiter,
    Encoding,
    Header,
    InputFormat,
    Json,
    Kind,
    Quiet,
    SchemaFile,
    Seed,
    Target,
    Threads,
    parse_header,
    parse_kinds,
)

__all__ = ["ExperimentOptions", "takes_experiment_options"]

Report = Annotated[
    Path | None, typer.Option("--report", help="Write the report to this HTML file.")
]
Metric = Annotated[
    str,
    typer.Option(
        "--metric",
        help="accuracy, balanced_accuracy, macro_f1, f1, roc_auc, average_precision, log_loss, "
        "cost, rmse, log_density, chunk_f1, token_accuracy, sequence_accuracy, subset_accuracy, "
        "hamming_loss, example_f1, pixel_accuracy or mean_overlap.",
    ),
]
Budget = Annotated[
    str | None, typer.Option("--budget", help="Time for everything, such as 60s, 5m or 1h.")
]
Cost = Annotated[
    Path | None,
    typer.Option("--cost", help="CSV of costs: a row per true class, a column per prediction."),
]
Test = Annotated[str | None, typer.Option("--test", help="A file of test rows.")]
HeldOut = Annotated[str | None, typer.Option("--held-out", help="A file of held-out rows.")]
Group = Annotated[
    str | None, typer.Option("--group", help="Column of groups; no group is in two splits.")
]
Time = Annotated[
    str | None, typer.Option("--time", help="Column of times: the latest rows are the test.")
]
Task = Annotated[
    str,
    typer.Option(
        "--task",
        help="binary, multiclass, regression, tagging, label_sets or label_images; default: found.",
    ),
]
Text = Annotated[
    list[str] | None, typer.Option("--text", help="Column that holds texts (repeatable).")
]
DropMissing = Annotated[
    bool, typer.Option("--drop-missing-target", help="Leave out rows without a target.")
]
Drop = Annotated[list[str] | None, typer.Option("--drop", help="Column to leave out (repeatable).")]
TokenTemplates = Annotated[
    str,
    typer.Option(
        "--templates",
        help="For sequences: chunking, pos, ner, or a file (of CRF++ or Wapiti too).",
    ),
]
Dictionaries = Annotated[
    list[str] | None,
    typer.Option(
        "--dictionary",
        metavar="NAME=FILE",
        help="For sequences: names or terms, one a line, as cities=cities.txt (repeatable).",
    ),
]
Clusters = Annotated[
    list[Path] | None,
    typer.Option(
        "--clusters",
        help="For sequences: classes of words, as separatrix clusters writes them (repeatable).",
    ),
]
Features = Annotated[
    str,
    typer.Option(
        "--features", help="auto: of tables and texts, searched on held-out rows; or plain."
    ),
]
Ngrams = Annotated[
    str,
    typer.Option("--ngrams", help="Of texts, words in a term: 1, 1-2 or none; default: searched."),
]
Characters = Annotated[
    str,
    typer.Option(
        "--characters", help="Of texts, characters in a term: 2-5 or none; default: searched."
    ),
]
Folds = Annotated[
    int | None,
    typer.Option(
        "--folds",
        help="Folds that choose features and settings; default: 5 below 2,000 rows, else 1.",
    ),
]
Repeats = Annotated[
    int,
    typer.Option("--repeats", help="Seeds to split and tune with anew; tells their mean score."),
]
ClassWeight = Annotated[
    str | None,
    typer.Option("--class-weight", help="balanced, or weights such as spam=1,ham=5."),
]
Calibration = Annotated[
    str,
    typer.Option("--calibration", help="auto, none, temperature, sigmoid or isotonic."),
]


Strict = Annotated[
    bool, typer.Option("--strict", help="Exit with 3 where a finding is serious, after the result.")
]


@dataclass(frozen=True)
class ExperimentOptions:
    """What an experiment is given on the command line."""

    target: Target = None
    report: Report = None
    metric: Metric = "auto"
    budget: Budget = None
    cost: Cost = None
    test: Test = None
    held_out: HeldOut = None
    group: Group = None
    time: Time = None
    task: Task = "auto"
    text: Text = None
    drop: Drop = None
    drop_missing_target: DropMissing = False
    header: Header = None
    kind: Kind = None
    schema: SchemaFile = None
    templates: TokenTemplates = "auto"
    dictionary: Dictionaries = None
    clusters: Clusters = None
    features: Features = "auto"
    ngrams: Ngrams = "auto"
    characters: Characters = "auto"
    folds: Folds = None
    repeats: Repeats = 1
    class_weight: ClassWeight = None
    calibration: Calibration = "auto"
    input_format: InputFormat = None
    encoding: Encoding = None
    delimiter: Delimiter = None
    seed: Seed = 0
    threads: Threads = None
    strict: Strict = False
    json: Json = False
    quiet: Quiet = False
    debug: Debug = False

    @property
    def reading(self) -> dict[str, Any]:
        """Options of `open_source`."""
        return {
            "drop_missing_target": self.drop_missing_target or None,
            "format": self.input_format,
            "encoding": self.encoding,
            "delimiter": self.delimiter,
            "header": parse_header(self.header),
        }

    @property
    def deciding(self) -> dict[str, Any]:
        """Options of `open_source` that decide what the columns of the data hold."""
        return {"kinds": parse_kinds(self.kind), "schema": self.schema}


def takes_experiment_options(command: Callable[..., None]) -> Callable[..., None]:
    """The command with the fields of `ExperimentOptions` in the place of its argument `options`."""
    own = inspect.signature(command, eval_str=True).parameters.values()
    hints = typing.get_type_hints(ExperimentOptions, include_extras=True)
    only_named = inspect.Parameter.KEYWORD_ONLY
    shared = [
        inspect.Parameter(
            field.name, only_named, default=field.default, annotation=hints[field.name]
        )
        for field in fields(ExperimentOptions)
    ]

    def run(**given: Any) -> None:
        options = ExperimentOptions(**{one.name: given.pop(one.name) for one in shared})
        command(**given, options=options)

    kept = [one.replace(kind=only_named) for one in own if one.name != "options"]
    run.__signature__ = inspect.Signature([*kept, *shared])  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in [*kept, *shared]}
    run.__name__, run.__doc__ = command.__name__, command.__doc__
    return run
