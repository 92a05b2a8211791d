"""A tagging task from sequences to champion: what is chosen, by which rows, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest

from separatrix import CRF, LogisticRegression, Templates, load
from separatrix.data import read
from separatrix.errors import DataError, ParameterError
from separatrix.experiment import Experiment, Given, Grouped, Stratified
from separatrix.experiment.splitting import make_parts
from separatrix.metrics import chunk_f1, sequence_accuracy, token_accuracy
from separatrix.report.parts import (
    Confusion,
    Findings,
    LearningCurves,
    PerChunk,
    PerClass,
    Profile,
    Sentences,
    TrainingCurves,
    Weights,
)
from separatrix.tasks import all_metrics, task_named
from separatrix.tasks.findings import row_keys
from separatrix.tasks.inputs import Inputs
from separatrix.tasks.tagging import tell_chunks
from separatrix.tasks.templates import additions, candidates, choose_templates
from tests.unit.experiment.problems import conll

DATA = read(conll(100).encode())
QUICK = ["structured_perceptron", "crf", "structured_svm"]
TAGGING = task_named("tagging")


def part(result, kind):
    return next(one for one in result.parts if type(one) is kind)


@pytest.fixture(scope="module")
def result():
    return Experiment(DATA, name="made up", command="separatrix compare x").run()


def test_the_task_is_found_and_told(result):
    assert result.task.name == "tagging"
    assert result.task.reason == "'2' holds 4 labels of tokens"
    assert result.metric.name == "chunk_f1"
    assert result.sizes == {
        "train": 60, "held-out": 20, "test": 20, "features": result.sizes["features"], "classes": 4,
    }  # fmt: skip
    assert "60 train, 20 held-out, 20 test sequences (sequences at random)" in str(result)
    assert "on 20 test sequences" in result.verdict()


def test_baselines_come_first_and_learners_beat_them(result):
    board = [row.learner for row in result.leaderboard]
    assert board[-2:] == ["label_per_word", "majority_label"]
    assert set(board[:-2]) >= set(QUICK)
    assert result.champion.held_out > 0.9
    assert [one.learner for one in result.test.scores] == [
        result.champion.learner, result.runner_up.learner,
    ]  # fmt: skip
    assert 0 <= result.test.probability_better <= 1
    assert result.test.method == "Bayesian bootstrap of the test sequences"
    names = [name for name, _ in result.test.scores[0].others]
    assert names == ["token accuracy", "sequence accuracy"]


def test_the_champion_is_fitted_again_on_train_and_held_out(result):
    """The model knows a word that only held-out sequences have."""
    rare = read(b"zebra NN B-NP\n. . O\n", "conll")
    first = Experiment(
        DATA,
        learners=["crf"],
        champion="crf",
        split=Given(DATA.take(range(5)), rare),
        templates="word",
    ).run()
    names = first.model[0].get_feature_names_out().tolist()
    assert "word[0]=zebra" in names
    assert first.sizes["features"] == len(names)


def test_the_report_has_its_parts(result):
    chunks = part(result, PerChunk)
    assert [one.label for one in chunks.classes] == ["NP", "VP"]
    assert chunks.averages[0].f1 == pytest.approx(result.test_score)
    confusion = part(result, Confusion)
    assert confusion.units == "tokens"
    n_tokens = int(confusion.counts.sum())
    assert sum(one.support for one in chunks.classes) < n_tokens
    worst = part(result, Sentences)
    assert worst.n_rows == 20
    assert len(worst.sentences) == min(12, worst.n_wrong)
    weights = part(result, Weights)
    assert weights.groups[0].label == "transitions"
    assert any("→" in name for name in weights.groups[0].features)
    assert [one.label for one in weights.groups[1:]] == ["B-NP", "B-VP", "I-NP", "O"]
    assert {one.learner for one in part(result, TrainingCurves).curves} >= set(QUICK)
    assert part(result, LearningCurves).curves[0].learner == result.champion.learner
    profile = part(result, Profile)
    assert profile.counted == "tokens"
    assert sum(count for _, count in profile.classes) == len(DATA.y.codes)
    page = result.to_html()
    for words in ("Chunks per type", "Worst sequences", "<span>compare</span>", "Overtraining"):
        assert words in page


def test_worst_sequences_come_with_their_probability():
    noisy = read(conll(200, seed=3).replace(" VB B-VP", " VB B-NP", 60).encode())
    found = Experiment(noisy, learners=["crf"], champion="crf").run()
    worst = part(found, Sentences)
    logs = [one.log_probability for one in worst.sentences]
    assert logs == sorted(logs)
    assert all(one <= 0 for one in logs)
    for one in worst.sentences:
        assert any(token.truth != token.prediction for token in one.tokens)
        assert all(0 <= token.probability <= 1 for token in one.tokens)
    X = found.inputs.take(noisy)
    assert len(found.model.predict(X)) == len(noisy)


def test_the_model_file_holds_templates_and_learner(result, tmp_path):
    result.save(tmp_path / "tagger.sx")
    again = load(tmp_path / "tagger.sx")
    X = result.inputs.take(DATA)
    assert again.predict(X) == result.model.predict(X)
    assert type(again.steps[0][1]).__name__ == "Templates"


def test_seeds_decide_everything():
    first, second = (Experiment(DATA, learners=QUICK, random_state=1).run() for _ in range(2))
    assert [(row.learner, row.held_out) for row in first.leaderboard] == [
        (row.learner, row.held_out) for row in second.leaderboard
    ]
    assert first.test == second.test


@pytest.mark.parametrize("metric", ["chunk_f1", "token_accuracy", "sequence_accuracy"])
def test_metrics_are_those_of_the_library_and_their_bootstrap_surrounds_them(metric):
    found = Experiment(
        read(conll(80, seed=2).replace("B-VP", "B-NP", 30).encode()),
        learners=["structured_perceptron"],
        metric=metric,
    ).run()
    assert found.metric.name == metric
    score = found.test.scores[0]
    assert score.low <= score.score <= score.high
    truth = [["B-NP", "I-NP", "O"], ["O"], ["B-VP"]]
    said = [["B-NP", "O", "O"], ["O"], ["B-VP"]]
    peer = {
        "chunk_f1": chunk_f1, "token_accuracy": token_accuracy,
        "sequence_accuracy": sequence_accuracy,
    }[metric]  # fmt: skip
    assert all_metrics()[metric](None, None, truth, said) == pytest.approx(peer(truth, said))


def test_labels_that_are_no_chunks_are_scored_by_token():
    found = Experiment(read(conll().encode(), target=1), learners=["crf"]).run()
    assert found.metric.name == "token_accuracy"
    assert part(found, PerClass).units == "tokens"
    assert not any(type(one) is PerChunk for one in found.parts)


@pytest.mark.parametrize(
    ("labels", "chunks"),
    [
        (["B-NP", "I-NP", "O"], True),
        (["I-NP", "O"], True),
        (["B-X", "I-X", "E-X", "S-X", "O"], True),
        (["B", "I", "O"], True),
        (["O"], False),
        (["S", "O", "E"], False),
        (["NN", "B-NP"], False),
        (["Begin", "I-NP"], False),
    ],
)
def test_which_labels_tell_chunks(labels, chunks):
    assert tell_chunks(np.array(labels)) is chunks


def test_templates_are_chosen_by_held_out_score():
    """Where only the part of speech tells the chunk, templates that read it win."""
    inputs = Inputs.of(DATA)
    chosen = choose_templates("auto", inputs, DATA, DATA, all_metrics()["chunk_f1"], math.inf)
    assert chosen.inputs.columns == ("0", "1")
    assert chosen.templates.spec == "chunking"
    assert "chunking" in chosen.describe()
    words = read(conll().encode(), names=["form", "xpos", "chunk"])
    only_words = choose_templates(
        "auto", Inputs.of(words), words, words, all_metrics()["chunk_f1"], math.inf
    )
    assert only_words.inputs.columns == ("form",)  # CoNLL-U: annotations are not for new texts
    assert dict(only_words.inputs.left_out) == {"xpos": "not in the templates"}


def test_templates_may_be_given():
    assert [name for name, _ in candidates(["0", "1", "2"])] == ["chunking", "ner"]
    assert list(additions(["0", "1", "2"], {}))[:2] == ["column 1", "column 2"]
    text = Experiment(DATA, learners=["crf"], champion="crf", templates="word[-1..1]").run()
    assert text.inputs.columns == ("0",)
    assert text.model[0].spec == "word[-1..1]"
    crfpp = Templates.from_crfpp("U0:%x[0,1]\nB\n")
    other = Experiment(DATA, learners=["crf"], champion="crf", templates=crfpp).run()
    assert other.model[0].syntax == "crfpp"
    with pytest.raises(ParameterError, match="templates are for sequences"):
        Experiment((np.eye(20), ["a", "b"] * 10), templates="pos").run()


def test_columns_may_be_dropped():
    found = Experiment(DATA, learners=["crf"], drop=["1"]).run()
    assert found.inputs.columns == ("0",)
    assert ("1", "on request") in found.inputs.left_out


def test_lists_of_tokens_and_labels():
    X, y = DATA.X.tolist(), DATA.y.tolist()
    found = Experiment((X, y), learners=["structured_perceptron"]).run()
    assert found.task.name == "tagging"
    with pytest.raises(DataError, match=r"sequence 1 has \d+ tokens, but \d+ labels"):
        Experiment((X, [y[0], y[1][:-1], *y[2:]])).run()


def with_documents(n, each):
    """A file of documents of `each` sentences."""
    sentences = conll(n, seed=5).strip().split("\n\n")
    parts = ["\n\n".join(sentences[at : at + each]) for at in range(0, n, each)]
    return "".join(f"-DOCSTART- O O\n\n{part}\n\n" for part in parts)


def test_whole_documents_are_split():
    data = read(with_documents(60, 3).encode())
    found = Experiment(data, learners=["crf"], champion="crf")
    parts, _, _ = make_parts(data, found.split, TAGGING, (), 0)
    assert parts.rule == "whole documents at random"
    test = parts.test.open("crf")
    documents = [set(part.X.documents.tolist()) for part in (parts.train, parts.held_out, test)]
    assert sum(map(len, documents)) == 20 == len(set.union(*documents))
    assert "(whole documents at random)" in str(found.run())
    # A document that is larger than a part cannot be kept whole.
    large = read(with_documents(60, 30).encode())
    parts, _, _ = make_parts(large, found.split, TAGGING, (), 0)
    assert parts.rule == "sequences at random"
    given = read(with_documents(80, 4).encode())
    parts, _, _ = make_parts(given, Given(data), TAGGING, (), 0)
    both = set(parts.train.X.documents) & set(parts.held_out.X.documents)
    assert not both


def test_groups_of_sequences_are_kept_whole():
    lines = conll(40).splitlines()
    sentence, rows = 0, []
    for line in lines:
        sentence += not line
        rows.append(f"doc{sentence // 4} {line}" if line else "")
    data = read("\n".join(rows).encode())
    parts, inputs, _ = make_parts(data, Grouped("0"), TAGGING, (), 0)
    assert inputs.columns == ("1", "2")
    names = [set(part.X.columns["0"].flat) for part in (parts.train, parts.held_out)]
    assert not names[0] & names[1]


def test_repeated_sentences_are_not_held_out():
    text = conll(30)
    data = read((text + text).encode())
    parts, inputs, remarks = make_parts(data, Stratified(), TAGGING, (), 0)
    train, held_out = (set(row_keys(inputs.take(part))) for part in (parts.train, parts.held_out))
    assert held_out
    assert not train & held_out
    assert "are not held out but learned from" in remarks[0]
    assert len(parts.train) + len(parts.held_out) + parts.test.n_rows == 60


def test_further_columns_are_left_out_where_they_do_not_help():
    """The shape of unseen words tells the label, a column of chance does not."""
    random = np.random.default_rng(0)
    letters = np.array(list("bcdfghklmnprst"))

    def line():
        word = "".join(random.choice(letters, 6))
        is_name = random.random() < 0.3
        chance = random.choice(["x", "y"])
        return f"{word.title() if is_name else word} {chance} {'B-N' if is_name else 'O'}"

    data = read("\n".join(line() if n % 6 else "" for n in range(600)).encode(), "conll")
    train, held_out = data.take(range(60)), data.take(range(60, len(data)))
    chosen = choose_templates(
        "auto", Inputs.of(data), train, held_out, all_metrics()["chunk_f1"], math.inf
    )
    assert chosen.inputs.columns == ("0",)
    assert (chosen.templates.spec, chosen.templates.padding) == ("ner", "mark")
    assert "with column 1 " in chosen.describe()


@pytest.mark.parametrize("classes", [False, True], ids=["entries", "classes"])
def test_a_dictionary_is_taken_where_it_helps(classes):
    """Only the dictionary tells names that were never seen."""
    random = np.random.default_rng(0)
    words = ["".join(random.choice(list("bcdfgaeiou"), 8)) for _ in range(900)]
    names = set(words[::3])
    lines = [f"{word} {'B-N' if word in names else 'O'}" for word in words]
    blocks = ["\n".join(lines[n : n + 5]) for n in range(0, len(lines), 5)]
    data = read("\n\n".join(blocks).encode(), "conll")
    train, held_out = data.take(range(60)), data.take(range(60, len(data)))
    known = {word: "01" if word in names else "11" for word in words} if classes else sorted(names)
    given = Templates("auto", dictionaries={"known": known})
    metric = all_metrics()["chunk_f1"]
    chosen = choose_templates(given, Inputs.of(data), train, held_out, metric, math.inf)
    assert "pos with known" in chosen.describe()
    assert ("cluster(" if classes else "listed(") in chosen.templates.spec
    assert list(chosen.templates.dictionaries) == ["known"]
    with pytest.raises(ParameterError, match="chosen by an Experiment"):
        given.fit(data.X)


def test_the_rule_of_templates_is_told():
    chosen = choose_templates(
        "auto", Inputs.of(DATA), DATA, DATA, all_metrics()["chunk_f1"], math.inf
    )
    assert "later ones are taken where they save 2 % of the mistakes" in chosen.describe()


def test_a_previous_tagger_takes_part(result):
    crf = Experiment(DATA, learners=[], previous=result.model).run()
    assert crf.leaderboard[0].learner == "previous_model"
    words = Experiment(DATA, learners=["crf"], templates="word", previous=result.model).run()
    assert words.inputs.columns == ("0",)
    assert words.champion.learner == "previous_model"  # it reads the parts of speech too
    with pytest.raises(ParameterError, match="another task"):
        Experiment(DATA, learners=[], previous=LogisticRegression()).run()


def test_a_column_that_tells_the_label_and_duplicates_are_found():
    text = "\n".join(
        f"{line} {line.split()[-1]}" if line else "" for line in conll(40).splitlines()
    )
    data = read(text.encode(), names=["word", "pos", "hint", "chunk"])
    found = Experiment(
        data, learners=["crf"], split=Given(data.take(range(8))), templates="word\nhint"
    ).run()
    kinds = {one.kind: one.message for one in part(found, Findings).findings}
    assert "8 of 8 test sequences (100.0 %)" in kinds["duplicates"]
    assert "column 'hint' alone predicts the label of 100.0 %" in kinds["leak suspect"]


def test_labels_that_only_the_test_has_are_remarked_upon():
    test = read(b"the DT B-NP\ncat NN I-NP\nwell UH B-INTJ\n\nsees VB B-VP\n")
    found = Experiment(DATA, learners=["crf"], champion="crf", split=Given(test)).run()
    assert any("1 of the test tokens have labels that no train sequence has (B-INTJ)" in note
               for note in found.notes)  # fmt: skip
    worst = part(found, Sentences)
    assert worst.sentences[0].log_probability == -math.inf


@pytest.mark.parametrize(
    ("data", "options", "error", "words"),
    [
        (DATA, {"cost": [[0, 1], [1, 0]]}, ParameterError, "costs are for classes"),
        (DATA, {"metric": "accuracy"}, ParameterError, "accuracy scores classes"),
        (DATA, {"task": "regression"}, ParameterError, "their task is tagging"),
        (DATA, {"calibration": "sigmoid"}, ParameterError, "sigmoid calibration is for classes"),
        (DATA, {"learners": ["mira"]}, ParameterError, "this one is tagging"),
        (DATA, {"drop": ["pos"]}, ParameterError, "pos"),
        (read(b"a DT X\nb NN X\n\nc NN X\n"), {}, DataError, "all tokens have the same label, 'X'"),
        (read(b"a\tDT\tX\nb\tNN\t\n\nc\tNN\tY\n"), {}, DataError,
         "token 1 of sequence 0 .* has no label in '2'"),
        (read(b"the\n\ncat\n", "conll"), {}, DataError, "tokens have one column"),
        (read(b"a DT X\nb NN Y\n", "conll"), {}, DataError, "1 sequences are too few"),
        (read(conll().encode(), target=1), {"metric": "chunk_f1"}, ParameterError,
         "chunk_f1 needs labels such as B-NP"),
        ((np.eye(20), ["a", "b"] * 10), {"task": "tagging"}, ParameterError, "tagging needs"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_is_said(data, options, error, words):
    with pytest.raises(error, match=words):
        Experiment(data, **{"learners": [], **options}).run()


def test_a_test_file_of_other_labels_is_refused():
    strange = read(b"the DT X\ncat NN Y\n\nsees VB Z\n")
    with pytest.raises(DataError, match=r"none of the labels of the test .* right target"):
        Experiment(DATA, split=Given(strange)).run()


def test_attributes_are_taken_as_they_are():
    lines = ["D\tw=the", "N\tw=cat", "", "D\tw=a", "N\tw=dog", "V\tw=sat", ""]
    data = read(("\n".join(lines * 10)).encode(), "crfsuite")
    found = Experiment(data, learners=["crf"]).run()
    assert [row.learner for row in found.leaderboard] == ["crf", "majority_label"]
    assert found.test_score == 1.0
    assert (found.inputs.kind, found.model.predict(data.X[:1])) == ("attributes", [["D", "N"]])
    with pytest.raises(ParameterError, match="attributes are taken as they are"):
        Experiment(data, templates="pos").run()


def test_the_budget_is_kept():
    found = Experiment(read(conll(400).encode()), budget=0.5).run()
    assert found.seconds < 5
    assert len(found.leaderboard) >= 2


def test_a_learner_alone_takes_sequences():
    """A model saved without a summary is still known to take sequences."""
    rows = Templates("pos").fit_transform(DATA.X)
    model = CRF().fit(rows, DATA.y)
    assert Inputs.of_model(model).kind == "attributes"


@pytest.mark.data("conll2000")
def test_a_slice_of_conll2000(data_dir):
    folder = data_dir / "conll2000"
    train = read(folder / "train.txt.gz").take(range(400))
    test = read(folder / "test.txt.gz").take(range(150))
    found = Experiment(train, split=Given(test)).run()
    assert found.metric.name == "chunk_f1"
    assert found.champion.learner in ("crf", "structured_perceptron", "structured_svm")
    assert found.test_score > 0.85
    assert found.leaderboard[-2].learner == "label_per_word"


def test_outside_is_shifted_where_more_chunks_are_worth_it():
    """A word that is a name two times in five is never one to Viterbi, but always to the F1."""
    random = np.random.default_rng(0)
    lines = []
    for _ in range(400):
        lines += ["the O", f"Rose {'B-PER' if random.random() < 0.4 else 'O'}", ""]
    data = read("\n".join(lines).encode(), "conll")
    options = {"learners": ["crf", "structured_svm"], "templates": "bias\nword"}
    result = Experiment(data, **options).run()
    told = next(note for note in result.notes if note.startswith("O scores"))
    assert "lower at every token, by the held-out chunk F1" in told
    assert result.champion.learner == "crf"  # Viterbi's labels would be level with a baseline
    assert result.champion.held_out == pytest.approx(float(told.split()[-1].rstrip(".")), abs=1e-4)
    assert result.test.scores[0].score > 0.45  # at chance .4 it is 2 (.4) / 1.4 = .57
    assert result.model.predict([["the", "Rose"]]) == [["O", "B-PER"]]
    by_token = Experiment(data, metric="token_accuracy", **options).run()
    assert not any(note.startswith("O scores") for note in by_token.notes)
    assert by_token.model.predict([["the", "Rose"]]) == [["O", "O"]]


def test_outside_stays_where_the_gain_is_noise(result):
    assert not any(note.startswith("O scores") for note in result.notes)
