"""The transformer: scikit-learn's rules, input of all forms, dictionaries, bad input, files."""

import pickle
import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import SkipTestWarning
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import check_estimator

from separatrix import LogisticRegression, _core, load, read, save
from separatrix.data import TokenColumn, TokenSequences
from separatrix.data.sequences.containers import AttributeSequences
from separatrix.errors import DataError, FormatError, NotFittedError, ParameterError
from separatrix.features.templates import (
    EncodedSequences,
    Templates,
    both,
    brown_clusters,
    column,
    preset,
    read_clusters,
    read_dictionary,
    transitions,
)

SENTENCES = [["the", "cat", "sat"], [], ["the", "Dog", "ran", "1999"]]


class TokenClassifier(BaseEstimator):
    """Each token by itself: what stands behind templates in a pipeline."""

    def fit(self, X, y):
        assert isinstance(X, EncodedSequences)
        self.model_ = LogisticRegression().fit(X.matrix, TokenColumn.of(y).flat)
        return self

    def score(self, X, y):
        return self.model_.score(X.matrix, TokenColumn.of(y).flat)


def tagged(n=60):
    random = np.random.default_rng(0)
    words = ["runs", "sits", "cat", "dog", "Paris", "Oslo"]
    draws = [random.integers(0, 6, size=random.integers(1, 7)).tolist() for _ in range(n)]
    X = [[words[i] for i in draw] for draw in draws]
    y = [["VVNNPP"[i] for i in draw] for draw in draws]
    return X, y


def test_scikit_learn_checks():
    with pytest.warns(SkipTestWarning, match="requires input"):  # the checks that need matrices
        check_estimator(Templates())


@pytest.mark.parametrize("as_columns", [False, True])
def test_search_over_templates_in_a_pipeline(as_columns):
    X, y = tagged()
    if as_columns:
        words = TokenColumn.of(X)
        X, y = TokenSequences({"word": words}, words.offsets), TokenColumn.of(y)
    model = make_pipeline(Templates("bias"), TokenClassifier())
    grid = {"templates__spec": ["bias", "suffix(word, 1)", [column("word")]]}
    search = GridSearchCV(model, grid, cv=KFold(3), error_score="raise").fit(X, y)
    assert search.best_params_["templates__spec"] == [column("word")]
    scores = search.cv_results_["mean_test_score"]
    assert scores[0] < scores[1] < scores[2] == 1
    assert cross_val_score(search.best_estimator_, X, y, cv=KFold(3)).tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    "spec", ["ner", [*preset("pos"), "word[-1]", column("word").lower()[1], transitions(column(0))]]
)
def test_clone_pickle_and_repr(spec, tmp_path):
    model = Templates(spec, min_count=1, padding="mark")
    assert clone(model).get_params() == model.get_params()
    assert repr(model).startswith("Templates(")
    expected = model.fit_transform(SENTENCES)
    save(model, tmp_path / "templates.sx")
    for again in (pickle.loads(pickle.dumps(model)), load(tmp_path / "templates.sx")):
        found = again.transform(SENTENCES)
        assert (found.matrix != expected.matrix).nnz == 0
        assert again.get_feature_names_out().tolist() == model.get_feature_names_out().tolist()
        np.testing.assert_array_equal(again.on_transitions_, model.on_transitions_)
        assert again.get_params() == model.get_params()
    assert pickle.loads(pickle.dumps(expected)).tolist() == expected.tolist()


def test_what_is_encoded():
    rows = Templates(["word", transitions(column("word")[-1]), both("word[1]" and column(0)[1])])
    rows = rows.fit_transform(SENTENCES)
    assert isinstance(rows, AttributeSequences)
    assert len(rows) == 3
    assert rows.lengths.dtype == np.int64
    assert rows.lengths.tolist() == [3, 0, 4]
    assert rows[1] == []
    assert rows[0][1] == {"word[0]=cat": 1.0, "transitions:word[-1]=the": 1.0, "both:0[1]=sat": 1.0}
    names = np.array(rows.vocabulary)
    assert [n.partition("=")[0] for n in names[rows.on_states & rows.on_transitions]] == [
        "both:0[1]"
    ] * 5
    assert all(name.startswith("word") for name in names[~rows.on_transitions])
    assert all(name.startswith("transitions") for name in names[~rows.on_states])
    taken = rows.take([2, 0])
    assert isinstance(taken, EncodedSequences)
    assert taken.tolist() == [rows[2], rows[0]]
    assert taken.vocabulary is rows.vocabulary


def test_state_and_transition_templates_of_the_same_value_are_apart():
    rows = Templates("word\ntransitions: word\ntransitions: bias\nbias").fit_transform([["a"]])
    assert sorted(rows.vocabulary) == ["bias", "transitions:word[0]=a", "word[0]=a"]
    assert rows.label_bigrams


def test_unseen_words_and_attributes_are_left_out():
    model = Templates("word\nword[-1] & word").fit([["a", "b"], ["b", "c"]])
    found = model.transform([["a", "c", "zzz", "b"], ["b", "c"]])
    # Both words of "a c" were seen, but never as a pair.
    assert [list(token) for token in found[0]] == [["word[0]=a"], ["word[0]=c"], [], ["word[0]=b"]]
    assert list(found[1][1]) == ["word[0]=c", "word[-1]|word[0]=b|c"]
    assert found.matrix.shape == (6, model.n_attributes_)


def test_empty_data_and_empty_sentences():
    for empty in ([], [[]], [[], []]):
        rows = Templates("pos").fit_transform(empty)
        assert rows.matrix.shape == (0, 0)
        assert rows.lengths.tolist() == [0] * len(empty)
    model = Templates("word").fit(SENTENCES)
    assert model.transform([[], []]).matrix.shape == (0, 6)


def test_one_sequence_more_or_less_changes_no_other_row():
    model = Templates("chunking", padding="mark")
    pairs = [[(word, word[:1]) for word in sentence] for sentence in SENTENCES]
    whole = model.fit_transform(pairs)
    alone = [model.transform([sentence])[0] for sentence in pairs]
    assert whole.tolist() == alone


def test_dictionaries():
    sentences = [["in", "New", "York", "City", "and", "new", "York"], ["New", "York"], ["York"]]
    entries = {"city": ["Oslo", "New York", ("New", "York", "City")], "low": ["new york"]}
    model = Templates("listed(word, city)\nlisted(lower(word), low)[0]", dictionaries=entries)
    rows = model.fit_transform(sentences)
    city = [[token.keys() for token in sentence] for sentence in rows]
    found = [
        ["".join(n[-1] for n in names if "city" in n) or "-" for names in sentence]
        for sentence in city
    ]
    assert found == [list("-BII---"), list("BI"), ["-"]]
    low = [["".join(n[-1] for n in names if "low" in n) or "-" for names in s] for s in city]
    assert low == [list("-BI--BI"), list("BI"), ["-"]]
    # An entry does not go on in the next sentence, and a dictionary without its words finds none.
    assert (
        Templates("listed(word, city)", dictionaries=entries)
        .fit_transform([["New"], ["York"]])
        .matrix.nnz
        == 0
    )
    again = pickle.loads(pickle.dumps(model)).transform(sentences)
    assert (again.matrix != rows.matrix).nnz == 0


@pytest.mark.parametrize(
    ("dictionaries", "message"),
    [
        (None, "there is no dictionary 'city' for listed(word, city); dictionaries has none"),
        ({"town": ["a"]}, "dictionaries has 'town'"),
        ({"city": "Oslo"}, "must be a list of entries"),
        ({"city": [3]}, "an entry of dictionary 'city' is 3"),
        ({"city": ["  "]}, "is empty"),
        (["Oslo"], "must map names to entries"),
    ],
)
def test_wrong_dictionaries(dictionaries, message):
    with pytest.raises(ParameterError, match=re.escape(message)):
        Templates("listed(word, city)", dictionaries=dictionaries).fit(SENTENCES)


def test_columns_by_name_role_and_position():
    form = TokenColumn.of([["a"]])
    pos = TokenColumn.of([["N"]])

    def names(spec, **columns):
        sequences = TokenSequences(columns, form.offsets)
        return Templates([spec]).fit(sequences).get_feature_names_out().tolist()

    assert names("word", id=pos, form=form) == ["word[0]=a"]
    assert names("word", first=form, second=pos) == ["word[0]=a"]
    assert names("pos", word=form, xpos=pos) == ["pos[0]=N"]
    assert names("pos", a=form, b=pos) == ["pos[0]=N"]
    assert names("1", a=form, b=pos) == ["1[0]=N"]
    assert names("1", **{"0": form, "1": form, "2": pos}) == ["1[0]=a"]
    assert names("b", a=form, b=pos) == ["b[0]=N"]
    with pytest.raises(
        DataError, match="no column 'c' for the templates; the tokens have 'a', 'b'"
    ):
        names("c", a=form, b=pos)


def test_conll_u_finds_the_form(tmp_path):
    path = tmp_path / "x.conllu"
    path.write_text("1\tDogs\tdog\tNOUN\tNNS\t_\t0\troot\t_\t_\n\n", encoding="utf-8")
    data = read(path)
    found = Templates("word\npos").fit_transform(data.X)
    assert list(found[0][0]) == ["word[0]=Dogs", "pos[0]=NNS"]


def test_dicts_may_lack_a_column():
    rows = Templates("word\ncap").fit_transform([[{"word": "a", "cap": True}, {"word": "b"}]])
    assert [list(token) for token in rows[0]] == [["word[0]=a", "cap[0]=True"], ["word[0]=b"]]


@pytest.mark.parametrize(
    ("X", "message"),
    [
        ("the cat", "expected sequences of tokens"),
        (3, "expected sequences of tokens"),
        (["the", "cat"], "sequence 0 is 'the', not a list of tokens; for one sequence give [X]"),
        ([["a"], [("b", "N")]], "token 0 of sequence 1 is ('b', 'N')"),
        ([[("a", "N"), ("b",)]], "token 1 of sequence 0 has 1 columns, the first has 2"),
        ([["a", 3]], "token 1 of sequence 0 is 3"),
        ([[3.5]], "token 0 of sequence 0 is 3.5"),
        ([[("a",), ({},)]], "column '0' of token 1 of sequence 0 is {}; expected a string"),
        ([["a", "\ud800"]], "lone surrogate"),
    ],
)
def test_bad_input_names_the_token(X, message):
    with pytest.raises(DataError, match=re.escape(message)):
        Templates(["word"]).fit(X)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"min_count": 0}, "min_count must be a number from 1 on"),
        ({"min_count": 1.5}, "min_count"),
        ({"hashing": 0}, "hashing must be None or in 1"),
        ({"hashing": 8, "min_count": 2}, "with hashing none are learned"),
        ({"hashing": 8, "spec": "transitions: word"}, "pairs of labels need hashing=None"),
        ({"padding": "zero"}, "padding"),
        ({"syntax": "mallet"}, "syntax"),
        ({"syntax": "crfpp", "spec": [column(0)]}, "spec must be the template text"),
    ],
)
def test_wrong_parameters(options, message):
    with pytest.raises(ParameterError, match=message):
        Templates(**{"spec": "word", **options}).fit(SENTENCES)


def test_nothing_before_fit():
    with pytest.raises(NotFittedError):
        Templates("word").transform(SENTENCES)
    hashed = Templates("word", hashing=4)
    assert hashed.transform(SENTENCES).matrix.shape == (7, 4)
    assert hashed.get_feature_names_out().tolist() == ["hash0", "hash1", "hash2", "hash3"]


def test_a_failed_fit_leaves_the_old_model():
    model = Templates("word").fit(SENTENCES)
    names = model.get_feature_names_out().tolist()
    with pytest.raises(FormatError):
        model.set_params(spec="word[").fit(SENTENCES)
    assert model.get_feature_names_out().tolist() == names


def test_a_damaged_state_is_refused():
    model = Templates("word\nword[-1] & word").fit(SENTENCES)._model
    state = model.__getstate__()
    plan, learned = model.compiled.handle, state["learned"]
    spaces = [(data.tobytes(), starts) for data, starts in learned["spaces"]]
    keys = learned["keys"]
    _core.TemplateIndex(plan, spaces, keys)
    far = [[np.array([2**62], dtype=np.uint64)], keys[1]]
    twice = [[np.array([1, 1], dtype=np.uint64)], keys[1]]
    broken = [
        (spaces, far),
        (spaces, twice),
        (spaces, keys[:1]),
        (spaces, [[], keys[1]]),
        ([], keys),
        ([(b"aa", np.array([0, 1, 2]))], keys),
        ([(b"a", np.array([0, 5]))], keys),
        ([(b"\xff", np.array([0, 1]))], keys),
    ]
    for spaces_, keys_ in broken:
        with pytest.raises(DataError):
            _core.TemplateIndex(plan, spaces_, keys_)


@pytest.mark.data("conll2000")
def test_the_chunking_template_has_the_published_parameters(data_dir):
    data = read(data_dir / "conll2000" / "train.txt.gz")
    rows = Templates("chunking").fit_transform(data.X)
    labels, n_labels = data.y.codes.astype(np.int64), len(data.y.vocabulary)
    matrix = rows.matrix
    pairs = np.unique(
        matrix.indices * np.int64(n_labels) + np.repeat(labels, np.diff(matrix.indptr))
    )
    inside = np.ones(len(labels), dtype=bool)
    inside[data.X.offsets[:-1]] = False
    followed = np.unique((np.roll(labels, 1) * n_labels + labels)[inside])
    # performance.md: 452,760 weights over observed features.
    assert (len(pairs), len(followed)) == (452_615, 145)


def test_classes_of_words_are_values():
    templates = Templates(
        "cluster(lower(word), brown)\nprefix(cluster(lower(word), brown), 2)[-1]",
        dictionaries={"brown": {"cat": "0110", "dog": "0111", "runs": "1"}},
    )
    rows = templates.fit_transform([["Cat", "runs", "far"], ["dog"]])
    assert list(rows[0][1]) == [
        "cluster(lower(word), brown)[0]=1",
        "prefix(cluster(lower(word), brown), 2)[-1]=01",
    ]
    assert (rows[0][2], len(rows[1][0])) == ({}, 1)
    again = pickle.loads(pickle.dumps(templates))
    assert again.transform([["DOG"]])[0] == rows[1]


@pytest.mark.parametrize(
    ("line", "dictionaries", "message"),
    [
        ("cluster(word, brown)", None, "there is no dictionary 'brown'"),
        ("cluster(word, brown)", {"brown": ["cat"]}, "holds entries"),
        ("listed(word, brown)", {"brown": {"cat": "0"}}, "classes of words: use cluster"),
        ("cluster(word, brown)", {"brown": {"cat": 1}}, "must map words to classes, both str"),
    ],
)
def test_dictionaries_must_suit_their_maps(line, dictionaries, message):
    with pytest.raises(ParameterError, match=message):
        Templates(line, dictionaries=dictionaries).fit([["cat"]])


def test_brown_clusters_find_what_stands_in_the_same_places():
    random = np.random.default_rng(0)
    kinds = [[f"{kind}{n}" for n in range(5)] for kind in ("noun", "verb", "place")]
    text = [[str(random.choice(words)) for words in kinds] for _ in range(300)]
    paths = brown_clusters(text, 6)
    found = [{paths[word] for word in words} for words in kinds]
    assert len(set().union(*found)) == sum(map(len, found)) == 6  # no class has words of two kinds
    assert set("".join(paths.values())) == {"0", "1"}
    assert paths == brown_clusters(iter(text), 6)
    assert set(brown_clusters([["a", "b", "a"], ["c"]], 2, min_count=2)) == {"a"}
    assert brown_clusters([], 2) == {}
    for wrong in ({"n_classes": 0}, {"n_classes": 1 << 20}, {"min_count": 0}):
        with pytest.raises((ParameterError, DataError)):
            brown_clusters(text, **wrong)


def test_dictionaries_are_read_from_files(tmp_path):
    file = tmp_path / "cities.txt"
    file.write_text("Oslo\n\n New York \n", encoding="utf-8")
    assert read_dictionary(file) == ["Oslo", "New York"]
    file.write_text("0110\tcat\t12\n1\truns\n", encoding="utf-8")
    assert read_clusters(file) == {"cat": "0110", "runs": "1"}
    file.write_text("0110\tcat\nruns\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"cities\.txt:2: expected a class, a tab and a word"):
        read_clusters(file)
    file.write_text("\n", encoding="utf-8")
    for reader in (read_clusters, read_dictionary):
        with pytest.raises(FormatError, match=r"cities\.txt"):
            reader(file)
