"""`python -m separatrix` is the command line."""

import sys

from separatrix.cli.app import main

if __name__ == "__main__":
    sys.exit(main())
