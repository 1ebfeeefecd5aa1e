"""Fixtures that several tests share."""

import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck
from hypothesis import settings as hypothesis_settings

from judge.types import Sample

if TYPE_CHECKING:
    from data_pipeline.sources.store import SampleStore

# What a property costs depends on the machine and on what else runs there.
hypothesis_settings.register_profile(
    "any-machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("any-machine")
os.environ["HF_HUB_OFFLINE"] = "1"  # no test needs the network, and none may use it
os.environ.setdefault("DS_ACCELERATOR", "cpu")  # DeepSpeed would tell on standard output that it chose it


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Folder of the original public data sets; tests that need it are skipped where it is not there."""
    named = os.environ.get("JUDGE_DATA_DIR")
    folders = [Path(named)] if named else []
    folders += [parent / "shared" / "data" for parent in Path(__file__).resolve().parents]
    for folder in folders:
        if (folder / "halubench").is_dir():
            return folder
    pytest.skip("no folder with the original data sets (JUDGE_DATA_DIR)")


@pytest.fixture
def ran(capsys: pytest.CaptureFixture[str]) -> Callable[..., Any]:
    """Calls a command that must succeed; returns what it wrote, as ``out`` and ``err``."""
    from tests.calling import call

    def run(*arguments: object) -> Any:
        capsys.readouterr()
        assert call(*arguments) == 0
        return capsys.readouterr()

    return run


@pytest.fixture
def refused(capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Calls a command that must end with ``code``, print nothing and say one line, which it returns."""
    from tests.calling import call

    def run(*arguments: object, code: int = 2) -> str:
        capsys.readouterr()
        assert call(*arguments) == code
        said = capsys.readouterr()
        assert said.out == "" and said.err.startswith("error: ")
        assert said.err.count("\n") == 1 and "Traceback" not in said.err
        return said.err

    return run


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium; what needs it is skipped where it is not installed."""
    driver = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("there is no Chromium")
    with driver.sync_playwright() as started:
        found = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def store_of(tmp_path_factory: pytest.TempPathFactory) -> "Iterator[Callable[..., SampleStore]]":
    """Makes stores that hold given samples; ``split`` puts all of them into one."""
    from data_pipeline.sources.store import SampleStore

    folder, numbers = tmp_path_factory.mktemp("stores"), count()
    with ExitStack() as stores:

        def make(samples: Iterable[Sample], split: str | None = None) -> SampleStore:
            store = stores.enter_context(SampleStore(folder / f"{next(numbers)}.sqlite"))
            store.add(samples)
            store.table.execute("UPDATE samples SET split = ?", (split,))
            return store

        yield make


@pytest.fixture(scope="session")
def starter_pairs(tmp_path_factory: pytest.TempPathFactory) -> list[Sample]:
    """A third of the starter corpus, with an edited pair and an added pair of every gold that allows one."""
    from data_pipeline.edits.perturber import RulePerturber
    from data_pipeline.pairs.make import make_pairs
    from data_pipeline.pairs.makers import make_makers
    from data_pipeline.sources.config import SourceConfig
    from data_pipeline.sources.reading import read_source
    from data_pipeline.sources.store import SampleStore
    from data_pipeline.teachers.rules import RulesTeacher

    with SampleStore(tmp_path_factory.mktemp("starter") / "golds.sqlite") as golds:
        golds.add(read_source(SourceConfig(kind="starter", limit=300), 0))
        perturb, shares = RulesTeacher(RulePerturber(0)).perturb, {"edit": 1.0, "added": 1.0}
        found = make_pairs(golds.samples(), perturb, make_makers(golds, 0), shares, seed=0)
        return [sample for made in found for sample in made.samples]


# --- Tiny random models, one for each way in which a tokenizer treats a conversation ------------------------

CHATML = (
    "{% if messages[0]['role'] != 'system' %}<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
    "{% endif %}{% for message in messages %}"
    "<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
GEMMA = (
    "{{ bos_token }}{% for message in messages %}"
    "{% if message['role'] == 'system' %}{{ raise_exception('System role not supported') }}{% endif %}"
    "<start_of_turn>{{ 'model' if message['role'] == 'assistant' else message['role'] }}\n"
    "{{ message['content'] | trim }}<end_of_turn>\n{% endfor %}"
    "{% if add_generation_prompt %}<start_of_turn>model\n{% endif %}"
)
TEXT = [
    "The DOCUMENT supports the ANSWER to the QUESTION. PASS if it is faithful, FAIL if it is not. Reply with",
    "请对照“文档”检查针对“问题”所给的“答案”。只有当其中的每一点都能从文档得到支持时，它才是忠实的；通过 失败",
]
# name: (chat template, special tokens with the end token first, vocabulary size; 256 is one token a byte)
VARIANTS: dict[str, tuple[str | None, list[str], int]] = {
    "chatml": (CHATML, ["<|im_end|>", "<|im_start|>", "<|endoftext|>"], 420),
    "gemma": (GEMMA, ["<eos>", "<bos>", "<start_of_turn>", "<end_of_turn>", "<pad>"], 420),
    "bare": (None, ["</s>", "<s>"], 420),
    "bytes": (CHATML, ["<|im_end|>", "<|im_start|>"], 256),
}


def tiny_tokenizer(name: str, size: int | None = None, texts: Iterable[str] = (*TEXT, *TEXT, *TEXT)) -> Any:
    """A byte-level BPE tokenizer that is trained on the spot."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    template, specials, usual = VARIANTS[name]
    core = Tokenizer(models.BPE())
    core.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=(size or usual) + len(specials),
        special_tokens=specials,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator(texts, trainer)
    names = {"eos_token": specials[0]}
    first = {"bare": "<s>", "gemma": "<bos>"}.get(name)
    if first is not None:  # as most real ones do, whether or not their template writes the token too
        names["bos_token"] = first
        core.post_processor = processors.TemplateProcessing(
            single=f"{first} $A", special_tokens=[(first, core.token_to_id(first))]
        )
    if name == "gemma":
        names["pad_token"] = "<pad>"
    others = [token for token in specials if token not in names.values()]
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=core, additional_special_tokens=others, model_max_length=4096, **names
    )
    tokenizer.chat_template = template
    return tokenizer


def tiny_model(tokenizer: Any, seed: int = 0, family: str = "Llama", **more: Any) -> Any:
    """A random model of two layers, with weights wide enough that its opinions differ."""
    import torch
    import transformers

    torch.manual_seed(seed)
    settings = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 4096,
        "initializer_range": 0.3,
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "pad_token_id": tokenizer.pad_token_id,
        "tie_word_embeddings": False,
    }
    config = getattr(transformers, f"{family}Config")(**(settings | more))
    return getattr(transformers, f"{family}ForCausalLM")(config).eval()


def save_tiny(root: Path, name: str, **more: Any) -> Path:
    """A folder of a tiny model by the name of its variant (see ``VARIANTS``), or of ``adapter`` on chatml."""
    import torch

    folder = root / name
    if folder.exists():
        return folder
    if name == "adapter":
        from peft import LoraConfig, get_peft_model
        from transformers import AutoModelForCausalLM

        base = AutoModelForCausalLM.from_pretrained(save_tiny(root, "chatml", **more))
        torch.manual_seed(1)
        # Random in both factors: an adapter as it is first made changes nothing.
        lora = LoraConfig(r=4, target_modules="all-linear", init_lora_weights=False, task_type="CAUSAL_LM")
        get_peft_model(base, lora).save_pretrained(folder)
        tiny_tokenizer("chatml").save_pretrained(folder)
    else:
        tokenizer = tiny_tokenizer(name)
        tiny_model(tokenizer, **more).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def model_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of a tiny model by its name, see :func:`save_tiny`."""
    import torch
    from transformers.utils.logging import disable_progress_bar

    torch.set_num_threads(1)  # these models are far too small for more
    disable_progress_bar()  # a test reads what its commands write, and saving would write among it
    return partial(save_tiny, tmp_path_factory.mktemp("models"))


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a tiny model, ``model``, and a built data set about two dozen documents, ``data``."""
    from benchmarks.training_drill import prepare

    root = tmp_path_factory.mktemp("folder")
    prepare(root)
    return root


@pytest.fixture(scope="session")
def tiny_backend(model_folder: Callable[[str], Path]) -> Callable[..., Any]:
    """The transformers backend on a tiny model, by name; ``batch_tokens=1`` runs every row alone."""
    from judge.backends.transformers import TransformersBackend
    from judge.models.weights import LoadedModel, load_model

    loaded: dict[str, LoadedModel] = {}
    load_model(str(model_folder("chatml")))  # the imports, which take seconds, are no test's own time

    def make(name: str, **settings: Any) -> TransformersBackend:
        if name not in loaded:
            loaded[name] = load_model(str(model_folder(name)), precision="float32")
        return TransformersBackend(loaded[name], **settings)

    return make


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT without a head."""
    from tests.encoders import save_model

    return save_model(tmp_path_factory.mktemp("bert"), "bert", "Model")
