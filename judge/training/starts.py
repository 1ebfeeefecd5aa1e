"""Starts a judge that reads pages from what its encoder knows already.

A new head on an encoder says nothing at first, and the first thousands of labels only find its direction.
Fitted to the frozen encoder it starts there, and changes the encoder less (Kumar et al., arXiv 2202.10054).
A judge of pairs has heads already, and keeps them.
"""

import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer

from judge.encoder.heads import read_config, read_head
from judge.encoder.load import FORM, stored_network
from judge.models.bert import Bert, BertConfig
from judge.pages.layout import Page, bert_tokenizer
from judge.pages.model import PageBatch, PagesNetwork
from judge.progress import track

PROBED = 5000
"""Answers that the comparison head is fitted to; enough for its 768 inputs."""
STRENGTH = 1e-4
"""Inverse strength of the fit's regularization, as scikit-learn counts it."""
NOISE = 1e-5
"""Inputs that vary less get no weight. all-MiniLM-L6-v2 keeps three of its hidden values near zero: scaled to
unit variance, their weights reach 1e30, and after clipping no gradient is left for anything else."""


def start_from_pairs(folder: Path, identity: Mapping[str, Any]) -> tuple[PagesNetwork, Tokenizer]:
    """A network that reads pages, with the encoder and heads of a judge of pairs, and its tokenizer.

    In a pair the document attends to the answer, in a page it does not. Of what pairs lack, the comparison
    head starts at zero, and the levels of runs at random, as in a new network, since training moves them
    little (docs/research/experiments.md).

    Args:
        folder: of the judge; its weights may be packed.
        identity: its ``judge.json``.

    Raises:
        InputError: if it is not a BERT.
        JudgeError: if its weights cannot be read.
    """
    backbone = Bert(BertConfig.read(folder))
    judge = stored_network(folder, read_head(read_config(folder), str(folder)))
    stored = judge.model.bert.state_dict()
    backbone.load_state_dict({name: stored[name] for name in backbone.state_dict()})
    network = PagesNetwork(backbone)
    network.answer[0].load_state_dict(judge.model.bert.pooler.dense.state_dict())
    network.answer[2].load_state_dict(judge.model.classifier.state_dict())
    if judge.token_head is not None:
        network.token.load_state_dict(judge.token_head.state_dict())
    with torch.no_grad():
        if identity[FORM]["first"] == "answer":  # in pages documents come first
            kinds = backbone.embeddings.token_type_embeddings.weight
            kinds.copy_(kinds.flip(0))
        for name, value in network.named_parameters():
            if name.startswith("compare."):
                value.zero_()
    return network, bert_tokenizer(folder)


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
