"""A reward for tool calls in a trainer of your own."""

from toolrl_core.adapters import check_ground_truths, reward_function

reward = reward_function("robust")


def check(ground_truths):
    """Stop before the run if a ground truth cannot be used."""
    problems = check_ground_truths(ground_truths)
    if problems:
        raise ValueError("\n".join(map(str, problems)))


def score_batch(completions, ground_truths, step):
    """Return one reward for each completion."""
    return [reward(*row, step) for row in zip(completions, ground_truths, strict=True)]
