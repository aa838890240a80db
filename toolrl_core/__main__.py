"""Run the command line as ``python -m toolrl_core``."""

import sys

from toolrl_core.audit.cli import main

if __name__ == "__main__":
    sys.exit(main())
