"""Word prediction and the reverse dictionary: rows and labels as described."""

import numpy as np
from benchmarks.wordnet import path_to_top, read_nouns
from benchmarks.words import word_prediction

LICENCE = "  1 This software and database is being provided to you\n"
LINES = (
    "00000100 03 n 01 entity 0 001 ~ 00000200 n 0000 | that which exists  \n"
    '00000200 03 n 02 animal 0 living_thing 1 001 @ 00000100 n 0000 | a living thing; "an ape"  \n'
    "00000300 05 n 01 dog 0 002 @ 00000200 n 0000 ~ 00000400 n 0000 | it barks  \n"
)


def test_words_are_predicted_from_the_words_around_them():
    texts = ["One two three four five six."] * 30 + ["Alone"]
    X_train, y_train, _, y_test = word_prediction(texts).data
    words = word_prediction(texts).words
    assert words.tolist() == ["five", "four", "one", "six", "three", "two"]  # "alone" is rare
    assert len(y_train) + len(y_test) == 180
    assert len(y_test) == 7  # every 28th
    number = {word: k for k, word in enumerate(words.tolist())}
    row = X_train[np.flatnonzero(y_train == number["one"])[0]]
    around = {words[j] for j in row.indices}
    assert around == {"two", "three", "four", "five"}  # not itself, not further than four
    np.testing.assert_allclose(row.data, 0.5)  # of length one


def test_a_class_has_at_most_forty_rows():
    _, y_train, _, y_test = word_prediction(["a b"] * 100).data
    assert np.bincount(np.concatenate([y_train, y_test])).tolist() == [40, 40]


def test_nouns_of_wordnet(tmp_path):
    (tmp_path / "data.noun").write_text(LICENCE + LINES, encoding="utf-8")
    synsets = read_nouns(tmp_path)
    assert list(synsets) == ["00000100", "00000200", "00000300"]
    assert synsets["00000200"].names == ("animal", "living thing")
    assert synsets["00000200"].gloss == "a living thing"
    assert synsets["00000300"].parents == ("00000200",)
    assert path_to_top(synsets, "00000300") == ["00000200", "00000100"]
