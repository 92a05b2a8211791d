"""What pytest leaves alone here: the pages themselves are doctests."""

collect_ignore = ["conf.py", "generated", "performance.md", "one_vs_all.md"]
