"""Mails as texts: single files (.eml), mailboxes (mbox), and folders of mails (Maildir)."""

from __future__ import annotations

import html
import mailbox
import re
from collections.abc import Iterator
from email import message_from_bytes, policy
from email.errors import MessageError
from email.message import EmailMessage
from pathlib import Path

__all__ = ["is_maildir", "mail_text", "mails_of"]

_TAGS = re.compile(r"(?is)<(script|style)\b.*?</\1>|<!--.*?-->|<[^>]*>")
_HEADERS = ("From", "To", "Subject")


def mail_text(raw: bytes) -> str:
    r"""Subject, addresses and text of a mail, whatever is broken in it.

    Parts of HTML count where there is no plain text; bytes that no declared encoding reads are
    replaced.

    Examples
    --------
    >>> mail_text(b"Subject: Lunch\nTo: you@example.org\n\nAt noon?\n")
    'To: you@example.org\nSubject: Lunch\n\nAt noon?\n'
    """
    try:
        mail = message_from_bytes(raw, policy=policy.default)
        heads = [f"{name}: {mail[name]}" for name in _HEADERS if mail[name] is not None]
        return "\n".join([*heads, "", _body(mail)])
    except (MessageError, LookupError, ValueError, TypeError, AttributeError, IndexError):
        # Headers that the parser itself fails on: the bytes are still a text.
        return raw.decode("utf-8", errors="replace")


def _body(mail: EmailMessage) -> str:
    plain: list[str] = []
    marked: list[str] = []
    for part in mail.walk():
        kind = part.get_content_type()
        if part.is_multipart() or kind not in ("text/plain", "text/html"):
            continue
        payload = part.get_payload(decode=True)
        held = payload if isinstance(payload, bytes) else b""
        try:
            text = held.decode(part.get_content_charset() or "utf-8", errors="replace")
        except LookupError:  # there is no such encoding
            text = held.decode("utf-8", errors="replace")
        (plain if kind == "text/plain" else marked).append(text)
    return "\n".join(plain) or html.unescape(_TAGS.sub(" ", "\n".join(marked)))


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
