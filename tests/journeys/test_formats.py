"""Data as people have them: arrays of JSON, folders, mails, archives, several files, databases."""

import json
import mailbox
import sqlite3
import zipfile

import pytest

from separatrix.data import chunks, read

HAM = ["see you at lunch today", "the meeting is at noon", "home for dinner as planned"]
SPAM = ["free money now", "win a free prize", "cheap pills, free offer"]


def rows(n=40):
    return [{"size": at % 7 + 10 * (at % 2), "class": "ab"[at % 2]} for at in range(n)]


def mail(text, kind="plain"):
    return (
        f"From: a@example.org\nTo: b@example.org\nSubject: {text[:9]}\nMIME-Version: 1.0\n"
        f"Content-Type: text/{kind}; charset=utf-8\n\n{text}\n"
    ).encode()


def folder(path, end, make=lambda text: text.encode()):
    for name, texts in (("ham", HAM), ("spam", SPAM)):
        (path / name).mkdir(parents=True)
        for at, text in enumerate(texts * 4):
            (path / name / f"{at}{end}").write_bytes(make(f"{text} {at}"))
    return path


@pytest.mark.parametrize("wrap", [lambda found: found, lambda found: {"count": 40, "data": found}])
def test_an_array_of_objects_is_a_table(run, tmp_path, wrap):
    (tmp_path / "rows.json").write_text(json.dumps(wrap(rows()), indent=1), encoding="utf-8")
    done = run("train", "rows.json", "-l", "logistic_regression", "--save", "m.sx", "--quiet")
    assert done.code == 0, done.err
    predicted = run("predict", "m.sx", "rows.json").out.split()
    assert predicted[1:5] == ["a", "b", "a", "b"]
    assert read(json.dumps(rows()).encode()).format == "json"


def test_lines_named_json_are_lines(tmp_path):
    path = tmp_path / "rows.json"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows()), encoding="utf-8")
    assert (read(path).format, len(read(path))) == ("jsonl", 40)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[1, 2]", "element 1 is a int"),
        ('[{"a": 1}, {"a": }]', "not JSON at column"),
        ('"words"', "an array of objects is needed"),
    ],
)
def test_other_json_is_refused(run, tmp_path, text, told):
    (tmp_path / "odd.json").write_text(text, encoding="utf-8")
    done = run("schema", "odd.json")
    assert (done.code, told in done.err) == (1, True)


def test_a_folder_with_one_subfolder_per_class(run, tmp_path):
    folder(tmp_path / "texts", ".txt")
    (tmp_path / "texts" / ".hidden").mkdir()
    data = read(tmp_path / "texts")
    assert (data.kind, data.target_name, sorted(set(data.y))) == ("text", "class", ["ham", "spam"])
    done = run("train", "texts", "-l", "naive_bayes", "--save", "m.sx", "--quiet")
    assert done.code == 0, done.err
    done = run("evaluate", "m.sx", "texts")
    assert (done.code, "accuracy" in done.out) == (0, True)


def test_mails(run, tmp_path):
    folder(tmp_path / "mail", ".eml", mail)
    data = read(tmp_path / "mail")
    assert data.X[0].startswith("From: a@example.org\nTo: b@example.org\nSubject: see you a")
    assert data.schema["text"].form == "mail"
    assert run("train", "mail", "-l", "naive_bayes", "--save", "m.sx", "--quiet").code == 0
    (tmp_path / "new.eml").write_bytes(mail("<p>free <b>money</b> &amp; prize</p>", "html"))
    assert run("predict", "m.sx", "new.eml").out.split() == ["prediction", "spam"]
    told = run("explain", "m.sx", "new.eml")
    assert told.code == 0, told.err
    assert "free" in told.out
    # Somebody else got the same text.
    (tmp_path / "same.eml").write_bytes(mail("free money now 0").replace(b"a@", b"z@"))
    assert "same_text x 0.6931" in run("explain", "m.sx", "same.eml", "--top", "0").out
    box = mailbox.mbox(tmp_path / "new.mbox")
    for text in (HAM[0], SPAM[0]):
        box.add(mail(text))
    box.close()
    assert run("predict", "m.sx", "new.mbox").out.split() == ["prediction", "ham", "spam"]
    maildir = mailbox.Maildir(tmp_path / "inbox")
    maildir.add(mail(SPAM[1]))
    assert run("predict", "m.sx", "inbox").out.split() == ["prediction", "spam"]


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\xff\xfe\xfa",
        b"Subject: =?utf-8?B?broken\n\nbody",
        b"Content-Type: text/plain; charset=klingon\n\nh\xe9llo",
        b"Content-Type: multipart/mixed\n\nno boundary",
        b"To: " + b"<" * 300 + b"\n\nx",
    ],
)
def test_broken_mails_are_texts(tmp_path, raw):
    (tmp_path / "x.eml").write_bytes(raw)
    assert isinstance(read(tmp_path / "x.eml").X[0], str)


def test_archives(run, tmp_path):
    lines = "size,class\n" + "".join(f"{row['size']},{row['class']}\n" for row in rows())
    with zipfile.ZipFile(tmp_path / "one.zip", "w") as archive:
        archive.writestr("deep/rows.csv", lines)
        archive.writestr("__MACOSX/._rows.csv", "x")
    data = read(tmp_path / "one.zip")
    assert (len(data), data.target_name) == (40, "class")
    folder(tmp_path / "mail", ".eml", mail)
    with zipfile.ZipFile(tmp_path / "mail.zip", "w") as archive:
        for path in sorted((tmp_path / "mail").rglob("*.eml")):
            archive.write(path, path.relative_to(tmp_path))
    assert sorted(set(read(tmp_path / "mail.zip").y)) == ["ham", "spam"]
    (tmp_path / "no.zip").write_bytes(b"PK broken")
    done = run("schema", "no.zip")
    assert (done.code, "not a whole archive" in done.err) == (1, True)


def test_several_files_are_one_table(run, tmp_path):
    for at in range(3):
        text = "zip,x,class\n" + f"0050{at},{at},a\n10001,5,b\n"
        (tmp_path / f"part-{at}.csv").write_text(text, encoding="utf-8")
    data = read(str(tmp_path / "part-*.csv"))
    assert data.X["zip"].tolist() == ["00500", "10001", "00501", "10001", "00502", "10001"]
    assert data.y.tolist() == ["a", "b"] * 3
    assert len(read([tmp_path / "part-0.csv", tmp_path / "part-1.csv"])) == 4
    assert [len(piece) for piece in chunks(str(tmp_path / "part-*.csv"), 4)] == [4, 2]
    done = run("convert", "part-*.csv", "all.jsonl")
    assert (done.code, len(read("all.jsonl"))) == (0, 6)


def test_a_table_of_a_database(run, tmp_path):
    with sqlite3.connect(tmp_path / "shop.db") as base:
        base.execute('create table "orders" (size real, bought text, class text)')
        found = [
            (at % 7 + 10.0 * (at % 2), f"{1 + at % 28}.12.2019", "ab"[at % 2]) for at in range(40)
        ]
        base.executemany("insert into orders values (?, ?, ?)", found)
    base.close()
    data = read(f"sqlite:{tmp_path / 'shop.db'}:orders")
    assert [data.schema[name].kind for name in data.schema.names] == ["number", "date", "category"]
    done = run("compare", "sqlite:shop.db:orders", "--learners", "logistic_regression", "--quiet")
    assert done.code == 0, done.err
    done = run("schema", "sqlite:shop.db:order")
    assert (done.code, "there is no table 'order'; there are 'orders'" in done.err) == (2, True)


def test_addresses_are_refused(run):
    done = run("compare", "https://example.org/x.csv")
    assert (done.code, "addresses are not read; download the file" in done.err) == (2, True)
