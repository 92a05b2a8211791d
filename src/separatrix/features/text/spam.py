"""Hand-made features of e-mail, beside its words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field
from email.message import Message
from hashlib import blake2b
from math import log1p
from typing import Any, ClassVar, Self
from urllib.parse import urlsplit

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from separatrix.errors import DataError, ParameterError
from separatrix.features.text.messages import Mail, message_text, read_mail
from separatrix.validation import check_sparse, refuse_dask

__all__ = ["MessageText", "SpamFeatures"]

_NAMES = (
    "dollar_amounts",
    "caps_share",
    "caps_words_share",
    "exclamation_marks",
    "longest_exclamation_run",
    "urls",
    "url_disagreements",
    "urls_with_numeric_host",
    "has_headers",
    "sender_seen",
    "sending_consistent",
    "sending_disagreements",
    "addressed_by_name",
    "recipients",
    "same_text",
)

_AMOUNT = re.compile(r"(?:\$|US\$|USD|£|€)\s?\d[\d,.]*|\b\d[\d,.]*\s?(?:\$|USD\b|£|€|dollars\b)")
_WORD = re.compile(r"[^\W\d_]{2,}")
_RUN = re.compile(r"!+")
_URL = re.compile(r"\b(?:https?://|www\.)[^\s<>\"')\]]+", re.IGNORECASE)
_SHOWN_HOST = re.compile(
    r"(?:https?://)?((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,})(?:[/:?#]\S*)?", re.IGNORECASE
)
_HOST = re.compile(r"(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}", re.IGNORECASE)
_NUMERIC = re.compile(r"\d{1,3}(?:\.\d{1,3}){3}|0x[0-9a-f]+|\d{6,}", re.IGNORECASE)
#: Second labels under which names are registered: example.co.uk is one owner, co.uk is not.
_SECOND = frozenset(("ac", "co", "com", "edu", "gov", "net", "org"))
#: The greeting stands within so many characters.
_GREETING = 300


class MessageText(  # type: ignore[call-arg]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
    auto_wrap_output_keys=None,
):
    r"""Raw messages as texts for a `TextVectorizer`: subject and visible text, decoded.

    Examples
    --------
    >>> from separatrix.features import MessageText
    >>> MessageText().transform([b"Subject: Lunch?\n\nat noon", "a plain text"])
    ['Lunch?\nat noon', 'a plain text']
    """

    #: What it takes, for model files.
    __sx_input__: ClassVar[str] = "text"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.input_tags.string = True
        tags.requires_fit = False
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Nothing is learned.

        Parameters
        ----------
        X : ignored
        y : ignored
        """
        refuse_dask(self, X, y)
        return self

    def transform(self, X: Any) -> list[str]:
        """The texts.

        Parameters
        ----------
        X : iterable of str, bytes or email.message.Message
            Messages.

        Returns
        -------
        list of str
            One text per message.
        """
        return [message_text(message) for message in _messages(X)]

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """The one name "text".

        Parameters
        ----------
        input_features : ignored
        """
        return np.array(["text"], dtype=object)

    def __sklearn_is_fitted__(self) -> bool:
        return True


@dataclass(eq=False, repr=False)
class SpamFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Signs of spam beside the words: amounts, CAPS, exclamation marks, URLs, and the headers.

    Takes raw messages (str or bytes with headers, or `email.message.Message`: multipart, encoded,
    broken ones too) and plain texts. Words are `TextVectorizer`'s part: put both side by side with
    scikit-learn's `FeatureUnion`, the vectorizer in a pipeline behind `MessageText`. The columns
    (counts as log(1 + count), so that no scaling is needed):

    - *dollar_amounts*: amounts of money, such as $99; a count.
    - *caps_share*, *caps_words_share*: share of letters, and of words, in capitals.
    - *exclamation_marks*, *longest_exclamation_run*: counts.
    - *urls*: links and addresses in the text; a count.
    - *url_disagreements*: links whose text shows another site than they lead to; a count.
    - *urls_with_numeric_host*: addresses by number, http://192.0.2.7/; a count.
    - *has_headers*: 1 when the message has headers; all columns below but the last are zero
      without.
    - *sender_seen*: 1 when the From address is in the training messages, or in `contacts`.
    - *sending_consistent*: 1 when the domains of Reply-To, Return-Path, the first Received and
      Message-ID agree with From's, as far as they are there (and at least one is).
    - *sending_disagreements*: how many of the four do not; a count.
    - *addressed_by_name*: 1 when the text begins with a recipient's name.
    - *recipients*: addresses in To, Cc and Bcc; a count.
    - *same_text*: training messages with the same subject and text, whoever got them; a count.

    A message that is itself among the training messages is asked for *others* with the same sender
    or text: that it has been seen would tell a learner nothing about new ones.

    Parameters
    ----------
    contacts : iterable of str or None, default=None
        Addresses of known senders; those of the training messages by default.
    sparse_output : bool, default=False
        Give CSR instead of a dense array.

    Attributes
    ----------
    senders_ : dict of str to int
        Known senders, and in how many training messages they are.
    texts_, messages_ : dict of str to int
        Digests of the texts, and of the whole training messages, and how many have each.

    Examples
    --------
    >>> from separatrix.features import SpamFeatures
    >>> signs = SpamFeatures().fit(["Win $99 NOW!!!", "see you at noon"])
    >>> dict(zip(signs.get_feature_names_out()[:2], signs.transform(["WIN $99 now"])[0]))
    {'dollar_amounts': np.float64(0.693...), 'caps_share': np.float64(0.5)}
    """

    #: What it takes, for model files.
    __sx_input__: ClassVar[str] = "text"
    __sx_state__: ClassVar[tuple[str, ...]] = ("senders_", "texts_", "messages_")

    senders_: dict[str, int] = field(init=False)
    texts_: dict[str, int] = field(init=False)
    messages_: dict[str, int] = field(init=False)

    contacts: Any = None
    _: KW_ONLY
    sparse_output: bool = False

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        tags.input_tags.string = True
        tags.requires_fit = True
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Remember senders and texts.

        Parameters
        ----------
        X : iterable of str, bytes or email.message.Message
            Messages.
        y : ignored
        """
        refuse_dask(self, X, y)
        self._fit(*_read_all(X))
        return self

    def _fit(self, mails: list[Mail], digests: list[str]) -> None:
        self.texts_ = dict(Counter(_text_digest(mail) for mail in mails))
        self.messages_ = dict(Counter(digests))
        if self.contacts is None:
            self.senders_ = dict(Counter(s for mail in mails if (s := _sender(mail))))
        elif isinstance(self.contacts, str):
            raise ParameterError("contacts must be a list of addresses, not one string")
        else:
            self.senders_ = {str(address).strip().lower(): 0 for address in self.contacts}

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """`fit`, and the features.

        Parameters
        ----------
        X : iterable of str, bytes or email.message.Message
            Messages.
        y : ignored
        """
        refuse_dask(self, X, y)
        mails, digests = _read_all(X)
        self._fit(mails, digests)
        return self._features(mails, digests)

    def transform(self, X: Any) -> Any:
        """The features.

        Parameters
        ----------
        X : iterable of str, bytes or email.message.Message
            Messages.

        Returns
        -------
        ndarray or CSR matrix of shape (n, 15)
            One row per message.
        """
        check_is_fitted(self)
        return self._features(*_read_all(X))

    def _features(self, mails: list[Mail], digests: list[str]) -> Any:
        rows = np.empty((len(mails), len(_NAMES)))
        for row, mail, digest in zip(rows, mails, digests, strict=True):
            itself = int(digest in self.messages_)
            least = 1 + itself if self.contacts is None else 0
            row[:-1] = _row(mail, self.senders_, least)
            row[-1] = log1p(self.texts_.get(_text_digest(mail), itself) - itself)
        return sp.csr_matrix(rows) if self.sparse_output else rows

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """Names of the columns.

        Parameters
        ----------
        input_features : ignored
        """
        return np.array(_NAMES, dtype=object)


def _messages(X: Any) -> Iterable[Any]:
    if isinstance(X, str | bytes) or not isinstance(X, Iterable):
        raise DataError("X must be an iterable of messages, not one message")
    check_sparse(X)
    return X


def _read_all(X: Any) -> tuple[list[Mail], list[str]]:
    """The messages taken apart, and what tells each from the others."""
    mails, digests = [], []
    for number, message in enumerate(_messages(X)):
        try:
            mails.append(read_mail(message))
            digests.append(_digest(message))
        except DataError as error:
            raise DataError(f"message {number}: {error}") from None
    if not mails:
        raise DataError("X holds no messages (0 samples)")
    return mails, digests


def _digest(message: Any) -> str:
    if isinstance(message, Message):
        message = message.as_string()
    raw = message.encode("utf-8", "replace") if isinstance(message, str) else bytes(message)
    return blake2b(raw, digest_size=8).hexdigest()


def _text_digest(mail: Mail) -> str:
    """Of subject and text, whatever space and case they have."""
    return _digest(" ".join(f"{mail.subject} {mail.text}".lower().split()))


def _sender(mail: Mail) -> str:
    return next(iter(mail.senders.get("from", ())), "")


def _row(mail: Mail, senders: dict[str, int], least: int) -> list[float]:
    text = f"{mail.subject}\n{mail.text}"
    letters = sum(map(str.isalpha, text))
    words = _WORD.findall(text)
    runs = [len(run) for run in _RUN.findall(text)]
    targets = [target for target, _ in mail.links]
    urls = targets + _URL.findall(text)
    row = [
        log1p(len(_AMOUNT.findall(text))),
        sum(map(str.isupper, text)) / max(letters, 1),
        sum(map(str.isupper, words)) / max(len(words), 1),
        log1p(sum(runs)),
        log1p(max(runs, default=0)),
        log1p(len(urls)),
        log1p(sum(_disagrees(target, shown) for target, shown in mail.links)),
        log1p(sum(_NUMERIC.fullmatch(_host(url)) is not None for url in urls)),
        float(mail.has_headers),
    ]
    if not mail.has_headers:
        return row + [0.0] * (len(_NAMES) - 1 - len(row))
    agreements = _agreements(mail)
    known = senders.get(_sender(mail))
    return [
        *row,
        float(known is not None and known >= least),
        float(bool(agreements) and all(agreements)),
        log1p(agreements.count(False)),
        float(_addressed(mail)),
        log1p(len(mail.recipients)),
    ]


def _host(url: str) -> str:
    """The host of a URL in lower case; empty where there is none."""
    try:
        return (urlsplit(url if "//" in url else f"//{url}").hostname or "").lower()
    except ValueError:
        return ""


def _owner(host: str) -> str:
    """The part of a host name that one owner registers: example.org of mail.example.org."""
    labels = host.lower().rstrip(".").split(".")
    second = len(labels) > 2 and len(labels[-1]) == 2 and labels[-2] in _SECOND
    return ".".join(labels[-3 if second else -2 :])


def _disagrees(target: str, shown: str) -> bool:
    """Whether a link's text is an address of another owner than its target."""
    match = _SHOWN_HOST.fullmatch(shown.strip())
    if match is None or target.lower().startswith(("mailto:", "tel:")):
        return False
    return _owner(match.group(1)) != _owner(_host(target))


def _agreements(mail: Mail) -> list[bool]:
    """For each sending header that is there: whether its domain is that of From."""
    sender = _sender(mail)
    if not sender:
        return []
    owner = _owner(sender.rpartition("@")[2])
    groups = [
        [address.rpartition("@")[2] for address in mail.senders.get(name, ())]
        for name in ("reply-to", "return-path")
    ]
    # What the first server was told and saw, "from mail.example.org (host [192.0.2.7]) by ...".
    groups.append(_HOST.findall(re.split(r"\bby\b|;", mail.received)[0]))
    groups.append(_HOST.findall(mail.message_id.rpartition("@")[2]))
    return [any(_owner(host) == owner for host in hosts) for hosts in groups if hosts]


def _addressed(mail: Mail) -> bool:
    """Whether a recipient's name, or a name in the address, stands near the beginning."""
    start = set(map(str.lower, _WORD.findall(mail.text[:_GREETING])))
    for person, address in mail.recipients:
        local = re.findall(r"[^\W\d_]{3,}", address.rpartition("@")[0])
        if any(name.lower() in start for name in _WORD.findall(person) + local):
            return True
    return False
