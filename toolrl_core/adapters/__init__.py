"""The same reward in the trainers that people use; no module here imports its trainer.

One file for each trainer: `trl`, `verl`, `swift`, `verifiers` and `openrlhf`; `rows` holds what they share.
"""
