"""Simulate policies, answers and training in miniature: exact where possible, sampled where not."""
