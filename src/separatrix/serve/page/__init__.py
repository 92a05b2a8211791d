"""The page to try a model."""

from separatrix.serve.page.views import add_page

__all__ = ["add_page"]
