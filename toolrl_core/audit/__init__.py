"""Audit rollouts and rewards: bring a file, or a reward function, and learn what the reward really gives.

``toolrl_core.audit(rollouts, reward)`` audits: the package can be called, and so is `toolrl_core.audit.run.audit`
under its short name. The modules import the standard library and the scoring path alone, so they run in a browser's
Python too; only Parquet files need pyarrow, and the progress bar tqdm. Import the rest by name, for example
``from toolrl_core.audit.probes import audit_reward``.

Examples
--------
>>> import toolrl_core.audit
>>> rows = [{"completion": "I do not know.", "ground_truth": [{"name": "f"}]}]
>>> toolrl_core.audit(rows).rewards["robust"]["mean"]
-3.0
"""

import sys
from types import ModuleType
from typing import Any


class _CallablePackage(ModuleType):
    """Let the package stand for its main function."""

    def __call__(self, rollouts: Any, reward: Any = None, **options: Any) -> Any:
        """Audit rollouts; see `toolrl_core.audit.run.audit`."""
        from toolrl_core.audit.run import audit

        return audit(rollouts, reward, **options)


sys.modules[__name__].__class__ = _CallablePackage
