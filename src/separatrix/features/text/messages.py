"""Raw e-mail taken apart with the standard library; bad mail is no error."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from email import message_from_bytes, message_from_string
from email.errors import MessageError
from email.header import decode_header
from email.message import Message
from email.utils import getaddresses
from html.parser import HTMLParser
from typing import Any

from separatrix.errors import DataError

__all__ = ["Mail", "message_text", "read_mail"]

#: A text that begins with one of these headers is a message; "Note: ..." alone is not.
_KNOWN = frozenset(
    [
        "from",
        "to",
        "cc",
        "bcc",
        "subject",
        "date",
        "received",
        "return-path",
        "reply-to",
        "message-id",
        "mime-version",
        "content-type",
        "content-transfer-encoding",
        "sender",
        "delivered-to",
        "x-mailer",
        "list-id",
    ]
)
_HEADER_LINE = re.compile(r"[!-9;-~]+:")
#: Elements whose text nobody sees.
_UNSEEN = frozenset(("script", "style", "head", "title"))
_BLOCKS = frozenset(("p", "br", "div", "tr", "li", "td", "h1", "h2", "h3", "table", "ul", "ol"))


@dataclass(frozen=True)
class Mail:
    """A message taken apart.

    Attributes
    ----------
    has_headers : bool
        Whether there were headers; without them the fields below but `text` and `links` are empty.
    subject, text : str
        Subject and visible text, decoded.
    links : list of (str, str)
        Target and visible text of the anchors of HTML parts.
    senders : dict of str to list of str
        Addresses by header: from, reply-to, return-path.
    recipients : list of (str, str)
        Name and address of each recipient in To, Cc and Bcc.
    received, message_id : str
        The last hop's header (the first on the way), and the identifier.
    """

    has_headers: bool
    subject: str = ""
    text: str = ""
    links: list[tuple[str, str]] = field(default_factory=list)
    senders: dict[str, list[str]] = field(default_factory=dict)
    recipients: list[tuple[str, str]] = field(default_factory=list)
    received: str = ""
    message_id: str = ""


class _Html(HTMLParser):
    """Visible text and anchors of an HTML text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pieces: list[str] = []
        self.links: list[tuple[str, str]] = []
        self._hidden = 0
        self._anchor: tuple[str, list[str]] | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Open an element."""
        self._hidden += tag in _UNSEEN
        if tag in _BLOCKS:
            self.pieces.append("\n")
        if tag == "body":
            self._hidden = 0  # a head that was never closed hides no body
        if tag == "a":
            self._close_anchor()
            target = next((value for name, value in attrs if name == "href" and value), "")
            self._anchor = (target, [])

    def handle_endtag(self, tag: str) -> None:
        """Close an element."""
        if tag in _UNSEEN:
            self._hidden = max(0, self._hidden - 1)
        if tag == "a":
            self._close_anchor()

    def handle_data(self, data: str) -> None:
        """Take text."""
        if self._hidden == 0:
            self.pieces.append(data)
            if self._anchor is not None:
                self._anchor[1].append(data)

    def close(self) -> None:
        """Take what is left."""
        super().close()
        self._close_anchor()

    def _close_anchor(self) -> None:
        if self._anchor is not None and self._anchor[0]:
            self.links.append((self._anchor[0], " ".join("".join(self._anchor[1]).split())))
        self._anchor = None


def _read_html(html: str) -> tuple[str, list[tuple[str, str]]]:
    parser = _Html()
    try:
        parser.feed(html)
        parser.close()
    except (AssertionError, ValueError):
        # The parser gives up on some malformed declarations; what it had is kept.
        return "".join(parser.pieces), parser.links
    return "".join(parser.pieces), parser.links


def _begins_with_headers(text: str) -> bool:
    """Whether the first block of lines holds a header that messages have."""
    for number, line in enumerate(text.split("\n", 200)[:200]):
        line = line.rstrip("\r")
        if number == 0 and line.startswith("From "):  # the separator of mbox files
            continue
        if not line or not (line[0] in " \t" or _HEADER_LINE.match(line)):
            return False
        if line[0] not in " \t" and line.split(":", 1)[0].lower() in _KNOWN:
            return True
    return False


def read_mail(message: Any) -> Mail:
    r"""Take apart a raw message (str, bytes, `email.message.Message`) or a plain text.

    Examples
    --------
    >>> mail = read_mail("From: Ann <ann@example.org>\nTo: bob@example.org\n\nHi Bob")
    >>> mail.senders["from"], mail.recipients, mail.text
    (['ann@example.org'], [('', 'bob@example.org')], 'Hi Bob')
    >>> read_mail("just a text").has_headers
    False
    """
    if isinstance(message, Message):
        return _from_message(message)
    if isinstance(message, bytes | bytearray | memoryview):
        raw = bytes(message)
        if _begins_with_headers(raw[:65536].decode("latin-1")):
            return _from_message(message_from_bytes(raw))
        return _from_text(_decoded(raw, None))
    if isinstance(message, str):
        # Lone surrogates (bytes that nobody could decode) make the parser fail.
        text = message if message.isascii() else message.encode("utf-8", "replace").decode()
        if _begins_with_headers(text[:65536]):
            return _from_message(message_from_string(text), is_decoded=True)
        return _from_text(text)
    raise DataError(
        f"a message must be str, bytes or email.message.Message, got {type(message).__name__}"
    )


def _from_text(text: str) -> Mail:
    if re.search(r"<(a|html|body|p|br|div|table)\b", text, re.IGNORECASE):
        text, links = _read_html(text)
        return Mail(False, text=text, links=links)
    return Mail(False, text=text)


def _from_message(message: Message, *, is_decoded: bool = False) -> Mail:
    pieces, links = _read_parts(message, is_decoded)
    senders = {
        name: [address.lower() for _, address in _addresses(message, name)]
        for name in ("from", "reply-to", "return-path")
    }
    recipients = [pair for name in ("to", "cc", "bcc") for pair in _addresses(message, name)]
    received = _headers(message, "received")
    return Mail(
        True,
        subject=" ".join(_headers(message, "subject")),
        text="\n".join(pieces),
        links=links,
        senders=senders,
        recipients=recipients,
        received=received[-1] if received else "",
        message_id=" ".join(_headers(message, "message-id")),
    )


def _headers(message: Message, name: str) -> list[str]:
    """All headers of a name, decoded and on one line; what cannot be decoded is kept as it is."""
    try:
        values = message.get_all(name) or []
    except Exception:  # policies that parse headers fail in many ways on broken ones
        return []
    result = []
    for value in values:
        try:
            text = str(value)
        except UnicodeError:
            continue
        try:
            pieces = decode_header(text) if "=?" in text else [(text, None)]
            text = "".join(
                _decoded(piece, charset) if isinstance(piece, bytes) else str(piece)
                for piece, charset in pieces
            )
        except (MessageError, ValueError):
            pass  # a broken encoded word
        result.append(" ".join(text.split()))
    return result


def _addresses(message: Message, name: str) -> list[tuple[str, str]]:
    """Names and addresses of a header; entries without an address are left out."""
    try:
        pairs = getaddresses(_headers(message, name))
    except Exception:  # it indexes into what it takes for an address
        return []
    return [(person, address) for person, address in pairs if "@" in address]


def _read_parts(message: Message, is_decoded: bool) -> tuple[list[str], list[tuple[str, str]]]:
    """Visible text and anchors of all text parts; HTML is text only where it has no plain twin."""
    plain: list[str] = []
    html: list[str] = []
    links: list[tuple[str, str]] = []
    for part in message.walk():
        kind = part.get_content_type()
        if part.is_multipart() or not kind.startswith("text/"):
            continue
        if any("attachment" in value.lower() for value in _headers(part, "content-disposition")):
            continue
        text = _payload(part, is_decoded)
        if kind == "text/html":
            seen, found = _read_html(text)
            html.append(seen)
            links += found
        else:
            plain.append(text)
    return ([text for text in plain if text.strip()] or html), links


def _payload(part: Message, is_decoded: bool) -> str:
    """The text of a part, whatever its encodings say; `is_decoded`: the message came as str."""
    try:
        payload = part.get_payload()
        if not (is_decoded and isinstance(payload, str) and not payload.isascii()):
            payload = part.get_payload(decode=True)
        charset = part.get_content_charset()
    except Exception:  # broken encodings and parameters fail in many ways
        return ""
    if isinstance(payload, bytes):
        return _decoded(payload, charset)
    return payload if isinstance(payload, str) else ""


def _decoded(raw: bytes, charset: str | None) -> str:
    """Bytes as text: by their charset, else UTF-8, else Latin-1, which takes everything."""
    for name in (charset, "utf-8"):
        if name:
            try:
                return raw.decode(name)
            except (LookupError, ValueError):
                continue
    return raw.decode("latin-1")


def message_text(message: Any) -> str:
    r"""Subject and visible text of a message: what a `TextVectorizer` should see of it.

    Parameters
    ----------
    message : str, bytes or email.message.Message
        A raw message, or a plain text, which is returned without HTML tags.

    Examples
    --------
    >>> message_text("Subject: Hello\nContent-Type: text/html\n\n<b>Free</b> money")
    'Hello\nFree money'
    """
    mail = read_mail(message)
    # Lone surrogates stand for bytes that nobody could decode; text kernels refuse them.
    text = f"{mail.subject}\n{mail.text}" if mail.subject else mail.text
    return text.encode("utf-8", "replace").decode("utf-8")
