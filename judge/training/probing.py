"""Starts a judge that reads pages from what its encoder knows already: a linear probe, then training.

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
STRENGTH = 0.003
"""Inverse strength of the fit's regularization, as scikit-learn counts it."""


def start_from_probe(network: PagesNetwork, batches: Sequence[Sequence[Page]], seed: int) -> None:
    """Fit the comparison head to some training answers, and let the other head of answers start at nothing.

    Args:
        network: a network that was not trained yet.
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
            found.append(network.comparisons(network.encode(tensors), tensors).cpu())
        scaler, fit = StandardScaler(), LogisticRegression(C=STRENGTH, max_iter=1000)
        make_pipeline(scaler, fit).fit(torch.cat(found).numpy(), labels)
        weight = torch.from_numpy(fit.coef_ / scaler.scale_)
        bias = torch.from_numpy(fit.intercept_) - weight @ torch.from_numpy(scaler.mean_)
        head.weight.copy_(weight)
        head.bias.copy_(bias)
        for value in network.answer[-1].parameters():
            value.zero_()
