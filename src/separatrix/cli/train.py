"""`separatrix train`: one learner, tuned, tested and saved."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.compare import run_experiment
from separatrix.cli.experiment_options import ExperimentOptions, takes_experiment_options
from separatrix.cli.options import Source

__all__ = ["train"]


@takes_experiment_options
def train(
    source: Source,
    options: ExperimentOptions,
    learner: Annotated[
        str, typer.Option("--learner", "-l", help="Name of the learner (separatrix learners).")
    ],
    save: Annotated[Path, typer.Option("--save", help="Write the model to this file.")],
) -> None:
    """Tune one learner beside the baselines, test it, and save it.

    The model that is saved is the learner that was named, even where a baseline does better; then
    that is said.
    """
    run_experiment(source, [learner], options, champion=learner, save=save)
