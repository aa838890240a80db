"""Run pre-registered studies of the miniature, keep their results with provenance, and judge the directions."""
