"""Whatever a file holds, a command ends with a result or with one sentence; never with a bug."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from separatrix.cli.app import main

MARKS = st.sampled_from([b'"', b"\n", b",", b"\t"])
ENDS = st.sampled_from([".csv", ".tsv", ".jsonl", ".svm", ".parquet", ".conll", ".txt", ".idx", ""])


@pytest.mark.parametrize("command", ["predict", "evaluate"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_mutated_files(home, tmp_path, capfd, command, data):
    seed = (home / "people.csv").read_bytes()[:300]
    content = bytearray(data.draw(st.sampled_from([seed, b'{"age": 1, "city": "x"}\n', b""])))
    for _ in range(data.draw(st.integers(0, 6))):
        at = data.draw(st.integers(0, len(content)))
        new = data.draw(
            st.one_of(st.binary(max_size=4), st.sampled_from([b'"', b"\n", b",", b"\t"]))
        )
        content[at : at + data.draw(st.integers(0, 4))] = new
    file = tmp_path / f"file{data.draw(ENDS)}"
    file.write_bytes(content)
    code = main([command, str(home / "people.sx"), str(file)])
    out, err = capfd.readouterr()
    assert code in (0, 1, 2)
    assert "bug" not in err
    assert "Traceback" not in err
    if code:
        assert err.startswith("error: ")
        assert len(err.splitlines()) == 1
    else:
        assert out


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=40).filter(lambda text: text not in ("-", "") and "\0" not in text))
def test_any_words_are_explained(home, capfd, text):
    code = main(["explain", "--json", str(home / "mail.sx"), "--", text])
    out, err = capfd.readouterr()
    assert "bug" not in err
    assert "Traceback" not in err
    assert code in (0, 1)
    assert out if code == 0 else err.startswith("error: ")
