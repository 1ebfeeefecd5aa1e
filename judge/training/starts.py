"""Starts a judge that reads pages from what its encoder knows already.

A new head on an encoder says nothing at first, and the first thousands of labels only find its direction.
Fitted to the frozen encoder it starts there, and changes the encoder less (Kumar et al., arXiv 2202.10054).
"""

import random
from collections.abc import Sequence

import torch

from judge.pages.layout import Page
from judge.pages.model import PageBatch, PagesNetwork
from judge.progress import track

PROBED = 5000
"""Answers that the comparison head is fitted to; enough for its 768 inputs."""
STRENGTH = 1e-4
"""Inverse strength of the fit's regularization, as scikit-learn counts it."""
NOISE = 1e-5
"""Inputs that vary less get no weight. all-MiniLM-L6-v2 keeps three of its hidden values near zero: scaled to
unit variance, their weights reach 1e30, and after clipping no gradient is left for anything else."""


def start_from_probe(network: PagesNetwork, batches: Sequence[Sequence[Page]], seed: int) -> None:
    """Fit the comparison head of a new judge to some training answers; the other head starts at nothing.

    Called under the trainer's autocast, this encodes in the number format of training.

    Args:
        network: a network whose heads are not trained.
        batches: the training data.
        seed: for the draw of the answers.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    drawn: list[Sequence[Page]] = []
    count = 0
    for batch in random.Random(seed).sample(batches, len(batches)):
        if count >= PROBED:
            break
        drawn.append(batch)
        count += sum(len(page.names) for page in batch)
    labels = [example.fail for batch in drawn for page in batch for example in page.names]
    head = network.compare
    if head is None or len({*labels}) < 2:
        return
    found: list[torch.Tensor] = []
    with torch.no_grad():
        for pages in track(drawn, "probe the encoder", len(drawn)):
            tensors = PageBatch.of(pages)
            hidden = network.encode(tensors)
            with torch.autocast(hidden.device.type, enabled=False):  # as in training
                found.append(network.comparisons(hidden, tensors).cpu())
        features, scaler = torch.cat(found).numpy(), StandardScaler()
        varied = features.std(0) > NOISE
        fit = LogisticRegression(C=STRENGTH, max_iter=1000)
        make_pipeline(scaler, fit).fit(features[:, varied], labels)
        weight = torch.from_numpy(fit.coef_ / scaler.scale_)
        bias = torch.from_numpy(fit.intercept_) - weight @ torch.from_numpy(scaler.mean_)
        head.weight.zero_()
        head.weight[:, torch.from_numpy(varied)] = weight.to(head.weight)
        head.bias.copy_(bias)
        for value in network.answer[-1].parameters():
            value.zero_()
