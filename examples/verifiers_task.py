"""A reward for tool calls in verifiers 0.4: two methods of a task."""

import verifiers.v1 as vf

from toolrl_core.adapters.verifiers import score_trace, trace_metrics


class BookingData(vf.TaskData):
    """A row with the calls that it wants, as JSON text."""

    ground_truth: str


class BookingTask(vf.Task[BookingData]):
    """A task whose reward is the score of the calls; the parts of the score are metrics."""

    @vf.reward(weight=1.0)
    async def toolrl(self, trace: vf.Trace) -> float:
        """Return the reward."""
        return score_trace(trace, self.data.ground_truth, "robust")

    @vf.metric
    async def toolrl_parts(self, trace: vf.Trace) -> dict[str, float]:
        """Return its parts, which are logged and not added up."""
        return trace_metrics(trace, self.data.ground_truth, "robust")
