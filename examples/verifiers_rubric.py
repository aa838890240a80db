"""A reward for tool calls in verifiers 0.1: a rubric of an environment."""

import verifiers as vf

from toolrl_core.adapters.verifiers import rubric_function


def make_rubric(spec="robust"):
    """Make a rubric; the ground truth is the data set's column `answer`, as JSON text."""
    return vf.Rubric(funcs=[rubric_function(spec)], weights=[1.0])
