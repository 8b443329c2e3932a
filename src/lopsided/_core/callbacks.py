"""scikit-learn's callbacks (from version 1.9 on): stages of a fit become tasks, and their steps subtasks."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .progress import listening

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9
    CallbackSupportMixin, with_callbacks = object, None

PATIENCE = 0.25  # seconds that a stage must last to become a task; shorter ones are many
SPACING = 0.005  # seconds of steps that are reported as one; scikit-learn takes 50 microseconds for each


class CallbackSupport(CallbackSupportMixin):
    """Mixin with ``set_callbacks``, where scikit-learn has it; ``atomic_fit`` reports progress to the callbacks."""


def fit_with_callbacks(fit: Callable[..., Any], estimator: Any, *args: Any, **kwargs: Any) -> Any:
    """Call ``fit``, and report its progress to callbacks of the estimator or of the pipeline or search around it."""
    if not getattr(estimator, "_skl_callbacks", ()) or with_callbacks is None:
        return fit(estimator, *args, **kwargs)

    def reporting_fit(model: Any) -> Any:
        root = model._init_callback_context(max_subtasks=None)
        root.call_on_fit_task_begin(estimator=model)
        with listening(Tasks(root, model)):
            fitted = fit(model, *args, **kwargs)
        root.call_on_fit_task_end(estimator=model)
        return fitted

    return with_callbacks(reporting_fit)(estimator)


@dataclass
class _Stage:
    name: str
    total: int | None
    began: float
    done: int = 0
    context: Any = None
    step: Any = None  # the step that has begun, if a stage within it was reported
    lump: int = 1  # steps that are reported as one
    reported: int = 0

    def lumps(self, done: int) -> int:
        """Number of subtasks that cover ``done`` steps; the last may be a smaller one."""
        return -(-done // self.lump) if done == self.total else done // self.lump


class Tasks:
    """A listener that turns stages into contexts of scikit-learn's tree of tasks, when they have lasted a while."""

    def __init__(self, root: Any, estimator: Any) -> None:
        self._root, self._estimator = root, estimator
        self._stages: list[_Stage] = []

    def begin(self, name: str, total: int | None) -> None:
        """Begin a stage."""
        self._stages.append(_Stage(name, total, time.monotonic()))

    def advance(self, done: int) -> None:
        """Report the steps up to this one."""
        stage = self._stages[-1]
        stage.done = done
        if stage.context is None and time.monotonic() - stage.began > PATIENCE:
            self._open(len(self._stages) - 1)
        if stage.context is None:
            return
        due = stage.lumps(done)
        for _ in range(stage.reported, due):
            step = stage.step or self._begun(stage.context, stage.name, 0)
            stage.step = None
            step.call_on_fit_task_end(estimator=self._estimator)
        stage.reported = due

    def end(self) -> None:
        """End a stage."""
        stage = self._stages.pop()
        for context in (stage.step, stage.context):
            if context is not None:
                context.call_on_fit_task_end(estimator=self._estimator)

    def announce(self, words: str) -> None:
        """Say nothing: tasks have names and numbers only."""

    def _open(self, place: int) -> None:
        """Begin the task of a stage, within the step that the stage around it is at."""
        stage, parent = self._stages[place], self._root
        if place:
            around = self._stages[place - 1]
            if around.context is None:
                self._open(place - 1)
            if around.step is None:
                around.step = self._begun(around.context, around.name, None)
            parent = around.step
        stage.lump = max(1, math.ceil(SPACING * stage.done / (time.monotonic() - stage.began)))
        stage.context = self._begun(parent, stage.name, None if stage.total is None else stage.lumps(stage.total))

    def _begun(self, parent: Any, name: str, total: int | None) -> Any:
        context = parent.subcontext(task_name=name, max_subtasks=total)
        return context.call_on_fit_task_begin(estimator=self._estimator)
