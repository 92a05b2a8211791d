"""
Raw e-mails to a spam filter
============================

Hand-made signs from text and headers, and which of them count.
"""

from textwrap import dedent

import numpy as np
from sklearn.pipeline import make_pipeline

from separatrix import LogisticRegression, SpamFeatures


def friend(name, address, subject, text):
    domain = address.split("@")[1]
    return dedent(f"""\
        Return-Path: <{address}>
        Received: from smtp.{domain} (smtp.{domain} [192.0.2.7]) by mx.home.example
        Message-ID: <{len(text)}@{domain}>
        From: {name} <{address}>
        To: Kim Berg <kim@home.example>
        Subject: {subject}

        {text}
        """)


def bulk(sender, subject, html):
    return dedent(f"""\
        Return-Path: <bounce{len(html)}@bulk.test>
        Received: from [203.0.113.9] (dyn9.isp.test [203.0.113.9]) by mx.home.example
        Message-ID: <{len(html)}@dyn9.isp.test>
        From: {sender}
        Reply-To: <claims@freemail.test>
        To: a@home.example, b@home.example, kim@home.example, z@home.example
        Subject: {subject}
        Content-Type: text/html

        <p>{html}</p>
        """)


ham = [
    friend("Ann", "ann@work.example", "minutes", "Hi Kim, the minutes are attached. Ann"),
    friend("Ann", "ann@work.example", "budget", "Kim, can we move $200 to travel? Ann"),
    friend("Ann", "ann@work.example", "WORKSHOP", "Dear Kim, see https://work.example/w. Ann"),
    friend("Jo", "jo@club.example", "Saturday", "Kim, are you coming on Saturday? Great!! Jo"),
    friend("Jo", "jo@club.example", "lift", "Thanks for the lift, Kim! Jo"),
    friend("Shop", "orders@shop.example", "your order", "Hello Kim Berg, you paid $35."),
]
spam = [
    bulk(
        "Bank <service@bank.example>",
        "ACCOUNT LOCKED",
        'Dear customer, confirm at <a href="http://203.0.113.9/x">www.bank.example</a> NOW!!!',
    ),
    bulk("Winner <win@lucky.test>", "YOU WON $1,000,000", "CLAIM YOUR $1,000,000 TODAY!!!"),
    bulk("Lists <sales@lists.test>", "99 MILLION ADDRESSES", "EMAIL ADDRESSES FOR ONLY $99!"),
    bulk("Friend <prince@far.test>", "CONFIDENTIAL", "Dear Sir, $10,000,000 TOP SECRET."),
    bulk(
        "Pills <rx@pills.test>",
        "SAVE 80%",
        'Cheap!!!! <a href="http://pay.test">shop.example</a> only $9',
    ),
    bulk(
        "Post <info@parcel.example>", "Parcel waiting", 'Pay $2: <a href="http://p.test">here</a>'
    ),
]
new = {
    "a known sender": friend("Jo", "jo@club.example", "tickets", "Kim, I have the tickets. Jo"),
    "a new, honest sender": friend(
        "Lee", "lee@firm.example", "hello", "Dear Kim, pleased to meet."
    ),
    "a false bank": bulk(
        "Bank <help@bank.example>",
        "URGENT",
        'Verify <a href="http://198.51.100.4">bank.example</a> or lose $500!!!',
    ),
    "plain text, no headers": "FREE MONEY!!! Win $500 at http://198.51.100.4/win",
}

messages, labels = ham + spam, ["ham"] * len(ham) + ["spam"] * len(spam)
model = make_pipeline(SpamFeatures(), LogisticRegression(C=1.0)).fit(messages, labels)

weights = model[-1].coef_[0]
names = model[0].get_feature_names_out()
print("weights, spam is positive:")
for k in np.argsort(-np.abs(weights)):
    print(f"  {names[k]:24} {weights[k]:+.2f}")
for name, probability in zip(new, model.predict_proba(list(new.values()))[:, 1], strict=True):
    print(f"P(spam | {name}) = {probability:.2f}")
