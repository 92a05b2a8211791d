"""`separatrix train`: one learner, tuned, tested and saved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.compare import (
    Budget,
    Calibration,
    Cost,
    Drop,
    Group,
    HeldOut,
    Metric,
    Report,
    Target,
    Task,
    Test,
    Text,
    Time,
    run_experiment,
)
from separatrix.cli.options import (
    Debug,
    Delimiter,
    Encoding,
    InputFormat,
    Json,
    Quiet,
    Seed,
    Source,
    Threads,
)

__all__ = ["train"]


def train(
    source: Source,
    learner: Annotated[
        str, typer.Option("--learner", "-l", help="Name of the learner (separatrix learners).")
    ],
    save: Annotated[Path, typer.Option("--save", help="Write the model to this file.")],
    target: Target = None,
    report: Report = None,
    metric: Metric = "auto",
    budget: Budget = None,
    cost: Cost = None,
    test: Test = None,
    held_out: HeldOut = None,
    group: Group = None,
    time: Time = None,
    task: Task = "auto",
    text: Text = None,
    drop: Drop = None,
    calibration: Calibration = "auto",
    input_format: InputFormat = None,
    encoding: Encoding = None,
    delimiter: Delimiter = None,
    seed: Seed = 0,
    threads: Threads = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Tune one learner beside the baselines, test it, and save it.

    The model that is saved is the learner that was named, even where a baseline does better; then
    that is said.
    """
    run_experiment(
        source,
        [learner],
        champion=learner,
        target=target,
        save=save,
        report=report,
        metric=metric,
        budget=budget,
        cost=cost,
        test=test,
        held_out=held_out,
        group=group,
        time=time,
        task=task,
        text=text,
        drop=drop,
        previous=None,
        calibration=calibration,
        options={"format": input_format, "encoding": encoding, "delimiter": delimiter},
        seed=seed,
        threads=threads,
        json=json,
        quiet=quiet,
    )
