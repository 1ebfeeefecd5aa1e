"""Trainer callbacks: judge validation samples, save checkpoints, stop on errors, signals or a time limit."""

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from accelerate.utils import broadcast
from transformers import TrainerCallback

from judge.errors import JudgeError
from judge.progress import Update, say
from judge.training import checkpoints
from judge.training.checkpoints import Checkpoint
from judge.training.config import RunConfig
from judge.training.stopping import StopSignals
from judge.training.validation import MEASURES, Evaluation, measure
from judge.training.weights import own_part, save_weights
from judge.types import Sample, Verdict

LOGGED = {
    "loss": "loss",
    "grad_norm": "gradient norm",
    "rewards/accuracies": "reward accuracy",
    "learning_rate": "learning rate",
    "eval_rewards/accuracies": "reward accuracy of validation pairs",
}
"""Entries of the trainer's log that the terminal shows, and their names there."""


class Validation(TrainerCallback):
    """Judges samples at every evaluation, logs the measures, and saves the weights of the best one.

    Args:
        trainer: the trainer that evaluates.
        samples: samples to judge; without any, evaluations are compared by their loss.
        ask: judges them.
        best: the best evaluation so far, if the run is resumed.
    """

    def __init__(
        self,
        trainer: Any,
        recipe: RunConfig,
        samples: Sequence[Sample],
        ask: Callable[[Sequence[Sample]], list[Verdict]],
        best: Evaluation | None,
    ):
        self.trainer, self.recipe = trainer, recipe
        self.samples, self.ask, self.best = samples, ask, best

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Evaluate the last weights too if a time limit ends the run between two evaluations."""
        control.should_evaluate |= control.should_training_stop and args.eval_strategy != "no"

    def on_evaluate(self, args: Any, state: Any, control: Any, metrics: dict[str, float], **_: Any) -> None:
        """Judge, log, compare, save."""
        loss = metrics.get("eval_loss")
        evaluation = Evaluation(state.global_step, None if loss is None else float(loss))
        if self.samples:
            verdicts = self.ask(self.samples)
            found = measure(self.samples, verdicts)
            evaluation = replace(evaluation, samples=len(self.samples), **found)
            self.trainer.log({f"eval_{name}": found[name] for name in MEASURES if name in found})
        better = evaluation.better_than(self.best)
        if state.is_world_process_zero:
            print(f"{evaluation}{' (best so far)' if better else ''}", flush=True)
        if better and self.recipe.keep_best:
            save_weights(self.trainer, Path(self.recipe.output) / f"best-{evaluation.step}")
        if better:
            self.best = evaluation
            if state.is_world_process_zero:
                checkpoints.clean(Path(self.recipe.output), evaluation.step)


class Shown(TrainerCallback):
    """Shows a run's progress, time left and figures, in place of the dictionaries of transformers."""

    def __init__(self, update: Update):
        self.update = update

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Show the step at which the run starts or resumes."""
        self.update(state.global_step, state.max_steps)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Advance by one step."""
        self.update(state.global_step, state.max_steps)

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, Any], **_: Any) -> None:
        """Losses, rewards and the learning rate, in one line."""
        figures = [f"{name} {logs[key]:.3g}" for key, name in LOGGED.items() if key in logs]
        if figures and state.is_world_process_zero:
            say(f"step {state.global_step} of {state.max_steps}: {', '.join(figures)}")


class Durability(TrainerCallback):
    """Saves checkpoints, saves one more and stops on a signal, and stops if the loss is NaN or infinite.

    Args:
        trainer: the trainer that saves.
        run: the description of the run, see :func:`judge.training.checkpoints.describe_run`.
        start: the checkpoint that the run resumes from.
        signals: records the signals that ask the run to stop.
        best: returns the best evaluation so far.
    """

    def __init__(
        self,
        trainer: Any,
        recipe: RunConfig,
        run: dict[str, Any],
        start: Checkpoint | None,
        signals: StopSignals,
        best: Callable[[], Evaluation | None],
    ):
        self.trainer, self.recipe, self.run = trainer, recipe, run
        self.signals, self.best = signals, best
        self.began = time.monotonic() - (start.seconds if start else 0.0)
        self.stopped = False
        self.saving: Path | None = None

    @property
    def seconds(self) -> float:
        """How long the run has trained, over all its starts."""
        return time.monotonic() - self.began

    def on_epoch_begin(self, args: Any, state: Any, control: Any, train_dataloader: Any, **_: Any) -> None:
        """Set the order of rows for this epoch.

        The trainer does this too, but misses the sampler if several processes resume within an epoch.
        """
        train_dataloader.set_epoch(int(state.epoch or 0))

    def on_pre_optimizer_step(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Stop before a NaN or infinite loss reaches the weights."""
        loss = float(self.trainer._tr_loss)  # the sum since the last log, this step included
        if self._any(not math.isfinite(loss)):
            self._not_finite(f"the loss became {loss} at step {state.global_step + 1}")

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Ask for a checkpoint if one is due; not at the end, where the judge itself is saved."""
        if control.should_training_stop:
            return
        interval = max(1, state.max_steps // (self.recipe.checkpoints + 1))
        if self.recipe.checkpoints and state.global_step % interval == 0:
            control.should_save = True
        self._stop_if_told(control)
        self._expect_saving(state, control.should_save and not control.should_evaluate)

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Stop if a signal came during the evaluation."""
        if not control.should_training_stop:
            self._stop_if_told(control)
        self._expect_saving(state, control.should_save)

    def on_save(self, args: Any, state: Any, control: Any, model: Any, **_: Any) -> None:
        """Once all processes have written, mark the checkpoint complete and remove those no longer needed."""
        folder = Path(args.output_dir) / f"checkpoint-{state.global_step}"
        self._check_weights(state, model)  # also makes all processes wait for each other
        if state.is_world_process_zero:
            (folder / "training_args.bin").unlink(missing_ok=True)  # a pickle that nothing reads
            best = self.best()
            checkpoints.mark_complete(
                folder,
                step=state.global_step,
                run=self.run,
                seconds=round(self.seconds, 1),
                best=best.to_dict() if best else None,
            )
            checkpoints.clean(folder.parent, best.step if best else None)
        self.saving = None

    def on_train_end(self, args: Any, state: Any, control: Any, model: Any, **_: Any) -> None:
        """Check the weights, so that no broken judge is saved."""
        self._check_weights(state, model)

    def _check_weights(self, state: Any, model: Any) -> None:
        trained = (value for value in model.parameters() if value.requires_grad)
        finite = all(
            bool(own_part(value).isfinite().all()) for value in trained
        )  # of the part in this process
        if self._any(not finite):
            self._not_finite(f"a weight became no number by step {state.global_step}")

    def _expect_saving(self, state: Any, saving: bool) -> None:
        """Record what the trainer writes next, to tell a failure to save from a failure of training."""
        folder = Path(self.recipe.output) / f"checkpoint-{state.global_step}"
        self.saving = folder if saving else None

    def _stop_if_told(self, control: Any) -> None:
        if self._any(self.signals.received is not None):
            self.stopped = control.should_save = control.should_training_stop = True

    def _any(self, here: bool) -> bool:
        """Whether it holds in any process. All have to call this, so that they stop at the same step."""
        accelerator = self.trainer.accelerator
        if accelerator.num_processes == 1:
            return here
        return bool(accelerator.reduce(torch.tensor(float(here), device=accelerator.device)) > 0)

    def _not_finite(self, what: str) -> None:
        kept = checkpoints.complete_checkpoints(Path(self.recipe.output))
        state = f"{kept[-1].folder} keeps the last good state" if kept else "nothing was saved"
        raise JudgeError(
            f"{what}; {state}. Lower learning_rate, or use a wider number format (precision), and start again"
        )


class TimeLimit(TrainerCallback):
    """Ends training at the first step after ``minutes``, counted from the start of the run.

    ``seconds`` of them were already spent if the run is resumed.

    The scheduler follows the share of time or of steps that is used up, whichever is larger, so a slow
    machine with fewer steps still completes its learning rate schedule. A warm-up of ``warmup`` steps takes
    that many all the same: the optimizer needs them. The main process reads the clock for all processes: they
    have to stop at the same step and use the same rate.
    """

    def __init__(self, minutes: float, seconds: float = 0.0, warmup: int = 0):
        self.minutes, self.seconds, self.warmup = minutes, seconds, warmup
        self.gone = seconds / (60 * minutes)
        """Share of the time used up at the end of the last step."""
        self._start = time.monotonic() - seconds

    def on_train_begin(self, args: Any, state: Any, control: Any, **found: Any) -> None:
        """Start the clock, and let the scheduler see it."""
        self._start = time.monotonic() - self.seconds
        scheduler = found.get("lr_scheduler")
        scheduler = getattr(scheduler, "scheduler", scheduler)  # within accelerate's
        if isinstance(scheduler, torch.optim.lr_scheduler.LambdaLR):
            scheduler.lr_lambdas = [self._hurried(rate, state.max_steps) for rate in scheduler.lr_lambdas]

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> Any:
        """Read the clock; stop when the time is over."""
        gone = (time.monotonic() - self._start) / (60 * self.minutes)
        self.gone = float(broadcast(torch.tensor(gone, dtype=torch.float64, device=args.device)))
        control.should_training_stop |= self.gone >= 1
        return control

    def _hurried(self, rate: Callable[[int], float], steps: int) -> Callable[[int], float]:
        def by_clock(step: int) -> float:
            return rate(step if step < self.warmup else max(step, min(steps, int(self.gone * steps))))

        return by_clock
