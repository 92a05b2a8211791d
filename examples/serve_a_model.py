"""
A model as a service
====================

A saved model, queried by the client: labels, probabilities, costs, explanations.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

from sklearn.pipeline import make_pipeline

from separatrix import LogisticRegression, TextVectorizer, save
from separatrix.serve import Client

TEXTS = {
    "spam": ["free money now", "win a free prize", "free offer just for you now"],
    "ham": ["see you at lunch", "meeting at noon as planned", "home for dinner today"],
}
X = [text for texts in TEXTS.values() for text in texts]
y = [label for label, texts in TEXTS.items() for _ in texts]
model = make_pipeline(TextVectorizer(use_idf=False, norm=None), LogisticRegression()).fit(X, y)

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "mail.sx"
    save(model, path)
    # On a command line: separatrix serve mail.sx
    service = subprocess.Popen(
        [sys.executable, "-m", "separatrix", "serve", str(path), "--port", "0", "--quiet"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        url = re.search(r"http://\S+", service.stderr.readline())[0]
        with Client(url) as client:
            card = client.card("mail")
            print(f"{card['learner']} for {card['task']}: {card['classes']}\n")

            for text in ("free lunch today", "win money now"):
                (answer,) = client.predict([text], probabilities=True, explain=True)
                probabilities = dict(zip(card["classes"], answer["probabilities"], strict=True))
                terms = {t["name"]: round(t["adds"], 2) for t in answer["explanation"]["terms"]}
                print(f"{text!r}: {answer['label']}, P(spam) = {probabilities['spam']:.2f}")
                print(f"  speaks for {answer['label']}: {terms}")

            # A lost message costs twenty times a spam that is read.
            (answer,) = client.predict(["win money now"], cost=[[0, 20], [1, 0]])
            print(f"\nunder costs: {answer['action']}")

            labels = [one["label"] for one in client.stream(f"offer {i}" for i in range(5000))]
            print(f"streamed: {len(labels)} rows, {labels.count('spam')} of them spam")
    finally:
        service.terminate()
        service.wait()
        service.stderr.close()
