"""CoNLL columns and CoNLL-U: tokens in columns, sentences with blank lines between."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from separatrix._core import Block, conll_layout
from separatrix._core import read_conll as parse_conll
from separatrix.data.dataset import Dataset
from separatrix.data.formats.options import Options
from separatrix.data.formats.source import Origin, naming
from separatrix.data.formats.whole_files import write_atomically
from separatrix.data.sequences.containers import TokenColumn, TokenSequences, Vocabulary
from separatrix.data.tables.assembly import find_column
from separatrix.errors import DataError, FormatError, ParameterError

__all__ = ["UNIVERSAL", "Written", "chunks_conll", "conll_text", "read_conll", "write_conll"]

#: Columns of CoNLL-U.
UNIVERSAL = ("id", "form", "lemma", "upos", "xpos", "feats", "head", "deprel", "deps", "misc")
_SPACE = frozenset(" \t\n\r\x0b\x0c")
_WRITE_SENTENCES = 10_000


@dataclass(frozen=True)
class Written:
    """The lines of a piece of a CoNLL file as they are, to be given back with labels.

    Parameters
    ----------
    blocks : tuple of Block
        The lines.
    layout : {"space", "tab", "universal"}
    n_columns : int
        Columns of a token.
    """

    blocks: tuple[Block, ...]
    layout: str
    n_columns: int

    def labeled(
        self, labels: Sequence[str], target: str | None, proba: Sequence[str] | None = None
    ) -> Iterator[bytes]:
        r"""The same lines with the labels of their tokens.

        The labels become the last column. In CoNLL-U, which has ten columns, they replace the
        column of the target, or where it has none they stand in MISC. All else comes back byte for
        byte: comments, marks of documents, lines of multiword tokens and empty nodes, line ends.

        Parameters
        ----------
        labels : sequence of str
            One per token.
        target : str or None
            Name of the column that was learned.
        proba : sequence of str, optional
            Probability of each label: a further column; in CoNLL-U it stands in MISC.
        """
        separator = " " if self.layout == "space" else "\t"
        broken = {" ", "\t", "\n", "\r"} if separator == " " else {"\t", "\n", "\r"}
        wrong = next((one for one in set(labels) if not one or not broken.isdisjoint(one)), None)
        if wrong is not None:
            raise DataError(f"label {wrong!r} cannot be written in this file")
        at, n = 0, len(labels)
        for block in self.blocks:
            lines, inside = block.data().split(b"\n"), False
            for number, line in enumerate(lines):
                if not line.strip() or line.startswith(b"-DOCSTART-"):
                    inside = False
                elif self._is_token(line, inside):
                    inside = True
                    if at < n:
                        added = [labels[at]] if proba is None else [labels[at], proba[at]]
                        lines[number] = self._with(line, added, target, separator)
                    at += 1
            yield b"\n".join(lines)
        if at != n:
            raise DataError(f"there are {n} labels for {at} tokens")

    def _is_token(self, line: bytes, inside: bool) -> bool:
        """Whether a line that is not blank holds a token; as the kernel reads it."""
        if self.layout == "universal":
            return line.partition(b"\t")[0].isdigit()
        if inside or not line.startswith(b"#"):
            return True
        columns = line.split() if self.layout == "space" else line.split(b"\t")
        return len(columns) == self.n_columns

    def _with(self, line: bytes, added: list[str], target: str | None, separator: str) -> bytes:
        end = b"\r" if line.endswith(b"\r") else b""
        line = line.removesuffix(b"\r")
        if self.layout != "universal":
            line = line.rstrip() if separator == " " else line
            return separator.join(["", *added]).encode().join([line, end])
        fields = line.split(b"\t")
        label, *shares = added
        remarks = [f"Prob={share}" for share in shares]
        if target in UNIVERSAL:
            fields[UNIVERSAL.index(target)] = label.encode()
        else:
            remarks.insert(0, f"Label={label}")
        if remarks:
            kept = [] if fields[-1] == b"_" else [fields[-1]]
            fields[-1] = b"|".join([*kept, *(remark.encode() for remark in remarks)])
        return b"\t".join(fields) + end


def _dataset(
    block: Block,
    origin: Origin,
    format: str,
    options: Options,
    layout: str,
    shape: tuple[int, int] | None,
) -> Dataset | None:
    universal = format == "conllu"
    offsets, coded, remarks, marks = parse_conll(block, layout, shape, options.n_threads)
    if len(offsets) < 2:
        return None
    names = _names(options, universal, len(coded))
    columns = {
        name: TokenColumn(codes, Vocabulary(*words), offsets)
        for name, (codes, words) in zip(names, coded, strict=True)
    }
    target = _target(names, options, universal)
    y = None if target is None else columns.pop(target)
    n = len(offsets) - 1
    comments = _comments(remarks, n) if universal else ()
    # The first document may have no mark.
    documents = np.searchsorted(marks, np.arange(n), side="right") if len(marks) else None
    return Dataset(
        "sequences",
        TokenSequences(columns, offsets, comments, documents),
        y,
        feature_names=tuple(columns),
        target_name=target,
        source=origin.name,
        format=format,
    )


def _layout(block: Block, format: str, options: Options) -> str | None:
    """What parts columns: as requested, else as the first token of the block tells."""
    if format == "conllu":
        return "universal"
    if options.delimiter is None:
        return conll_layout(block)
    return "tab" if options.delimiter == "\t" else "space"


def _names(options: Options, universal: bool, n: int) -> list[str]:
    if options.names is not None:
        if len(options.names) != n:
            raise ParameterError(f"{len(options.names)} names for {n} columns")
        return [str(name) for name in options.names]
    return list(UNIVERSAL) if universal else [str(at) for at in range(n)]


def _target(names: Sequence[str], options: Options, universal: bool) -> str | None:
    """The column to predict: the last one, or UPOS of CoNLL-U."""
    if options.target is None:
        return None
    if options.target != "auto":
        return find_column(options.target, names, "target")
    if universal:
        return names[3]
    return names[-1] if len(names) > 1 else None


def _comments(remarks: Any, n: int) -> tuple[tuple[str, ...], ...]:
    words, sentences = remarks
    lines: list[list[str]] = [[] for _ in range(n)]
    for text, sentence in zip(Vocabulary(*words), sentences.tolist(), strict=True):
        if sentence < n:  # a comment after the last sentence belongs to none
            lines[sentence].append(text)
    return tuple(map(tuple, lines))


def read_conll(origin: Origin, format: str, options: Options) -> Dataset:
    """The whole file as a dataset."""
    with naming(origin.name):
        block = origin.open().block(None, True)
        layout = None if block is None else _layout(block, format, options)
        data = None
        if block is not None and layout is not None:
            data = _dataset(block, origin, format, options, layout, None)
        if data is None:
            raise FormatError("there are no tokens")
        return data


def chunks_conll(origin: Origin, format: str, n: int, options: Options) -> Iterator[Dataset]:
    """Datasets of at most `n` sentences; each has a vocabulary of its own."""
    with naming(origin.name):
        layout: str | None = None
        shape: tuple[int, int] | None = None
        data: Dataset | None = None
        for lines in _blocks(origin, n):
            block = lines[-1]
            layout = layout or _layout(block, format, options)
            found = None
            if layout is not None:
                found = _dataset(block, origin, format, options, layout, shape)
            if found is None or layout is None:
                # Lines without a token go with the piece before them.
                if data is not None:
                    data = _with_lines(data, (*data.X.written.blocks, *lines))
                continue
            if data is not None:
                yield data
            if shape is None:
                columns = len(found.feature_names) + (found.target_name is not None)
                shape = (columns, block.first_line)
            written = Written(lines, layout, shape[0])
            data = replace(found, X=replace(found.X, documents=None, written=written))
        if data is None:
            raise FormatError("there are no tokens")
        yield data


def _blocks(origin: Origin, n: int) -> Iterator[tuple[Block, ...]]:
    """Blocks of `n` sentences; comments and marks before the first go with it.

    Until a line is seen that is neither, a line with ``#`` may be a comment or a token.
    """
    source = origin.open()
    ahead: tuple[Block, ...] = ()
    told = False
    while (block := source.block(n, True)) is not None:
        told = told or any(
            line.strip() and not line.startswith((b"#", b"-DOCSTART-"))
            for line in block.data().split(b"\n")
        )
        if told:
            yield (*ahead, block)
        ahead = () if told else (*ahead, block)
    if ahead:
        yield (Block(b"".join(one.data() for one in ahead), 1),)


def _with_lines(data: Dataset, blocks: tuple[Block, ...]) -> Dataset:
    written = replace(data.X.written, blocks=blocks)
    return replace(data, X=replace(data.X, written=written))


def write_conll(
    path: str | os.PathLike[str],
    X: Any,
    y: Any = None,
    *,
    separator: str | None = None,
) -> None:
    r"""Write sequences of tokens in columns, whole or not at all.

    Parameters
    ----------
    path : str or path
        ``.gz`` at the end packs the file.
    X : TokenSequences or sequence of sequences of tokens
        A token is a tuple of words, or one word.
    y : TokenColumn or sequence of sequences of labels, optional
        Written as the last column.
    separator : {" ", "\t"}, optional
        By default a space, or a tab where some word is empty or holds a space.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "train.conll"
    >>> write_conll(path, [[("the", "DT"), ("cat", "NN")]], [["B", "I"]])
    >>> path.read_text()
    'the DT B\ncat NN I\n\n'
    """
    columns = _columns_of(X)
    if y is not None:
        columns.append(y if isinstance(y, TokenColumn) else TokenColumn.of(y))
    write_atomically(path, conll_text(columns, separator))


def conll_text(columns: Sequence[TokenColumn], separator: str | None = None) -> Iterator[bytes]:
    r"""The text of a CoNLL file, piece by piece.

    Parameters
    ----------
    columns : sequence of TokenColumn
        With the same sequences.
    separator : {" ", "\t"}, optional
        As in `write_conll`.
    """
    lengths = {tuple(column.offsets.tolist()) for column in columns}
    if len(lengths) > 1:
        raise DataError("X and y have sequences of different lengths")
    if not columns:
        raise DataError("there is no column to write")
    for sequence, length in enumerate(np.diff(columns[0].offsets).tolist()):
        if not length:
            raise DataError(f"sequence {sequence} is empty, which CoNLL cannot express")
    separator = _separator(columns, separator)
    flat = [column.flat for column in columns]
    bounds = columns[0].offsets.tolist()

    pairs = list(pairwise(bounds))
    for first in range(0, len(pairs), _WRITE_SENTENCES):
        lines = []
        for start, end in pairs[first : first + _WRITE_SENTENCES]:
            rows = zip(*(words[start:end] for words in flat), strict=True)
            lines += [_line(row, separator) for row in rows]
            lines.append("\n")
        yield "".join(lines).encode()


def _line(row: tuple[str, ...], separator: str) -> str:
    line = separator.join(row)
    if not line.strip(" \t\r\x0b\x0c") or line.startswith("-DOCSTART-"):
        raise DataError(f"token {row!r} cannot be written as CoNLL: its line would be passed over")
    return line + "\n"


def _columns_of(X: Any) -> list[TokenColumn]:
    if isinstance(X, TokenSequences):
        return list(X.columns.values())
    sequences = [
        [(token,) if isinstance(token, str) else tuple(token) for token in sequence]
        for sequence in X
    ]
    widths = {len(token) for sequence in sequences for token in sequence}
    if len(widths) > 1:
        raise DataError(f"tokens have {min(widths)} to {max(widths)} columns; all need as many")
    width = widths.pop() if widths else 0
    return [
        TokenColumn.of([[token[at] for token in sequence] for sequence in sequences])
        for at in range(width)
    ]


def _separator(columns: Sequence[TokenColumn], separator: str | None) -> str:
    """The separator, checked: no word may hold it, nor end the line."""
    words = [word for column in columns for word in column.vocabulary]
    spaced = next((word for word in words if not word or not _SPACE.isdisjoint(word)), None)
    if separator is None:
        separator = " " if spaced is None else "\t"
    if separator not in (" ", "\t"):
        raise ParameterError(f"separator must be a space or a tab, got {separator!r}")
    if separator == " " and spaced is not None:
        raise DataError(f"word {spaced!r} cannot be written between spaces; use separator='\\t'")
    if separator == "\t":
        broken = next((word for word in words if not {"\t", "\n", "\r"}.isdisjoint(word)), None)
        if broken is not None:
            raise DataError(f"word {broken!r} cannot be written: it holds a tab or a line end")
        if len(columns) == 1 and spaced is not None:
            raise DataError(f"word {spaced!r} cannot be the only column: nothing would part it")
    return separator
