"""Texts and mails to sparse rows."""
