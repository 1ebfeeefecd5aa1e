"""The contract of every judge: nothing passes unread, however far behind it stands."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from judge.backends.base import Generation
from judge.backends.openai import OpenAIBackend
from judge.baselines.rules import TrivialBaseline
from judge.cascade import CascadeJudge
from judge.checker import Checker
from judge.claims.checker import ClaimsJudge
from judge.judge import Judge
from judge.load import load_judge
from judge.pages.checker import PagesJudge
from judge.pages.layout import Layout
from judge.remote import EndpointConfig
from judge.types import Label, Sample
from tests.core.chat_model import ChatModel, serving
from tests.encoders import NLI, save_judge, save_model

HEADS = ["The tower is 22 m high. ", "Not low, not red. ", "A king was blue. ", "24 m is low. "]
"""More than one: the worst part decides, and that is not always the one that ends differently."""
ENDS = ["Anna built 20 c.", "It was red.", "How low!", "23 x 9 y 7 z."]
SAMPLE = Sample("s", "The tower is 22 m high. It was built by a king.", "It is 22 m high.", "How high is it?")
ROOM = 1200
"""Tokens of a language model's context: five times a head fit, and two hundred times not."""
NOISE = 1e-5
"""What neighbours in a batch change of a probability at most."""
BLIND = {("nli", "question"), ("overlap", "question")}
"""What an engine leaves out by its definition, which its documentation says."""


def pages(folder: Path, *_: Any) -> Checker:
    from judge.pages.model import start_network

    network, tokenizer = start_network(str(save_model(folder, "bert", "Model")))
    return PagesJudge(network.eval(), layout=Layout(tokenizer, 64))


def pages_in_onnx(folder: Path, *_: Any) -> Checker:
    from judge.exports import export_judge

    pytest.importorskip("onnxruntime")
    export_judge(str(save_judge(folder)), "onnx", folder / "out")
    return load_judge(str(folder / "out"))


def classifier(folder: Path, task: str, names: dict[int, str]) -> Checker:
    return load_judge(str(save_model(folder, "bert", task, names)))


def reason(_: Path, backend: Callable[..., Any], __: Any) -> Checker:
    """Whatever it reads, it writes PASS; how likely that word is depends on the prompt."""
    engine, reply = (
        backend("chatml", max_length=ROOM),
        Generation('{"REASONING": "so", "SCORE": "PASS"}', False, 9),
    )
    engine.generate = lambda conversations, _: [reply] * len(conversations)
    return Judge(engine, mode="reason", max_new_tokens=40)


def overlap(*_: Any) -> Checker:
    train = [
        Sample(f"t{at}", f"red {at}", f"red {at * (at % 2)}", label=Label.FAIL if at % 2 == 0 else Label.PASS)
        for at in range(1, 20)
    ]
    return TrivialBaseline("baseline:overlap", train)


def server(kind: str) -> Callable[..., Checker]:
    def start(folder: Path, backend: Callable[..., Any], stack: Any) -> Checker:
        url = stack.enter_context(serving(ChatModel(backend("chatml"), kind)))
        return Judge(OpenAIBackend(EndpointConfig(base_url=url, model="tiny", retries=0), max_length=ROOM))

    return start


ENGINES: dict[str, Callable[..., Checker]] = {
    "pages": pages,
    "pairs": lambda folder, *_: load_judge(str(save_judge(folder))),
    "nli": lambda folder, *_: classifier(folder, "ForSequenceClassification", NLI),
    "tokens": lambda folder, *_: classifier(folder, "ForTokenClassification", {0: "supported", 1: "FAIL"}),
    "onnx": pages_in_onnx,
    "language model": lambda _, backend, __: Judge(backend("chatml", max_length=ROOM)),
    "reason": reason,
    "server": server("lists"),
    "vllm server": server("vllm"),
    "overlap": overlap,
    "claims": lambda *given: ClaimsJudge(pages(*given)),
    "cascade": lambda *given: CascadeJudge(
        pages(*given), Judge(given[1]("chatml", max_length=ROOM)), sure=0.5
    ),
}


CASES = [(engine, field) for engine in ENGINES for field in ("answer", "question")]


@pytest.mark.parametrize(("engine", "field"), [case for case in CASES if case not in BLIND])
def test_what_stands_at_the_far_end_counts_or_is_told(
    engine: str, field: str, tmp_path: Path, tiny_backend: Callable[..., Any]
) -> None:
    """The probability depends on the last sentence, or no verdict is a PASS of all of it."""
    from contextlib import ExitStack

    with ExitStack() as stack:
        judge = ENGINES[engine](tmp_path, tiny_backend, stack)
        for times in (5, 200):
            told, heard = [], []
            for head in HEADS:
                texts: list[dict[str, Any]] = [{field: head * times + end} for end in ENDS]
                verdicts = judge.check([replace(SAMPLE, **text) for text in texts])
                told += [verdict.label is None or verdict.cut_chars > 0 for verdict in verdicts]
                known = [verdict.p_fail for verdict in verdicts if verdict.p_fail is not None]
                heard.append(len(known) > 1 and max(known) - min(known) > NOISE)
            assert all(told) or any(heard)
