"""Run one notebook with papermill; `execute.py` starts this in a process of its own and hands the job as JSON."""

import json
import sys

import papermill
from nbclient.exceptions import CellTimeoutError, DeadKernelError
from papermill.exceptions import PapermillException

from book._tools.execute import CAUSE


def main() -> None:
    """Run the job that standard input describes."""
    job = json.load(sys.stdin)
    try:
        papermill.execute_notebook(
            job["source"],
            job["target"],
            job["parameters"],
            cwd=job["source"].rpartition("/")[0] or ".",
            kernel_name="python3",  # the one of this environment, whatever name the notebook was saved with
            language="python",
            execution_timeout=job["cell_seconds"],
            start_timeout=120,
            progress_bar=False,
        )
    except DeadKernelError:
        raise SystemExit(f"{CAUSE} the kernel died: killed, out of memory, or ended by the cell itself") from None
    except (PapermillException, CellTimeoutError) as error:
        raise SystemExit(f"{CAUSE} {error}") from None


if __name__ == "__main__":
    main()
