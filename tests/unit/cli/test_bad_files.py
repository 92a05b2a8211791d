"""A bad file is told in one clear sentence, with its name and line, by every command that reads."""

from __future__ import annotations

import pytest

GOOD = "".join(f"{n},{'red' if n % 3 else 'blue'},{'yes' if n % 2 else 'no'}\n" for n in range(40))
FILES = {
    "empty": (b"", "{file}: the file is empty"),
    "blank": (b"\n\n\n", "{file}: "),
    "head": (b"size,color,answer\n", "{file}: there is a header and no row"),
    "latin": (b"size,color,answer\n1,caf\xe9,yes\n2,red,no\n", "{file}:2: byte 0xe9 at column 6"),
    "utf16": ("size,color\n1,red\n".encode("utf-16"), "{file}:1: the text is UTF-16"),
    "mixed": (b"size,color,answer\n1,red,yes\n2;blue;no\n", "{file}:3: 1 fields, but 3 on line 1"),
    "quote": (b'size,color,answer\n1,"red,yes\n2,blue,no\n', "{file}:2: a quote is opened here"),
    "picture": (b"\x89PNG\r\n\x1a\n\0\0\0", "{file}: this is a picture"),
    "binary": (b"\x7fELF\r\n\x1a\n\0\0\0", "{file}:3: a NUL byte: the file is binary"),
}
#: Words that make each command read a file as it stands.
COMMANDS = {
    "compare": lambda file, folder: ["compare", file, "--target", "answer", "-q"],
    "train": lambda file, folder: [
        *("train", file, "--target", "answer", "-q", "--learner", "logistic_regression"),
        *("--save", folder / "model.sx"),
    ],
    "convert": lambda file, folder: ["convert", file, folder / "out.jsonl"],
}


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("command", COMMANDS)
def test_one_sentence_with_the_place(run, tmp_path, command, name):
    content, message = FILES[name]
    file = tmp_path / f"{name}.csv"
    file.write_bytes(content)
    done = run(*COMMANDS[command](file, tmp_path))
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("error: " + message.format(file=file))
    assert len(done.err.splitlines()) == 1
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


@pytest.mark.parametrize("command", ["compare", "train"])
@pytest.mark.parametrize(
    ("content", "target", "code", "message"),
    [
        (GOOD, "answr", 2, "--target: there is no column 'answr'; did you mean 'answer'?"),
        (GOOD, "zzz", 2, "--target: there is no column 'zzz'; there are 'size', 'color', 'answer'"),
        (GOOD.replace("no\n", "yes\n"), "answer", 1, "all rows have the same label, 'yes'"),
        (GOOD, None, 1, "which column is to be predicted?"),
        ("1,a,yes\n,b,\n" * 5, "answer", 1, "target 'answer' is missing in 5 rows, first in row 2"),
    ],
)
def test_wrong_targets(run, tmp_path, command, content, target, code, message):
    file = tmp_path / "x.csv"
    file.write_text("size,color,answer\n" + content, encoding="utf-8")
    words = [word for word in COMMANDS[command](file, tmp_path) if word != "answer"]
    if target is None:
        words.remove("--target")
    else:
        words.insert(words.index("--target") + 1, target)
    done = run(*words)
    assert (done.code, done.out) == (code, "")
    assert message.rstrip("?") in done.err
    assert len(done.err.splitlines()) == 1


def test_a_file_that_may_not_be_read(run, tmp_path):
    file = tmp_path / "secret.csv"
    file.symlink_to(tmp_path / "gone.csv")
    done = run("compare", file)
    assert done.code == 1
    assert f"there is no file {file}" in done.err
