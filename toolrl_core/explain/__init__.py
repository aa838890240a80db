"""Explain rewards to a reader: sliders over figures, the house style of the figures, the ledger of claims.

This is the only part of `toolrl_core` that may import matplotlib or ipywidgets, and nothing outside it imports it.
Import its modules by name, for example ``from toolrl_core.explain.explore import explore``.
"""
