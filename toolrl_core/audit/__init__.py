"""Audit rollouts and rewards: bring a file, or a reward function, and learn what the reward really gives.

The modules import the standard library and the scoring path alone, so they run in a browser's Python too; only the
Parquet files need pyarrow, and the progress bar tqdm. Import them by name, for example
``from toolrl_core.audit.probes import audit_reward``.
"""
