import pickle
from email.message import EmailMessage, Message
from math import log

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline, make_union

from separatrix import LogisticRegression
from separatrix.errors import DataError, ParameterError
from separatrix.features import MessageText, SpamFeatures, message_text
from separatrix.features.text.messages import read_mail

NAMES = SpamFeatures().get_feature_names_out().tolist()

HAM = """\
Return-Path: <ann@mail.example.org>
Received: from relay.example.com (relay.example.com [192.0.2.1]) by mx.home.net; Mon, 1 Jan 2024
Received: from smtp.example.org (smtp.example.org [192.0.2.9]) by relay.example.com; Mon, 1 Jan 2024
Message-ID: <17@mail.example.org>
From: Ann Lee <Ann@Example.org>
To: Bob Ray <bob.ray@home.net>
Subject: lunch

Hi Bob, lunch at noon?
"""
SPAM = """\
Return-Path: <bounce@bulk.invalid>
Received: from [203.0.113.5] (dyn.isp.test [203.0.113.5]) by mx.home.net; Mon, 1 Jan 2024
Message-ID: <1@elsewhere.test>
From: "Your Bank" <service@bank.example>
Reply-To: <cash@freemail.test>
To: a@home.net, b@home.net, c@home.net
Cc: d@home.net
Subject: WIN NOW
Content-Type: text/html

<p>DEAR CUSTOMER, get $99 or 1,000 USD!!! <a href="http://evil.test/x">www.bank.example</a>
<a href="http://203.0.113.9/pay">pay here</a> <a href="https://login.bank.example">bank.example</a></p>
"""


def features(message, **parameters):
    row = SpamFeatures(**parameters).fit([message]).transform([message])[0]
    return dict(zip(NAMES, row, strict=True))


def test_text_features():
    row = features("FREE money!!! Win $1,000 or $99 now! http://a.example/x and www.b.example ok")
    assert row["dollar_amounts"] == pytest.approx(log(3))
    assert row["exclamation_marks"] == pytest.approx(log(5))
    assert row["longest_exclamation_run"] == pytest.approx(log(4))
    assert row["urls"] == pytest.approx(log(3))
    assert 0 < row["caps_share"] < 0.2
    assert row["caps_words_share"] == pytest.approx(1 / 11)
    headers = NAMES[NAMES.index("has_headers") :]
    assert all(row[name] == 0 for name in headers)


def test_headers_of_a_friend():
    row = features(HAM)
    assert row["has_headers"] == row["sending_consistent"] == row["addressed_by_name"] == 1
    assert row["sending_disagreements"] == 0
    assert row["recipients"] == pytest.approx(log(2))
    assert row["sender_seen"] == 0  # but in this message itself


def test_headers_and_links_of_a_stranger():
    row = features(SPAM)
    assert row["sending_consistent"] == row["addressed_by_name"] == 0
    assert row["sending_disagreements"] == pytest.approx(log(5))
    assert row["recipients"] == pytest.approx(log(5))
    assert row["url_disagreements"] == pytest.approx(log(2))
    assert row["urls_with_numeric_host"] == pytest.approx(log(2))
    assert row["urls"] == pytest.approx(log(5))  # three anchors, and an address in the text
    assert row["dollar_amounts"] == pytest.approx(log(3))


@pytest.mark.parametrize(
    ("target", "shown", "disagrees"),
    [
        ("http://shop.example.co.uk/a", "www.example.co.uk", False),
        ("http://other.co.uk/a", "example.co.uk", True),
        ("http://example.org", "click here", False),
        ("https://user@evil.test/", "https://example.org/login?x=1", True),
        ("mailto:a@b.example", "c.example", False),
        ("http://[broken", "example.org", True),
        ("http://EXAMPLE.org", "Example.ORG", False),
    ],
)
def test_whether_links_lead_where_they_say(target, shown, disagrees):
    row = features(f'<a href="{target}">{shown}</a>')
    assert (row["url_disagreements"] > 0) == disagrees


def test_sender_seen_before():
    column = NAMES.index("sender_seen")
    other = HAM.replace("Ann@Example.org", "eve@elsewhere.test")
    signs = SpamFeatures()
    # Leave-one-out in training: Ann has written twice, Eve once.
    seen = signs.fit_transform([HAM, HAM.replace("lunch", "tea"), other])[:, column]
    np.testing.assert_array_equal(seen, [1, 1, 0])
    assert signs.senders_ == {"ann@example.org": 2, "eve@elsewhere.test": 1}
    new = HAM.replace("Ann@Example.org", "new@elsewhere.test")
    again = other.replace("lunch", "supper")
    messages = [again, other, new, "text"]
    np.testing.assert_array_equal(signs.transform(messages)[:, column], [1, 0, 0, 0])
    contacts = SpamFeatures(contacts=["EVE@elsewhere.test"])
    np.testing.assert_array_equal(contacts.fit_transform([HAM, other])[:, column], [0, 1])


def test_others_with_the_same_text():
    column = NAMES.index("same_text")
    to_all = [HAM.replace("Bob", name) for name in ("Bob", "Carl", "Dora")]
    training = [
        *(text.replace("Hi Carl", "Hi Bob").replace("Hi Dora", "Hi Bob") for text in to_all)
    ]
    signs = SpamFeatures()
    found = signs.fit_transform([*training, SPAM])[:, column]
    np.testing.assert_array_equal(
        signs.fit([*training, SPAM]).transform(training)[:, column], found[:3]
    )
    np.testing.assert_allclose(found, [log(3), log(3), log(3), 0])
    # A new one has three others, whatever its spaces and capitals.
    new = training[0].replace("Bob <", "Eve <").replace("lunch", "LUNCH  ")
    assert signs.transform([new, "some text"])[:, column] == pytest.approx([log(4), 0])


def test_bytes_messages_and_strings_agree():
    from email import message_from_string, policy

    for text in (HAM, SPAM):
        forms = [text, text.encode(), message_from_string(text), text.replace("\n", "\r\n")]
        forms.append(message_from_string(text, policy=policy.default))
        forms.append("From someone Mon Jan 1\n" + text)
        rows = SpamFeatures().fit(forms).transform(forms)
        np.testing.assert_array_equal(rows, np.repeat(rows[:1], len(forms), axis=0))


def test_multipart_and_encodings():
    message = EmailMessage()
    message["From"] = "Zoë <zoe@example.org>"
    message["To"] = "Jürgen <j@example.org>"
    message["Subject"] = "Grüße"
    message.set_content("Hallo Jürgen, schöne Grüße")
    message.add_alternative('<p>Hallo <a href="http://x.test">y.example</a></p>', subtype="html")
    message.add_attachment("SECRET $5", filename="a.txt")
    text = message_text(message.as_bytes())
    assert "Grüße" in text.split("\n")[0]
    assert "schöne" in text
    assert "SECRET" not in text
    row = features(message.as_bytes())
    assert row["addressed_by_name"] == 1
    assert row["url_disagreements"] > 0
    assert row["dollar_amounts"] == 0


BROKEN = [
    b"",
    b"From: \xff\xfe\nSubject: =?utf-8?b?!!!?=\n\nbody",
    b"Subject: =?nowhere?q?x?=\nContent-Type: text/plain; charset=nonsense\n\n\xff\xfe",
    b"Content-Type: multipart/mixed; boundary=x\nFrom: a@b\n\nno parts at all",
    b"Content-Type: multipart/mixed\nFrom: a@b\n\n--x\n\ntext",
    b"From: a@b\nContent-Transfer-Encoding: base64\n\n!!!not base64!!!",
    b"From: a@b\nContent-Transfer-Encoding: x-uuencode\n\nbegin 644 x\n~~~",
    b"From: @@@ <<<>>> ,,,\nTo: undisclosed recipients:;\nReceived: \nMessage-ID: <\n\nhi",
    b"From: a@b\nContent-Type: text/html\n\n<a href=<<a <!DOCTYPE [<![CDATA[ <a href='http://[",
    b"Content-Type: message/rfc822\nFrom: a@b\n\nFrom: c@d\n\ninner",
    b"From: a@b\nContent-Type: text/html\n\n<![if !foo]><!ELEMENT <![bad",
    b"\x00" * 50,
    b"Note: this is just a text",
]


@pytest.mark.parametrize("raw", BROKEN)
def test_broken_messages_do_not_crash(raw):
    forms = [raw, raw.decode("latin-1"), raw.decode("utf-8", "surrogateescape")]
    rows = SpamFeatures().fit_transform(forms)
    assert rows.shape == (3, len(NAMES))
    assert np.isfinite(rows).all()
    for form in forms:
        message_text(form).encode()


_PIECES = """From:|To:|Subject:|Content-Type:|multipart/mixed; boundary=b|text/html|charset=|
=?utf-8?q?|?=|--b|--b--|<a href=|http://|@|<|>|"|base64|Content-Transfer-Encoding:|$9|!!|Ä|
\udcff|\x00|a.example"""
_TOKENS = st.sampled_from([*_PIECES.replace("\n", "").split("|"), " ", "\n", "\n\n"])


@settings(max_examples=150)
@given(st.lists(_TOKENS, max_size=30).map("".join) | st.text(max_size=80) | st.binary(max_size=80))
def test_no_message_crashes(message):
    row = SpamFeatures().fit_transform([message])
    assert np.isfinite(row).all()
    message_text(message).encode()


def test_a_plain_text_has_no_headers():
    assert not read_mail("Note: bring milk\n\nthanks").has_headers
    assert not read_mail("Hello\nFrom: nobody").has_headers
    assert read_mail("Subject: x\n\ny").has_headers
    assert read_mail(Message()).has_headers


def test_words_and_signs_side_by_side():
    words = make_pipeline(MessageText(), TfidfVectorizer())
    model = make_pipeline(make_union(words, SpamFeatures()), LogisticRegression())
    messages, labels = [HAM.encode(), SPAM.encode()] * 4, ["ham", "spam"] * 4
    model = pickle.loads(pickle.dumps(model.fit(messages, labels)))
    assert model.predict([HAM, SPAM]).tolist() == ["ham", "spam"]
    names = model[0].get_feature_names_out()
    assert {"pipeline__lunch", "spamfeatures__caps_share"} <= set(names)
    with pytest.raises(DataError, match="iterable"):
        MessageText().fit_transform("one message")


def test_errors():
    with pytest.raises(DataError, match=r"message 1: .*got int"):
        SpamFeatures().fit(["a", 3])
    with pytest.raises(DataError, match="iterable"):
        SpamFeatures().fit("one message")
    with pytest.raises(DataError, match="no messages"):
        SpamFeatures().fit([])
    with pytest.raises(ParameterError):
        SpamFeatures(contacts="a@b").fit(["x"])
