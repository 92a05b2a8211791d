"""The peer of row E2: FastAPI as its tutorial shows it, around a pipeline of scikit-learn.

/predict runs in FastAPI's pool of threads, /predict-on-the-loop holds up the event loop.

``python -m benchmarks.plain_service MODEL PORT``, where MODEL is a pickle of joblib.
"""

from __future__ import annotations

import sys
from typing import Any

import joblib
import uvicorn
from fastapi import FastAPI
from pydantic import BaseModel


class Question(BaseModel):
    """A text."""

    text: str


class Answer(BaseModel):
    """A label, and the probability of every class."""

    label: int
    probabilities: list[float]


def make_app(pipeline: Any) -> FastAPI:
    """The service."""
    app = FastAPI()
    classes = pipeline.classes_

    def answer(question: Question) -> Answer:
        shares = pipeline.predict_proba([question.text])[0]
        return Answer(label=int(classes[shares.argmax()]), probabilities=shares.tolist())

    @app.post("/predict")
    def predict(question: Question) -> Answer:
        return answer(question)

    @app.post("/predict-on-the-loop")
    async def predict_on_the_loop(question: Question) -> Answer:
        return answer(question)

    return app


if __name__ == "__main__":
    uvicorn.run(
        make_app(joblib.load(sys.argv[1])),
        port=int(sys.argv[2]),
        log_level="warning",
        access_log=False,
    )
