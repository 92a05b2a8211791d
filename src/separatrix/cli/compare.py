"""`separatrix compare`: learners side by side, the best two tested, the champion kept."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from separatrix.cli.exits import INTERRUPTED, SUSPICIOUS
from separatrix.cli.experiment_options import ExperimentOptions, takes_experiment_options
from separatrix.cli.options import Source

if TYPE_CHECKING:
    from separatrix.data import Dataset

__all__ = ["compare", "run_experiment"]


@takes_experiment_options
def compare(
    source: Source,
    options: ExperimentOptions,
    save: Annotated[
        Path | None, typer.Option("--save", help="Write the model to this file.")
    ] = None,
    learners: Annotated[
        str | None,
        typer.Option(
            "--learners", "-l", help="Only these, with commas between; default: all that suit."
        ),
    ] = None,
    previous: Annotated[
        Path | None, typer.Option("--previous", help="A model file to compare with.")
    ] = None,
    reference: Annotated[
        bool | None,
        typer.Option(
            "--reference/--no-reference",
            help="Boosted trees in the leaderboard, never champion; default: with all learners.",
        ),
    ] = None,
) -> None:
    """Compare learners, test the best two, keep the champion.

    Rows are split into train, held-out and test. Every learner is tuned on held-out rows, the best
    two are fitted again on train and held-out rows, and the test set is opened once, for both.
    """
    wanted = "auto" if learners is None else [name.strip() for name in learners.split(",")]
    run_experiment(source, wanted, options, save=save, previous=previous, reference=reference)


def run_experiment(
    source: str,
    learners: Any,
    options: ExperimentOptions,
    *,
    save: Path | None,
    previous: Path | None = None,
    champion: str | None = None,
    reference: bool | None = None,
) -> None:
    """Run an experiment, show it, and write what was requested."""
    from time import perf_counter

    from rich.console import Console

    from separatrix.cli import files, output, tables
    from separatrix.cli.source import read

    start = perf_counter()
    for path in (save, options.report):
        if path is not None:
            files.check_writable(path)
    if options.report is not None:
        from separatrix.report.rendering import check_available

        check_available()  # rather than after a long run
    seconds = None if options.budget is None else parse_seconds(options.budget)

    # Where every row has one label or none, a file does not tell that they are sets.
    needs = {"multilabel": True} if options.task == "label_sets" else None
    data = read(
        source, quiet=options.quiet, needs=needs, target=options.target, text=options.text,
        **options.reading, **options.deciding,
    )  # fmt: skip
    from separatrix.errors import DataError
    from separatrix.experiment import Experiment
    from separatrix.experiment.source import as_dataset

    data = as_dataset(data, options.target or "auto")
    split = _split(data, options)
    known = None
    if previous is not None:
        from separatrix.models import load

        known = load(previous)
    experiment = Experiment(
        data,
        learners=learners,
        metric=options.metric,
        split=split,
        # Reading the files took some of it; a tenth, and a second, is for learning.
        budget=None
        if seconds is None
        else max(1.0, 0.1 * seconds, seconds - (perf_counter() - start)),
        cost=options.cost,
        task=options.task,
        drop=options.drop or (),
        templates=_templates(options),
        features=options.features,
        ngrams=parse_lengths("--ngrams", options.ngrams),
        characters=parse_lengths("--characters", options.characters),
        reference=reference,
        folds=options.folds,
        repeats=options.repeats,
        class_weight=parse_weights(options.class_weight),
        champion=champion,
        previous=known,
        calibration=options.calibration,
        random_state=options.seed,
        n_jobs=options.threads,
        name=source,
        command=_command(),
    )
    del data  # the experiment has it, and lets go of it once its rows are split
    # Progress and complaints go to stderr, so that the result can be piped.
    errors = Console(stderr=True)
    lively = errors.is_terminal and not errors.is_dumb_terminal
    reporter = (output.Silence if options.quiet else output.Bars if lively else output.Lines)(
        errors
    )
    try:
        with reporter:
            result = experiment.run(reporter, keep_data=False)
    except KeyboardInterrupt:
        _show_finished(reporter.finished)
        raise typer.Exit(INTERRUPTED) from None
    worthless = champion is None and result.is_worthless
    if save is not None and not worthless:
        result.save(save)
    if options.report is not None:
        result.to_html(options.report)
    if options.json:
        tables.print_json(result.to_dict())
    elif options.quiet:
        typer.echo(result.verdict())
    else:
        output.show(result, Console())
        for what, path in (("Model", save), ("Report", options.report)):
            if path is not None and not (worthless and path is save):
                typer.echo(f"{what}: {path}")
    if options.quiet and not options.json:
        for warning in result.warnings():
            typer.echo(warning, err=True)
    if worthless:
        advice = "" if seconds is None else ", or give a longer --budget"
        kept = "" if save is None else f"; {save} was not written"
        raise DataError(
            f"the result is not worth having: no learner does better than the baseline "
            f"{result.champion.learner}. Look at the columns (separatrix inspect){advice}{kept}"
        )
    if options.strict and result.serious:
        raise typer.Exit(SUSPICIOUS)


def _split(data: Dataset, options: ExperimentOptions) -> Any:
    """How the rows are split."""
    from separatrix.cli.source import read
    from separatrix.errors import ParameterError
    from separatrix.experiment import ByTime, Given, Grouped
    from separatrix.tasks.inputs import Inputs

    def look(name: str) -> Any:
        # Further files are read as the first one was: words stay words, texts stay texts.
        needs = Inputs.of(data).options(True)
        for option in ("columns", "words", "token_columns"):
            needs.pop(option, None)
        return read(name, quiet=options.quiet, needs=needs, **options.reading)

    if sum(one is not None for one in (options.test, options.group, options.time)) > 1:
        raise ParameterError("--test, --group and --time exclude each other")
    if options.test is not None:
        return Given(
            look(options.test), None if options.held_out is None else look(options.held_out)
        )
    if options.held_out is not None:
        raise ParameterError("--held-out goes with --test")
    if options.group is not None:
        return Grouped(options.group)
    return (0.6, 0.2, 0.2) if options.time is None else ByTime(options.time)


def _templates(options: ExperimentOptions) -> Any:
    """Templates for tokens: the name of a preset or those of a file, with dictionaries."""
    if options.templates == "auto" and not options.dictionary and not options.clusters:
        return "auto"
    from separatrix.errors import ParameterError
    from separatrix.features.templates import PRESETS, Templates
    from separatrix.features.templates.dictionaries import dictionary_lines

    dictionaries, name = _dictionaries(options), options.templates
    if name == "auto":
        return Templates(name, dictionaries=dictionaries)
    path, text = Path(name), PRESETS.get(name)
    if text is None:
        if not path.is_file():
            raise ParameterError(
                f"--templates takes {', '.join(PRESETS)} or a file, and there is no file {name}"
            )
        text = path.read_text(encoding="utf-8-sig")
    if "%x[" in text:
        if dictionaries:
            raise ParameterError(f"{name} is a file of CRF++ or Wapiti, which know no dictionaries")
        return Templates.from_crfpp(path)
    if not dictionaries:
        return name if name in PRESETS else Templates(text)
    # A file may say itself how it reads them.
    unread = {name: one for name, one in dictionaries.items() if name not in text}
    return Templates(f"{text}\n{dictionary_lines(unread)}", dictionaries=dictionaries)


def _dictionaries(options: ExperimentOptions) -> dict[str, Any]:
    """Entries and classes of words by name: that of --dictionary, or that of the file."""
    from separatrix.errors import ParameterError
    from separatrix.features.templates import read_clusters, read_dictionary

    found: dict[str, Any] = {}
    for word in options.dictionary or ():
        name, mark, path = word.partition("=")
        if not mark or not name or not path:
            raise ParameterError(
                f"--dictionary takes NAME=FILE, such as cities=cities.txt, got {word!r}"
            )
        found[name] = read_dictionary(path)
    for file in options.clusters or ():
        found[file.stem] = read_clusters(file)
    return found


def parse_lengths(option: str, words: str) -> Any:
    """Least and largest length of "1-2" or "2"; None of "none".

    Examples
    --------
    >>> parse_lengths("--ngrams", "1-2"), parse_lengths("--ngrams", "2")
    ((1, 2), (2, 2))
    """
    from separatrix.errors import ParameterError

    if words in ("auto", "none"):
        return "auto" if words == "auto" else None
    low, _, high = words.partition("-")
    if low.isdecimal() and (high or low).isdecimal() and 0 < int(low) <= int(high or low):
        return int(low), int(high or low)
    raise ParameterError(f"{option} takes lengths such as 1, 1-2 or none, got {words!r}")


def parse_weights(words: str | None) -> Any:
    """Weights of classes of "spam=1,ham=5"; "balanced" and None as they are.

    Examples
    --------
    >>> parse_weights("spam=1,ham=5")
    {'spam': 1.0, 'ham': 5.0}
    """
    from separatrix.errors import ParameterError

    if words is None or words == "balanced":
        return words
    found = {}
    for item in words.split(","):
        name, _, weight = item.rpartition("=")
        try:
            found[name.strip()] = float(weight)
        except ValueError:
            found[name.strip()] = 0.0
        if not name or not 0 < found[name.strip()] < float("inf"):
            raise ParameterError(
                f"--class-weight takes balanced, or weights such as spam=1,ham=5, got {words!r}"
            )
    return found


def parse_seconds(words: str) -> float:
    """Seconds of "90", "60s", "5m" or "1.5h".

    Examples
    --------
    >>> parse_seconds("1.5m")
    90.0
    """
    from separatrix.errors import ParameterError

    units = {"s": 1.0, "m": 60.0, "h": 3600.0}
    number, unit = (words[:-1], units[words[-1]]) if words[-1:] in units else (words, 1.0)
    try:
        seconds = float(number) * unit
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise ParameterError(f"--budget takes a time such as 60s, 5m or 1h, got {words!r}")
    return seconds


def _command() -> str:
    """The words that repeat this run."""
    import shlex

    return shlex.join(["separatrix", *sys.argv[1:]])


def _show_finished(rows: Sequence[Any]) -> None:
    from separatrix.experiment.result import format_rows

    typer.echo("Interrupted; the test set stays sealed.", err=True)
    if rows:
        typer.echo("Learners that were done:", err=True)
        typer.echo("\n".join(format_rows(rows)))
