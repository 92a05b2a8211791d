"""One self-contained HTML file that tells what an experiment found."""

from separatrix.report import parts
from separatrix.report.content import Content, DataSummary, LeaderboardRow
from separatrix.report.rendering import render, write

__all__ = ["Content", "DataSummary", "LeaderboardRow", "parts", "render", "write"]
