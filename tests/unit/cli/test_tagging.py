"""The commands on sequences: from a CoNLL file to a tagger, and what it does with other files."""

from __future__ import annotations

import gzip
import json
import re

import pytest
from tests.unit.experiment.problems import conll

from separatrix import CRF, Templates, load, save
from separatrix.data import read
from separatrix.metrics import chunk_f1, sequence_accuracy, token_accuracy

ONE = (
    "the DT B-NP\nold JJ I-NP\ncat1 NN I-NP\nsees VB B-VP\nred JJ B-NP\ndog2 NN I-NP\n"
    "idea3 NN B-NP\n. . O\n\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files and taggers: of words and parts of speech, and of words alone."""
    folder = tmp_path_factory.mktemp("tagging")
    (folder / "train.conll").write_text(conll(100), encoding="utf-8")
    (folder / "test.conll").write_text(conll(30, seed=1), encoding="utf-8")
    (folder / "plain.data").write_text(conll(20, seed=2), encoding="utf-8")
    (folder / "one.conll").write_text(ONE, encoding="utf-8")
    (folder / "unlabeled.conll").write_text(
        re.sub(r" \S+$", "", ONE, flags=re.MULTILINE), encoding="utf-8"
    )
    (folder / "raw.txt").write_text(
        "the old cat1 sees the dog2 .\n\nevery idea3 likes a river .\n", encoding="utf-8"
    )
    return folder


@pytest.fixture(scope="module")
def taggers(folder):
    from separatrix.cli.app import main

    made = {"chunks": "chunking", "words": "ner"}
    for name, templates in made.items():
        code = main([
            "train", str(folder / "train.conll"), "--learner", "crf", "--templates", templates,
            "--test", str(folder / "test.conll"), "--save", str(folder / f"{name}.sx"), "--quiet",
        ])  # fmt: skip
        assert code == 0
    return {name: folder / f"{name}.sx" for name in made}


def test_compare_finds_the_task_and_saves_a_champion(run, folder, tmp_path):
    out = tmp_path / "tagger.sx"
    report = tmp_path / "report.html"
    # A sentence that is labeled wrong: there is no interval where everything is right.
    test = tmp_path / "test.conll"
    test.write_text(conll(29, seed=1, extra="the DT O\ncat1 NN O\n. . O\n\n"), encoding="utf-8")
    done = run(
        "compare", folder / "train.conll", "--test", test, "--save", out, "--report", report,
    )  # fmt: skip
    assert done.code == 0, done.err
    assert "Task: tagging ('2' holds 4 labels of tokens), decided by chunk F1." in done.out
    assert "30 test sequences" in done.out
    for name in ("majority_label", "label_per_word", "structured_perceptron", "crf"):
        assert name in done.out
    assert re.search(
        r"chunk F1 [01]\.\d+ \([01]\.\d+ to [01]\.\d+: 95 % equal-tailed credible interval",
        done.out,
    )
    assert "the champion is better with probability" in done.out
    model, data = load(out), read(folder / "test.conll")
    assert chunk_f1(data.y, model.predict(data.X)) > 0.9
    page = report.read_text(encoding="utf-8")
    assert "Worst sequences" in page
    assert "Chunks per type" in page


def test_compare_by_content_and_as_json(run, folder):
    done = run(
        "compare", folder / "plain.data", "--learners", "structured_perceptron", "--json",
        "--metric", "token_accuracy", "--quiet",
    )  # fmt: skip
    found = json.loads(done.out)
    assert found["task"] == "tagging"
    assert found["metric"] == "token_accuracy"
    assert [row["learner"] for row in found["leaderboard"]] != []
    assert found["sizes"]["test"] == 4


def test_templates_of_crfpp(run, folder, tmp_path):
    template = tmp_path / "template"
    template.write_text("U00:%x[0,0]\nU01:%x[0,1]\nU02:%x[-1,1]/%x[0,1]\nB\n", encoding="utf-8")
    out = tmp_path / "t.sx"
    done = run(
        "train", folder / "train.conll", "--learner", "crf", "--templates", template,
        "--save", out, "--quiet",
    )  # fmt: skip
    assert done.code == 0, done.err
    assert load(out)[0].syntax == "crfpp"
    template.write_text("U00:%x[0,0\n", encoding="utf-8")
    done = run("compare", folder / "train.conll", "--templates", template)
    assert done.code == 1
    assert f"error: {template}:1" in done.err


def test_dictionaries_and_clusters(run, folder, tmp_path):
    """From raw text to classes of words, and from there to a tagger that reads them."""
    text, paths = tmp_path / "text.txt", tmp_path / "brown.txt"
    text.write_text("the cat sleeps\nthe Dog sleeps\n" * 9, encoding="utf-8")
    done = run("clusters", text, "--classes", "3", "--out", paths)
    assert (done.code, done.out) == (0, "")
    assert "4 words in 3 classes" in done.err
    printed = run("clusters", text, "--classes", "3", "--lower").out
    assert printed == paths.read_text(encoding="utf-8").replace("Dog", "dog")
    assert run("clusters", text, "--min-count", "30").code == 1
    cities = tmp_path / "cities.txt"
    cities.write_text("cat1\ndog2\n", encoding="utf-8")
    given = ("--dictionary", f"cities={cities}", "--clusters", paths)
    out = tmp_path / "t.sx"
    for templates in ("ner", "auto"):
        done = run(
            "train", folder / "train.conll", "--learner", "crf", "--templates", templates, *given,
            "--save", out, "--quiet",
        )  # fmt: skip
        assert done.code == 0, done.err
    own = tmp_path / "templates"
    own.write_text("word\nlisted(word, cities)[-3]\n", encoding="utf-8")
    done = run(
        "train", folder / "train.conll", "--learner", "crf", "--templates", own, *given,
        "--save", out, "--quiet",
    )  # fmt: skip
    assert done.code == 0, done.err
    model = load(out)
    assert model[0].spec.count("listed(") == 1
    assert "cluster(word, brown)[-1..1]" in model[0].spec
    assert run("predict", out, folder / "one.conll").code == 0
    for wrong, message in (
        (("--dictionary", "cities"), "takes NAME=FILE"),
        (("--dictionary", f"cities={tmp_path}/none"), "no such file"),
        (("--clusters", cities), "expected a class, a tab and a word"),
    ):
        done = run("compare", folder / "train.conll", *wrong)
        assert done.code != 0
        assert message in done.err


def test_predict_adds_a_column(run, folder, taggers):
    done = run("predict", taggers["chunks"], folder / "one.conll")
    assert (done.code, done.err) == (0, "")
    lines = done.out.splitlines()
    assert [line.rsplit(" ", 1)[0] for line in lines if line] == ONE.split("\n")[:8]
    assert [line.rsplit(" ", 1)[1] for line in lines if line] == [
        "B-NP", "I-NP", "I-NP", "B-VP", "B-NP", "I-NP", "B-NP", "O",
    ]  # fmt: skip
    assert lines[8] == ""


def test_predict_needs_no_labels(run, folder, taggers):
    labeled = run("predict", taggers["chunks"], folder / "one.conll")
    bare = run("predict", taggers["chunks"], folder / "unlabeled.conll", "--input-format", "conll")
    assert [line.split()[-1:] for line in bare.out.splitlines()] == [
        line.split()[-1:] for line in labeled.out.splitlines()
    ]
    assert bare.out.splitlines()[0] == "the DT B-NP"


def test_predict_takes_lines_of_text_where_words_are_enough(run, folder, taggers, tmp_path):
    done = run("predict", taggers["words"], folder / "raw.txt")
    assert done.code == 0, done.err
    assert [line.split()[0] for line in done.out.splitlines() if line] == (
        (folder / "raw.txt").read_text(encoding="utf-8").split()
    )
    assert done.out.splitlines()[0] == "the B-NP"
    done = run("predict", taggers["chunks"], folder / "raw.txt")
    assert done.code == 1
    assert "the model needs the columns '0', '1' of every token, one token a line" in done.err
    packed = tmp_path / "raw.txt.gz"
    packed.write_bytes(gzip.compress((folder / "raw.txt").read_bytes()))
    assert run("predict", taggers["words"], packed).out.startswith("the B-NP\n")
    even = tmp_path / "even"
    even.write_text("the old cat1\nevery dog2 sees\n", encoding="utf-8")
    done = run("predict", taggers["words"], even)
    assert done.code == 1
    assert "give --input-format conll or lines" in done.err
    assert run("predict", taggers["words"], even, "--input-format", "lines").code == 0


@pytest.mark.parametrize("sentence", ["EU rejects German call to boycott", "the", "a b c d"])
def test_a_sentence_in_one_line_is_no_token_of_many_columns(run, taggers, sentence, tmp_path):
    path = tmp_path / "sentence"
    path.write_text(sentence + "\n", encoding="utf-8")
    for options in ((), ("--input-format", "conll")):
        done = run("predict", taggers["chunks"], path, *options)
        assert (done.code, done.out) == (1, "")
        assert "needs the columns '0', '1'" in done.err
        assert "one token a line" in done.err
    assert run("predict", taggers["words"], path, "--input-format", "lines").code == 0


@pytest.mark.parametrize("sentence", ["cats sleep", "cats sleep well"])
def test_one_line_is_a_token_only_where_that_is_said(run, taggers, sentence, tmp_path):
    path = tmp_path / "sentence"
    path.write_text(sentence + "\n", encoding="utf-8")
    done = run("predict", taggers["chunks"], path)
    assert (done.code, done.out) == (1, "")
    assert "needs the columns '0', '1'" in done.err
    assert run("predict", taggers["chunks"], path, "--input-format", "conll").code == 0


def test_predictions_for_conllu_are_conllu(run, tmp_path):
    rows = [
        f"# sent_id = {n}\n1-2\tdunno\t_\t_\t_\t_\t_\t_\t_\t_\n1\tthe\t_\tDET\t_\t_\t0\t_\t_\t_\n"
        f"2\t{noun}\t_\tNOUN\t_\t_\t0\t_\t_\t_\n2.1\tx\t_\t_\t_\t_\t_\t_\t_\t_\n\n"
        for n, noun in enumerate(["cat", "dog", "cow", "owl", "bee", "fox"] * 5)
    ]
    train = tmp_path / "train.conllu"
    train.write_text("".join(rows), encoding="utf-8")
    model = tmp_path / "t.sx"
    done = run("train", train, "--learner", "crf", "--save", model, "--quiet")
    assert done.code == 0, done.err
    raw = tmp_path / "raw.conllu"
    raw.write_text("".join(rows).replace("NOUN", "_").replace("DET", "_"), encoding="utf-8")
    assert run("predict", model, raw).out == "".join(rows)


def test_predict_as_a_table_and_with_probabilities(run, folder, taggers, tmp_path):
    done = run("predict", taggers["chunks"], folder / "one.conll", "--format", "csv")
    assert done.out.splitlines()[:2] == ["sequence,0,1,2,prediction", "1,the,DT,B-NP,B-NP"]
    done = run("predict", taggers["chunks"], folder / "one.conll", "--jsonl", "--proba")
    record = json.loads(done.out.splitlines()[0])
    assert sum(record[f"P({label})"] for label in ("B-NP", "B-VP", "I-NP", "O")) == pytest.approx(1)
    done = run("predict", taggers["chunks"], folder / "one.conll", "--proba")
    share = float(done.out.split()[4])
    assert share == pytest.approx(record["P(B-NP)"], abs=1e-4)
    out = tmp_path / "tagged.conll"
    done = run("predict", taggers["chunks"], folder / "test.conll", "--out", out)
    assert "30 predictions" in done.err
    assert read(out).X.names == ("0", "1", "2")


def test_evaluate_counts_as_the_library_does(run, folder, taggers):
    done = run("evaluate", taggers["chunks"], folder / "test.conll", "--json")
    found = json.loads(done.out)
    data, model = read(folder / "test.conll"), load(taggers["chunks"])
    said = model.predict(data.X)
    assert found["chunk_f1"] == pytest.approx(chunk_f1(data.y, said))
    assert found["token_accuracy"] == pytest.approx(token_accuracy(data.y, said))
    assert found["sequence_accuracy"] == pytest.approx(sequence_accuracy(data.y, said))
    assert [row["type"] for row in found["chunks"]] == ["NP", "VP"]
    text = run("evaluate", taggers["chunks"], folder / "test.conll").out
    assert "30 sequences" in text
    assert "overall" in text
    rows = run("evaluate", taggers["chunks"], folder / "test.conll", "--format", "csv").out
    assert rows.splitlines()[0] == "type,precision,recall,F1,chunks"
    done = run("evaluate", taggers["chunks"], folder / "one.conll", "--target", "1")
    assert done.code == 0
    assert "labels that the model does not know, counted as mistakes: ., DT, JJ" in done.out


def test_explain_prints_the_trellis(run, folder, taggers):
    done = run("explain", taggers["words"], "the old cat1 sees")
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert re.split(r"\s{2,}", lines[0]) == [
        "token", "label", "probability", "second path", "weights behind the label",
    ]  # fmt: skip
    assert [line.split()[:2] for line in lines[1:5]] == [
        ["the", "B-NP"], ["old", "I-NP"], ["cat1", "I-NP"], ["sees", "B-VP"],
    ]  # fmt: skip
    assert lines[-1].startswith("best path: score ")
    done = run("explain", taggers["chunks"], folder / "test.conll", "--row", "2", "--json")
    record = json.loads(done.out)
    words = read(folder / "test.conll").X.columns["0"][1]
    assert [token["token"] for token in record["tokens"]] == words
    assert all(len(token["weights"]) <= 3 for token in record["tokens"])
    done = run("explain", taggers["chunks"], folder / "test.conll", "--format", "jsonl")
    assert len(done.out.splitlines()) == 30
    done = run("explain", taggers["chunks"], "the old cat1")
    assert done.code == 2
    assert "needs the columns '0', '1' of every token: give a CoNLL file" in done.err
    done = run("explain", taggers["chunks"], folder / "one.conll", "--row", "9")
    assert done.code == 2


def test_inspect_shows_transitions_and_labels(run, taggers):
    text = run("inspect", taggers["chunks"]).out
    assert "transition weights" in text
    assert "weights for B-NP against other labels" in text
    assert "step 1: Templates(spec='chunking')" in text
    found = json.loads(run("inspect", taggers["chunks"], "--json", "--top", "2").out)
    assert found["training"]["task"] == "tagging"
    assert len(found["weights"]) == 5


def test_a_tagger_saved_by_hand(run, folder, tmp_path):
    from sklearn.pipeline import make_pipeline

    data = read(folder / "train.conll")
    path = tmp_path / "own.sx"
    save(make_pipeline(Templates("chunking"), CRF()).fit(data.X, data.y), path)
    done = run("predict", path, folder / "one.conll")
    assert done.out.splitlines()[0] == "the DT B-NP B-NP"
    assert run("evaluate", path, folder / "test.conll").code == 0


@pytest.mark.parametrize(
    ("text", "words", "message"),
    [
        ("a DT X\nb NN\n\nc NN Y\n", [], r":2: "),
        ("a\n\nb\n", ["--input-format", "conll"], "tokens have one column"),
        ("a\tDT\tX\nb\tNN\t\n\nc\tDT\tY\n", [], "token 1 of sequence 0 .* has no label"),
        ("a DT X\nb NN X\n\nc DT X\n", [], "all tokens have the same label"),
    ],
)
def test_bad_training_files(run, tmp_path, text, words, message):
    path = tmp_path / "bad.conll"
    path.write_text(text, encoding="utf-8")
    done = run("compare", path, *words)
    assert done.code == 1
    assert re.search(rf"error: .*{message}", done.err), done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--cost", "train.conll"], 2, "costs are for classes, but this is a tagging"),
        (["--metric", "rmse"], 2, "rmse scores quantities, but the target holds labels of tokens"),
        (["--calibration", "isotonic"], 2, "isotonic calibration is for classes"),
        (["--learners", "linear_svm"], 2, "this one is tagging"),
        (["--templates", "nothing"], 2, "chunking, pos, ner or a file, and there is no file"),
        (["--target", "7"], 2, "--target"),
        (["--task", "binary"], 2, "their task is tagging"),
    ],
)
def test_what_cannot_be_asked_of_sequences(run, folder, monkeypatch, words, code, message):
    monkeypatch.chdir(folder)
    done = run("compare", "train.conll", *words)
    assert done.code == code
    assert message in done.err


def test_templates_are_for_sequences_only(run):
    done = run("compare", "iris", "--templates", "pos")
    assert done.code == 2
    assert "templates are for sequences" in done.err


def test_test_files_that_do_not_fit(run, folder, tmp_path):
    short = tmp_path / "short.conll"
    short.write_text("the DT\ncat1 NN\n\nsees VB\n", encoding="utf-8")
    done = run("compare", folder / "train.conll", "--test", short)
    assert done.code in (1, 2)
    assert "'2'" in done.err
    strange = tmp_path / "strange.conll"
    strange.write_text("the DT X\ncat1 NN Y\n\nsees VB Z\n", encoding="utf-8")
    done = run("compare", folder / "train.conll", "--test", strange)
    assert done.code == 1
    assert f"{strange}: none of the labels" in done.err
    partly = tmp_path / "partly.conll"
    partly.write_text(ONE + "well UH B-INTJ\n\n", encoding="utf-8")
    done = run("compare", folder / "train.conll", "--test", partly, "-l", "crf")
    assert done.code == 0
    assert "1 of the test tokens have labels that no train sequence has (B-INTJ)" in done.out


def test_budget(run, folder):
    done = run("compare", folder / "train.conll", "--budget", "1s", "--quiet")
    assert done.code == 0
    assert "Champion" in done.out


def test_segments_are_learned_from_the_command_line(run, folder, tmp_path):
    model = tmp_path / "segments.sx"
    done = run(
        "train", folder / "train.conll", "--learner", "segment_crf", "--templates", "chunking",
        "--test", folder / "test.conll", "--save", model,
    )  # fmt: skip
    assert done.code == 0, done.err
    saved = load(model)
    test = read(folder / "test.conll")
    assert chunk_f1(test.y, saved.predict(test.X)) > 0.9
    done = run("predict", model, folder / "one.conll")
    assert done.code == 0, done.err
    done = run("evaluate", model, folder / "test.conll")
    assert done.code == 0, done.err
    assert "overall    100.00%" in done.out
