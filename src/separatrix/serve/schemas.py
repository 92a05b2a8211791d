"""Bodies of requests and responses, for checks and for the OpenAPI document."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

__all__ = [
    "Action",
    "Card",
    "ErrorBody",
    "ModelList",
    "PredictRequest",
    "PredictResponse",
    "Prediction",
    "ShortCard",
    "Status",
]

_STRICT = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)


def _whole(value: Any) -> Any:
    """In JSON 3.0 is a whole number too."""
    return int(value) if type(value) is float and value.is_integer() else value


Label = str | int | float | bool
Finite = Annotated[float, Field(allow_inf_nan=False)]
#: A row of costs: of however many wrong ones only the first is told.
Costs = Annotated[list[Finite], Field(fail_fast=True)]


class PredictRequest(BaseModel):
    """One row, or many, and what to tell of them."""

    model_config = _STRICT

    model: str | None = Field(None, description="Name of the model; not needed where there is one.")
    row: Any = Field(None, description="One row: a text, an object, an array of numbers or tokens.")
    rows: list[Any] | None = Field(None, description="Many rows, in place of `row`.")
    labels: dict[str, str] | list[Label] | None = Field(
        None,
        min_length=1,
        max_length=1000,
        description="Further labels, that training never saw; or the text that describes each.",
    )
    probabilities: bool = Field(False, description="The probability of every class.")
    top: Annotated[int, Field(ge=1, le=100), BeforeValidator(_whole)] | None = Field(
        None, description="So many of the most probable classes; of sequences, best labellings."
    )
    cost: list[Costs] | None = Field(
        None,
        fail_fast=True,
        description="cost[true][predicted]: also the action of the least expected cost.",
    )
    reject: Finite | None = Field(None, description="Cost of refusing to decide; needs `cost`.")
    explain: bool = Field(False, description="The sum behind every answer.")
    terms: Annotated[int, Field(ge=1, le=1000), BeforeValidator(_whole)] = Field(
        50, description="Terms of an explanation, the most telling ones."
    )
    level: Annotated[float, Field(gt=0, lt=1)] = Field(
        0.95, description="Mass of the interval of a quantity."
    )


class Ranked(BaseModel):
    """A class, or a labelling, and its probability."""

    label: Label | None = None
    labels: list[Label] | None = None
    probability: float | None = None
    score: float | None = None


class Action(BaseModel):
    """What is cheapest on average."""

    label: Label | None = None
    labels: list[Label] | None = None
    rejected: bool = False
    expected_cost: float | None = None


class Term(BaseModel):
    """A line of an explanation."""

    name: str
    adds: float | None = Field(description="What it adds to the score, for one class.")
    value: float | None = Field(None, description="The number that reached the model.")
    column: int | None = Field(None, description="Column of the model.")


class Explained(BaseModel):
    """The sum behind an answer: positive terms speak for a class, negative ones against it."""

    model_config = ConfigDict(populate_by_name=True)

    speaks_for: Label | None = Field(None, alias="for")
    against: Label | None = None
    total: float | None = None
    terms: list[Term]
    words: list[list[float]] | None = Field(
        None, description="Of a text: first and last place of each word, and what it adds."
    )
    unknown: list[str] = Field([], description="Words that the model does not know.")
    calibrated: bool = False


class Trellis(BaseModel):
    """What is behind the labels of a sequence, token by token."""

    score: float
    second_score: float | None = None
    log_probability: float | None = None
    second_log_probability: float | None = None
    spans: list[dict[str, Any]] = Field([], description="Chunks of tokens, with their types.")
    tokens: list[dict[str, Any]]


class Prediction(BaseModel):
    """The prediction for one row."""

    label: Label | None = None
    labels: list[Label] | None = Field(None, description="Of a sequence, or a set of labels.")
    image: list[list[Label]] | None = Field(None, description="Lines of labels of pixels.")
    value: float | None = Field(None, description="Of a regression.")
    interval: list[float | None] | None = None
    probabilities: list[Any] | None = Field(
        None, description="In the order of `classes`; of a sequence, an array per token."
    )
    top: list[Ranked] | None = None
    action: Action | None = None
    explanation: Explained | Trellis | None = None


class PredictResponse(BaseModel):
    """Answers in the order of the rows."""

    model: str
    version: str = Field(description="Beginning of the checksum of the model file.")
    classes: list[Label] | None = Field(None, description="Where probabilities were requested.")
    predictions: list[Prediction]


class ShortCard(BaseModel):
    """A model in a list."""

    name: str
    version: str
    task: str = Field(description="classes, quantities, tagging, label_sets or label_images")
    input: str = Field(description="text, table, matrix, images, sequences or pictures")
    learner: str
    n_classes: int | None
    probabilities: bool
    explains: bool


class ModelList(BaseModel):
    """All models of the service."""

    models: list[ShortCard]
    complaints: dict[str, str] = Field(description="What was wrong with files at the last reload.")


class Card(ShortCard):
    """What is known of a model."""

    file: str
    n_bytes: int
    checksum: str
    library_version: str
    loaded: str
    classes: list[Label] | None
    features: dict[str, Any]
    training: dict[str, Any]
    score: dict[str, Any]
    example: Any
    row_schema: dict[str, Any]


class Status(BaseModel):
    """Whether the service is there."""

    status: str
    reload: str | None = Field(
        None,
        description='"failed" where a file could not be loaded again and the old model answers.',
    )


class ErrorContent(BaseModel):
    """What is wrong."""

    code: str
    message: str
    field: str | None


class ErrorBody(BaseModel):
    """Body of every response that is no answer."""

    error: ErrorContent
