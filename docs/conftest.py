"""What pytest leaves alone here: the pages themselves are doctests."""

collect_ignore = ["conf.py", "exercises", "generated", "performance.md", "one_vs_all.md"]
