"""``judge export``: other runtimes say what the original says, and what does not is refused."""

import json
import math
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from gguf import GGUFReader
from peft import PeftModel
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM, LlamaConfig
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

from judge.backends.alternatives import read_words
from judge.backends.base import Decoding
from judge.backends.llama_cpp import LlamaCppBackend
from judge.backends.transformers import TransformersBackend
from judge.calibration.curve import Curve
from judge.encoder.packing import pack
from judge.encoder.pairs import Form
from judge.encoder.second import Second
from judge.errors import InputError, JudgeError
from judge.exports import Parity, export_judge
from judge.exports.gguf_file import rope_factors
from judge.exports.gguf_vocabulary import read_vocabulary
from judge.exports.parity import parity
from judge.files import write_jsonl
from judge.judge import Judge
from judge.load import load_judge
from judge.models.identity import read_identity
from judge.models.weights import LoadedModel, load_tokenizer
from judge.pages.checker import describe_layout
from judge.pages.layout import Layout
from judge.pages.model import start_network
from judge.prompting.prompts import BuiltinPrompt
from judge.prompting.rendering import Renderer
from judge.types import Label, Message, Sample, Task, Verdict
from tests.calling import ModelFolder, Refused, call
from tests.conftest import tiny_model
from tests.encoders import WORDS, save_judge, save_model

SAMPLES = [
    Sample("a", "The tower is 20 m high. It was built by a king.", "It is 21 m high.", "How high is it?"),
    Sample("b", "The tower is 20 m high.", "It is 20 m high. <|im_end|>", "How high is it?"),
    Sample("c", "塔高20米。", "塔高21米。", language="zh"),
    Sample("d", "Red, blue or green. " * 20, "It is green.", task=Task.SUMMARIZATION),
]


def p_fail(judge: Any, samples: list[Sample]) -> list[float]:
    return [verdict.p_fail for verdict in judge.check(samples)]


def read_back(folder: Path) -> Judge:
    """A judge on what transformers makes of a GGUF file: another reader than the one that wrote it."""
    file = read_identity(str(folder))["export"]["file"]
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=file, dtype="float32")
    loaded = LoadedModel(model, load_tokenizer(str(folder)), "gguf", None, 4096)
    return Judge(TransformersBackend(loaded))


@pytest.mark.parametrize("variant", ["chatml", "adapter", "bare"])
def test_a_gguf_file_holds_the_judge(model_folder: ModelFolder, tmp_path: Path, variant: str) -> None:
    model = str(model_folder(variant))
    export_judge(model, "gguf", tmp_path / "out")
    wanted = p_fail(load_judge(model, precision="float32"), SAMPLES)
    assert p_fail(read_back(tmp_path / "out"), SAMPLES) == pytest.approx(wanted, abs=2e-3)


def test_weights_in_8_bits_are_the_nearest(model_folder: ModelFolder, tmp_path: Path) -> None:
    export_judge(str(model_folder("chatml")), "gguf", tmp_path / "out", kind="Q8_0")
    wanted = AutoModelForCausalLM.from_pretrained(model_folder("chatml"), dtype=torch.float32).state_dict()
    found = read_back(tmp_path / "out").backend.model.state_dict()  # type: ignore[attr-defined]
    for name, weight in wanted.items():
        if weight.ndim < 2:
            assert torch.equal(found[name], weight), name
            continue
        largest = weight.unflatten(-1, (-1, 32)).abs().amax(-1, keepdim=True)
        apart = (found[name] - weight).unflatten(-1, (-1, 32)).abs()
        assert apart.max() > 0 and (apart <= largest / 127 * 0.57).all(), name


def test_an_adapter_is_not_rounded_to_its_base(model_folder: ModelFolder, tmp_path: Path) -> None:
    """What it adds to a base in bfloat16 is finer than bfloat16 is."""
    adapter = shutil.copytree(model_folder("adapter"), tmp_path / "adapter")
    base = shutil.copytree(model_folder("chatml"), tmp_path / "base")
    AutoModelForCausalLM.from_pretrained(base, dtype=torch.bfloat16).save_pretrained(base)
    settings = json.loads((adapter / "adapter_config.json").read_text())
    settings |= {"base_model_name_or_path": str(base), "lora_alpha": 0.1}
    (adapter / "adapter_config.json").write_text(json.dumps(settings))
    export_judge(str(adapter), "gguf", tmp_path / "out")
    whole = AutoModelForCausalLM.from_pretrained(base, dtype=torch.float32)
    wanted = PeftModel.from_pretrained(whole, adapter).merge_and_unload().state_dict()
    found = read_back(tmp_path / "out").backend.model.state_dict()  # type: ignore[attr-defined]
    for name, weight in wanted.items():
        assert torch.allclose(found[name], weight, rtol=2**-11, atol=1e-7), name


def test_qwen_has_biases_and_tied_embeddings(model_folder: ModelFolder, tmp_path: Path) -> None:
    tokenizer = load_tokenizer(str(model_folder("chatml")))
    model = tiny_model(tokenizer, family="Qwen2", vocab_size=len(tokenizer) + 3, tie_word_embeddings=True)
    for name, value in model.named_parameters():
        if name.endswith("bias"):
            torch.nn.init.normal_(value)
    model.save_pretrained(tmp_path / "qwen")
    tokenizer.save_pretrained(tmp_path / "qwen")
    export_judge(str(tmp_path / "qwen"), "gguf", tmp_path / "out")
    wanted = p_fail(load_judge(str(tmp_path / "qwen"), precision="float32"), SAMPLES)
    assert p_fail(read_back(tmp_path / "out"), SAMPLES) == pytest.approx(wanted, abs=2e-3)


@pytest.fixture(scope="module")
def gguf_export(model_folder: ModelFolder, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of the tiny judge with a chat template, in F16."""
    out = tmp_path_factory.mktemp("gguf") / "out"
    export_judge(str(model_folder("chatml")), "gguf", out)
    return out


def test_the_file_has_tokenizer_and_chat_template(gguf_export: Path) -> None:
    fields = GGUFReader(gguf_export / "judge-F16.gguf").fields
    tokenizer = load_tokenizer(str(gguf_export))
    tokens = fields["tokenizer.ggml.tokens"].contents()
    assert tokens == tokenizer.convert_ids_to_tokens(range(len(tokenizer)))
    kinds = fields["tokenizer.ggml.token_type"].contents()
    assert {token for token, kind in zip(tokens, kinds, strict=True) if kind == 3} == {
        "<|im_start|>", "<|im_end|>", "<|endoftext|>"
    }  # fmt: skip
    assert fields["tokenizer.chat_template"].contents() == tokenizer.chat_template
    assert fields["tokenizer.ggml.pre"].contents() == "gpt-2"
    assert fields["tokenizer.ggml.add_bos_token"].contents() is False


def test_ollama_gets_the_prompt_of_the_chat_template(gguf_export: Path) -> None:
    text = (gguf_export / "Modelfile").read_text(encoding="utf-8")
    found = re.search(r'TEMPLATE """(.*?)"""', text, re.DOTALL)
    assert found is not None
    messages = BuiltinPrompt().messages(SAMPLES[0], "verdict")
    wanted = Renderer(load_tokenizer(str(gguf_export))).prompt_text(messages)
    assert found[1].replace("{{ .Prompt }}", messages[0]["content"]) == wanted
    assert "FROM ./judge-F16.gguf\n" in text and 'PARAMETER stop "<|im_end|>"' in text
    assert "parity was not checked" in text


def test_prompts_come_along(gguf_export: Path) -> None:
    found = json.loads((gguf_export / "prompts.json").read_text(encoding="utf-8"))
    assert found["label_words"]["zh"] == {"PASS": "通过", "FAIL": "失败"}
    for sample in SAMPLES:
        asked = bool(sample.question)
        [text] = [
            row["text"]
            for row in found["prompts"]
            if (row["language"], row["task"], row["mode"], row["question"])
            == (sample.language, sample.task, "verdict", asked)
        ]
        filled = text.replace("{document}", sample.document_text.strip()).replace("{answer}", sample.answer)
        [message] = BuiltinPrompt().messages(replace(sample, answer="x"), "verdict")
        assert filled.replace("{question}", sample.question).replace(sample.answer, "x") == message["content"]


def test_llama_3_positions() -> None:
    rope = {
        "rope_type": "llama3", "rope_theta": 500000.0, "factor": 8.0, "low_freq_factor": 1.0,
        "high_freq_factor": 4.0, "original_max_position_embeddings": 8192,
    }  # fmt: skip
    config = LlamaConfig(rope_parameters=rope, head_dim=64, max_position_embeddings=131072)
    scaled, _ = ROPE_INIT_FUNCTIONS["llama3"](config, "cpu")
    factors = rope_factors(rope, 64)
    assert factors is not None
    plain = 500000.0 ** (-torch.arange(32) / 32)
    assert torch.allclose(plain / torch.from_numpy(factors), scaled, rtol=1e-5)
    assert rope_factors({"rope_type": "default", "rope_theta": 1e4}, 64) is None
    with pytest.raises(InputError, match="scaled by 'yarn'"):
        rope_factors({"rope_type": "yarn", "rope_theta": 1e4}, 64)


QWEN_SPLIT = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def step(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, **more}


@pytest.mark.parametrize(
    ("steps", "name"),
    [
        ([step("ByteLevel", add_prefix_space=False, use_regex=True)], "gpt-2"),
        ([step("Digits", individual_digits=True), step("ByteLevel", use_regex=True)], "smollm"),
        (
            [
                step("Split", pattern={"Regex": QWEN_SPLIT}, behavior="Isolated"),
                step("ByteLevel", use_regex=False),
            ],
            "qwen2",
        ),
        ([step("Metaspace")], None),
        (
            [step("Split", pattern={"Regex": "."}, behavior="Isolated"), step("ByteLevel", use_regex=False)],
            None,
        ),
    ],
)
def test_rules_that_split_text(tmp_path: Path, steps: list[dict[str, Any]], name: str | None) -> None:
    file = tmp_path / "tokenizer.json"
    model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": [["a", "b"]]}
    added = [{"id": 3, "content": "<x>", "special": True}, {"id": 4, "content": "<y>", "special": False}]
    given = {"type": "Sequence", "pretokenizers": steps}
    file.write_text(json.dumps({"model": model, "added_tokens": added, "pre_tokenizer": given}))
    if name is None:
        with pytest.raises(InputError, match="field 'pre_tokenizer': splits text by rules"):
            read_vocabulary(file, 6)
        return
    found = read_vocabulary(file, 6)
    assert (found.splitter, found.merges, found.types) == (name, ["a b"], [1, 1, 1, 3, 4, 5])
    with pytest.raises(InputError, match="more tokens than the model has embeddings"):
        read_vocabulary(file, 4)


# --- What is refused ----------------------------------------------------------------------------------------


def verdicts(*scores: float | None) -> list[Verdict]:
    return [
        Verdict(None if score is None else Label.FAIL if score >= 0.5 else Label.PASS, score)
        for score in scores
    ]


def test_the_figures_of_a_comparison() -> None:
    found = parity(verdicts(0.1, 0.49, 0.9, None), verdicts(0.1, 0.51, 0.8, None), "Q8_0")
    assert (found.samples, found.changed) == (4, 1)
    assert found.largest == pytest.approx(0.1) and found.mean == pytest.approx(0.03)
    assert not found.passed
    assert parity(verdicts(0.1, 0.9), verdicts(0.1, 0.9), "float32").passed
    assert not parity(verdicts(0.1, 0.9), verdicts(0.1, 0.89), "float32").passed
    assert parity(verdicts(0.1, 0.9), verdicts(0.1, 0.89), "Q8_0").passed
    assert parity(verdicts(0.1), verdicts(None), "Q8_0").largest == 1


def test_an_export_that_differs_is_refused_or_marked(
    model_folder: ModelFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    monkeypatch.setattr("judge.exports.export._require", lambda *_, **__: None)  # nothing is compared here
    monkeypatch.setattr("judge.exports.export._check", lambda *_: Parity(4, 2, 0.5, 0.2, False))
    write_jsonl(tmp_path / "samples.jsonl", [{"document": "d", "answer": "a"}])
    asked = ("export", model_folder("chatml"), "--to", "gguf", "--samples", tmp_path / "samples.jsonl", "-o")
    assert "2 of 4 labels changed" in refused(*asked, tmp_path / "out", code=1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["samples.jsonl"]
    assert call(*asked, tmp_path / "out", "--keep-failed") == 0
    assert read_identity(str(tmp_path / "out"))["export"]["parity"]["passed"] is False
    assert "PARITY CHECK FAILED" in (tmp_path / "out" / "Modelfile").read_text()
    assert "exists already" in refused(*asked, tmp_path / "out")


def test_what_cannot_be_exported(
    model_folder: ModelFolder, encoder_judge: Path, gguf_export: Path, tmp_path: Path
) -> None:
    model, out = str(model_folder("chatml")), tmp_path / "out"
    for name, to, kind, why in (
        (str(encoder_judge), "gguf", None, "is an encoder, which llama.cpp does not run"),
        (model, "onnx", None, "is a language model, which is not written as ONNX; export it --to gguf"),
        (model, "gguf", "int8", "unknown type of gguf 'int8'"),
        (str(encoder_judge), "onnx", "int8", "unknown type of onnx 'int8'"),
        (model, "safetensors", None, "unknown format"),
        (str(gguf_export), "gguf", None, "is an export already"),
        ("./nowhere", "gguf", None, "unknown model"),
        ("nope", "gguf", None, "unknown model 'nope': no folder of that name here, and the Hub gave none"),
        ("nope", "onnx", None, "unknown model 'nope': no folder of that name here, and the Hub gave none"),
        ("baseline:overlap", "onnx", None, "baseline:overlap is a rule, not a model"),
    ):
        with pytest.raises(InputError, match=re.escape(why)):
            export_judge(name, to, out, kind=kind)
        assert not out.exists()
    with pytest.raises(InputError, match="the name is not UTF-8; give another"):
        export_judge(model, "gguf", tmp_path / "bad\udcff")
    assert call("export", model, "--to", "gguf", "-o", out) == 2  # nothing to compare on
    (model_folder("chatml").parent / "gpt").mkdir(exist_ok=True)
    config = model_folder("chatml").parent / "gpt" / "config.json"
    config.write_text(json.dumps({"model_type": "gpt2"}))
    with pytest.raises(InputError, match="is a gpt2; GGUF export knows llama"):
        export_judge(str(config.parent), "gguf", out)


def test_a_missing_library_is_named(gguf_export: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    with pytest.raises(InputError, match=re.escape('pip install "hallucination-judge[llama]"')):
        load_judge(str(gguf_export))
    with pytest.raises(InputError, match="takes no precision"):
        load_judge(str(gguf_export), precision="float32")
    with pytest.raises(InputError, match="which vllm does not run"):
        load_judge(str(gguf_export), backend="vllm")
    file = gguf_export / "judge.json"
    before = file.read_text()
    file.write_text(before.replace('"to": "gguf"', '"to": "onnx"'))
    with pytest.raises(InputError, match="not run any more; export it --to gguf"):
        load_judge(str(gguf_export))
    file.write_text(before)


@pytest.mark.parametrize(
    ("to", "missing", "extra"),
    [("onnx", "onnxruntime", "export"), ("gguf", "gguf", "export"), ("gguf", "llama_cpp", "llama")],
)
def test_a_missing_library_is_named_before_the_work(
    to: str, missing: str, extra: str, model_folder: ModelFolder, encoder_judge: Path,
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
) -> None:  # fmt: skip
    def found(name: str) -> object:
        return None if name == missing else object()

    monkeypatch.setattr("judge.errors.find_spec", found)
    for work in ("_write_encoder", "_write_decoder"):
        monkeypatch.setattr(f"judge.exports.export.{work}", Mock(side_effect=AssertionError("it began")))
    model = encoder_judge if to == "onnx" else model_folder("chatml")
    with pytest.raises(InputError, match=f"needs {missing}; .*{extra}"):
        export_judge(str(model), to, tmp_path / "out", samples=SAMPLES)


def test_llama_cpp_samples_each_reply_by_a_seed_of_its_own() -> None:
    seeds: list[int] = []

    class Llama:
        def create_completion(self, prompt: list[int], *, seed: int, **_: Any) -> dict[str, Any]:
            seeds.append(seed)
            choice = {"text": "", "finish_reason": "stop"}
            return {"choices": [choice], "usage": {"completion_tokens": 1}}

    backend = object.__new__(LlamaCppBackend)
    backend.llama = Llama()
    backend.renderer = Mock(prompt_text=lambda _: "", encode=lambda _: [1, 2])
    asked = [[Message(role="user", content="Why?")]] * 3
    backend.generate(asked, Decoding(8, temperature=1.0, seed=7))
    backend.generate(asked, Decoding(8, temperature=1.0, seed=7))
    assert len(set(seeds[:3])) == 3 and seeds[:3] == seeds[3:]


# --- llama.cpp, where it is installed -----------------------------------------------------------------------


@pytest.mark.parametrize(("variant", "kind", "within"), [("chatml", "F16", 0.01), ("bare", "Q8_0", 0.05)])
def test_llama_cpp_says_the_same(
    model_folder: ModelFolder, tmp_path: Path, variant: str, kind: str, within: float
) -> None:
    pytest.importorskip("llama_cpp")
    model = str(model_folder(variant))
    export_judge(model, "gguf", tmp_path / "out", kind=kind)
    original, exported = load_judge(model, precision="float32"), load_judge(str(tmp_path / "out"))
    for sample in SAMPLES:
        messages = BuiltinPrompt().messages(sample, "verdict")
        first, second = original.backend.renderer, exported.backend.renderer  # type: ignore[attr-defined]
        assert second.encode(second.prompt_text(messages)) == first.encode(first.prompt_text(messages))
    assert p_fail(exported, SAMPLES) == pytest.approx(p_fail(original, SAMPLES), abs=within)
    [reply] = load_judge(str(tmp_path / "out"), mode="reason", max_new_tokens=4).check(SAMPLES[:1])
    assert reply.usage.completion_tokens in range(1, 5)


# --- ONNX Runtime, in the environment of make test-export ---------------------------------------------------


def calibrated(prompt_hash: str) -> dict[str, Any]:
    """A calibration for judges with this form."""
    return {
        "curve": {"method": "platt", "temperature": 0.5, "bias": 1.0}, "prompt_hash": prompt_hash,
        "precision": "float32", "data_sha256": "", "samples": 2, "fail": 1, "groups": 2, "ece_before": 0.1,
        "ece_after": 0.1,
    }  # fmt: skip


@pytest.fixture(scope="module", params=["judge", "nli", "tokens"])
def encoder_judge(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an untrained encoder judge and a calibration, or a classifier of pairs or of tokens."""
    folder = tmp_path_factory.mktemp("encoder")
    if request.param == "nli":
        return save_model(folder, "bert", "ForSequenceClassification", {0: "entailment", 1: "neutral"})
    if request.param == "tokens":
        return save_model(folder, "bert", "ForTokenClassification", {0: "supported", 1: "hallucinated"})
    form = Form(window_tokens=64).describe()
    calibration = calibrated(form["prompt_hash"])
    return save_judge(folder, {"calibration": {"verdict": calibration}})


@pytest.fixture(scope="module")
def pages_judge(bert: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an untrained judge that reads pages."""
    folder = tmp_path_factory.mktemp("pages") / "judge"
    folder.mkdir()
    network, tokenizer = start_network(str(bert))
    network.backbone.config.save(folder)
    save_file(network.state_dict(), folder / "model.safetensors")
    tokenizer.save(str(folder / "tokenizer.json"))
    layout = describe_layout(Layout(tokenizer, 16, 4))
    known = {"calibration": {"verdict": calibrated(layout["prompt_hash"])}}
    identity = {**layout, "stage": "encoder", "languages": ["en"], **known}
    (folder / "judge.json").write_text(json.dumps(identity))
    return folder


def encoder_samples() -> list[Sample]:
    """Documents of one window and of several, answers with questions and without, some about one document."""
    documents = ["the tower is 20 m high .", " ".join(WORDS * 2)]
    answers = ["it is 21 m high .", "it was built by king anna", "low"]
    return [
        Sample(f"{number}", document, answer, "how high ?" if number % 2 else "")
        for document in documents
        for number, answer in enumerate(answers)
    ]


@pytest.mark.parametrize("reads", ["pairs", "pages"])
def test_an_encoder_in_onnx_runtime(
    encoder_judge: Path, pages_judge: Path, tmp_path: Path, reads: str
) -> None:
    pytest.importorskip("onnxruntime")
    encoder_judge = pages_judge if reads == "pages" else encoder_judge
    samples = encoder_samples()
    found = export_judge(str(encoder_judge), "onnx", tmp_path / "out", samples=samples)
    assert found is not None and found.passed and found.largest <= 1e-5
    original, exported = load_judge(str(encoder_judge)), load_judge(str(tmp_path / "out"))
    wanted, got = original.check(samples), exported.check(samples)
    assert [verdict.p_fail for verdict in got] == pytest.approx([v.p_fail for v in wanted], abs=1e-5)
    marked = [[[words.text for words in one.unsupported] for one in some] for some in (got, wanted)]
    assert marked[0] == marked[1]
    assert [verdict.usage for verdict in got] == [verdict.usage for verdict in wanted]
    assert read_identity(str(tmp_path / "out"))["export"]["bytes"] > 1000
    assert exported.describe()["backend"] == "onnxruntime"
    assert exported.describe().get("calibration") == original.describe().get("calibration")


def test_two_encoders_in_onnx_runtime(pages_judge: Path, tmp_path: Path) -> None:
    """Each becomes a graph of its own, and who judges what stays as before."""
    pytest.importorskip("onnxruntime")
    two, out = tmp_path / "two", tmp_path / "out"
    pack([pages_judge], two, save_judge(tmp_path / "pairs"), Second(weight=0.3, short_documents=20))
    found = export_judge(str(two), "onnx", out, samples=encoder_samples())
    assert found is not None and found.passed and found.largest <= 1e-5
    sizes = [(folder / "model.onnx").stat().st_size for folder in (out, out / "second")]
    assert read_identity(str(out))["export"]["bytes"] == sum(sizes)
    without_torch(out)


def doc_block(words: str) -> str:
    """The Python block of docs/deploy.md, or of the page on ONNX Runtime, that has these words."""
    docs = Path(__file__).resolve().parents[2] / "docs"
    pages = (docs / "deploy.md", docs / "research" / "onnx-runtime.md")
    text = "".join(page.read_text(encoding="utf-8") for page in pages)
    [found] = [block for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL) if words in block]
    return str(found)


def test_a_probability_from_a_list_of_tokens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the docs tell of llama.cpp's and Ollama's log-probs is what the backend openai reads."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "exported").mkdir()
    curve = {"method": "platt", "temperature": 2.0, "bias": 0.5}
    (tmp_path / "exported" / "judge.json").write_text(
        json.dumps({"calibration": {"verdict": {"curve": curve}}})
    )
    names: dict[str, Any] = {}
    exec(doc_block("def p_fail(top_logprobs"), names)
    top = [{"token": token, "logprob": math.log(p)} for token, p in ((" P", 0.5), ("FA", 0.2), ("The", 0.1))]
    rest = {"token": "ASS", "logprob": 0.0}
    reply = [{**top[0], "top_logprobs": top}, {**rest, "top_logprobs": [rest]}]
    pair = read_words(reply, "", ("PASS", "FAIL"))
    assert pair is not None
    raw = 1 / (1 + math.exp(pair[0] - pair[1]))
    assert names["p_fail"](top) == pytest.approx(Curve.model_validate(curve)(raw), abs=1e-6)


def without_torch(folder: Path) -> None:
    """A new process judges with an export, and imports neither of the large libraries."""
    code = "import sys; from judge import Sample, load_judge; judge = load_judge(sys.argv[1]); "
    code += "print(judge.check([Sample('s', 'the tower is high', 'it is low')])[0].p_fail, "
    code += "sorted({'torch', 'transformers'} & set(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", code, folder], capture_output=True, text=True)
    assert run.stdout.rstrip().endswith("[]") and float(run.stdout.split()[0]) > 0, run.stderr


def test_an_encoder_is_judged_without_torch(encoder_judge: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    export_judge(str(encoder_judge), "onnx", tmp_path / "out")
    without_torch(tmp_path / "out")
    (tmp_path / "out" / "model.onnx").write_bytes(b"damaged")
    with pytest.raises(JudgeError, match="ONNX Runtime cannot run it"):
        load_judge(str(tmp_path / "out"))


def test_pages_are_judged_without_torch(
    pages_judge: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("onnxruntime")
    export_judge(str(pages_judge), "onnx", tmp_path / "out")
    (tmp_path / "exported").symlink_to(tmp_path / "out")
    monkeypatch.chdir(tmp_path)
    exec(doc_block('load_judge("exported")'), {})
    without_torch(tmp_path / "out")
