"""Excel workbooks and DuckDB tables."""

import datetime

import duckdb
import openpyxl

from separatrix.data import read


def rows(n=40):
    day = datetime.date(2020, 1, 1)
    return [
        (at % 7 + 10.0 * (at % 2), day + datetime.timedelta(at), f"c{at % 3}", "ab"[at % 2])
        for at in range(n)
    ]


def test_a_workbook(run, tmp_path):
    book = openpyxl.Workbook()
    book.active.title = "orders"
    book.active.append(["size", "when", "code", "class"])
    for row in rows():
        book.active.append(row)
    book.active.cell(5, 1).value = None
    book.create_sheet("notes").append(["a", "b"])
    more = book.create_sheet("old")
    more.append(["size", "class"])
    more.append([1, "a"])
    book.save(tmp_path / "book.xlsx")
    data = read(tmp_path / "book.xlsx")
    assert (data.format, len(data), data.target_name) == ("excel", 40, "class")
    assert [data.schema[name].kind for name in data.X] == ["number", "date", "category"]
    assert data.X["size"][0] == 0
    assert data.X["size"][3] != data.X["size"][3]
    assert str(data.X["when"][1])[:10] == "2020-01-02"
    done = run("train", "book.xlsx", "-l", "logistic_regression", "--save", "m.sx")
    assert done.code == 0, done.err
    assert "sheet 'orders' is read; there are 'old' too" in done.err
    assert run("predict", "m.sx", "book.xlsx").out.split()[1:3] == ["a", "b"]
    (tmp_path / "cut.xlsx").write_bytes((tmp_path / "book.xlsx").read_bytes()[:500])
    done = run("schema", "cut.xlsx")
    assert (done.code, "not a whole workbook" in done.err) == (1, True)


def test_a_table_of_duckdb(run, tmp_path):
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as base:
        base.execute('create table orders (size double, "when" date, code text, class text)')
        base.executemany("insert into orders values (?, ?, ?, ?)", rows())
    data = read(f"duckdb:{tmp_path / 'shop.duckdb'}:orders")
    assert (len(data), data.target_name, data.schema["when"].kind) == (40, "class", "date")
    done = run("compare", "duckdb:shop.duckdb:orders", "-l", "logistic_regression", "--quiet")
    assert done.code == 0, done.err
    done = run("schema", "duckdb:shop.duckdb:order")
    assert (done.code, "there is no table 'order'; there are 'orders'" in done.err) == (2, True)
    (tmp_path / "no.duckdb").write_bytes(b"x" * 100)
    done = run("schema", "duckdb:no.duckdb:orders")
    assert (done.code, "not a DuckDB database" in done.err) == (1, True)
