"""Mails as texts: single files (.eml), mailboxes (mbox), and folders of mails (Maildir)."""

from __future__ import annotations

import mailbox
from collections.abc import Iterator
from pathlib import Path

__all__ = ["is_maildir", "mail_text", "mails_of"]


def mail_text(raw: bytes) -> str:
    r"""A mail as a text, headers and all, as UTF-8 or as Latin-1, in which every byte is a letter.

    `separatrix.features.MessageText` and `SpamFeatures` take it apart.

    Examples
    --------
    >>> mail_text(b"Subject: Lunch\r\nTo: you@example.org\r\n\r\nAt noon?\r\n")
    'Subject: Lunch\nTo: you@example.org\n\nAt noon?\n'
    """
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = raw.decode("latin-1")
    return text.replace("\r\n", "\n")


def is_maildir(path: Path) -> bool:
    """Whether a folder is one of the Maildir format."""
    return path.is_dir() and (path / "cur").is_dir() and (path / "new").is_dir()


def mails_of(path: Path) -> Iterator[str]:
    """The texts of a mail, of a mailbox or of a folder of mails."""
    if is_maildir(path):
        for folder in ("cur", "new"):
            for file in sorted((path / folder).iterdir()):
                yield mail_text(file.read_bytes())
    elif path.suffix.lower() == ".mbox":
        box = mailbox.mbox(path, create=False)
        try:
            for key in box.iterkeys():
                yield mail_text(box.get_bytes(key))
        finally:
            box.close()
    else:
        yield mail_text(path.read_bytes())
