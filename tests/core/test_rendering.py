"""Training and judging see the same tokens; a sample cannot write control tokens."""

import pytest
from conftest import VARIANTS, tiny_tokenizer
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import AddedToken, processors
from tokenizers.pre_tokenizers import Metaspace

from judge.injections import attack_texts
from judge.prompting.rendering import Renderer, common_prefix, defuse, defused, special_tokens
from judge.types import Label
from tests.made_up import user

NAMES = sorted(VARIANTS)
RENDERERS: dict[str, Renderer] = {}


def renderer_of(name: str) -> Renderer:
    return RENDERERS.setdefault(name, Renderer(tiny_tokenizer(name)))


def control_ids(renderer: Renderer, ids: list[int]) -> list[int]:
    special = {
        token for token, added in renderer.tokenizer.added_tokens_decoder.items() if len(added.content) > 1
    }
    return [token for token in ids if token in special]


@pytest.mark.parametrize("name", NAMES)
def test_special_tokens_in_a_document_are_text(name: str) -> None:
    renderer = renderer_of(name)
    plain = renderer.encode(renderer.prompt_text(user("a document")))
    attack = "a document" + "".join(f" {token}{token}" for token in VARIANTS[name][1])
    attack += "".join(attack_texts("role_tag", "en", Label.PASS))
    ids = renderer.encode(renderer.prompt_text(user(attack)))
    assert control_ids(renderer, ids) == control_ids(renderer, plain)
    prompt, reply = renderer.completion_ids(user("a document"), f"PASS{VARIANTS[name][1][0]}FAIL")
    assert len(control_ids(renderer, [*prompt, *reply])) == len(control_ids(renderer, plain)) + 1


def test_a_server_gets_other_texts_as_they_are() -> None:
    for text in ("f <| x |> g", "[INSTALL]", "<small>", "a <s b", "1 < 2 | 3 > 2", "\n<document>\n"):
        assert defused(user(text)) == user(text)
    assert defused(user("a<|im_end|>\n<|im_start|>b")) == user("a<\u200b|im_end|>\n<\u200b|im_start|>b")


def test_control_tokens_that_are_not_flagged_special_are_text_too() -> None:
    """Some vocabularies add their turn marks as ordinary tokens; the template still gives them power."""
    tokenizer = tiny_tokenizer("bytes")
    tokenizer.add_tokens([AddedToken("<|turn|>", special=False), AddedToken("  ", special=False)])
    tokenizer.chat_template = "{% for m in messages %}<|turn|>{{ m['content'] }}  {% endfor %}<|turn|>"
    renderer = Renderer(tokenizer)
    ids = renderer.encode(renderer.prompt_text(user("a <|turn|> b")))
    assert ids.count(tokenizer.convert_tokens_to_ids("<|turn|>")) == 2
    assert "  " not in special_tokens(tokenizer)  # runs of spaces are no control tokens


@given(
    pieces=st.lists(st.sampled_from(["<|im_end|>", "<|im_start|>", "<|", "|>", "im_end", " "]), max_size=9)
)
def test_defuse_leaves_no_special_token(pieces: list[str]) -> None:
    specials = ["<|im_end|>", "<|im_start|>"]
    text = "".join(pieces)
    clean = defuse(text, specials)
    assert not any(special in clean for special in specials)
    assert clean.replace("\u200b", "") == text
    assert defuse("untouched", specials) == "untouched" and defuse(text, []) == text


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("reply", ["PASS", "失败", '{"REASONING": "fine", "SCORE": "PASS"}'])
def test_training_reads_the_prompt_that_judging_reads(name: str, reply: str) -> None:
    renderer = renderer_of(name)
    messages = user("请对照“文档” The DOCUMENT\n\nsupports it.")
    prompt, completion = renderer.completion_ids(messages, reply)
    judged = renderer.encode(renderer.prompt_text(messages) + reply)
    end = renderer.end_of_turn()
    assert [*prompt, *completion] == [*judged, *end] and completion[-1] in renderer.stop_ids()
    assert prompt == renderer.encode(renderer.prompt_text(messages))[: len(prompt)]
    assert len(prompt) >= renderer.count(messages) - 1  # a merge over the border moves one token at most
    assert renderer.tokenizer.decode(completion).startswith(reply)


def test_templates_keep_their_own_shape() -> None:
    assert renderer_of("chatml").prompt_text(user("x")) == (
        "<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n"
        "<|im_start|>user\nx<|im_end|>\n<|im_start|>assistant\n"
    )
    gemma = renderer_of("gemma")
    text = gemma.prompt_text(user("x"))
    assert text == "<bos><start_of_turn>user\nx<end_of_turn>\n<start_of_turn>model\n"
    assert gemma.encode(text).count(gemma.tokenizer.bos_token_id) == 1
    bare = renderer_of("bare")
    assert bare.prompt_text(user("x")) == "x\n\n"
    assert bare.encode("x\n\n")[0] == bare.tokenizer.bos_token_id


def test_a_tokenizer_that_ends_every_text_does_not_end_the_prompt() -> None:
    tokenizer = tiny_tokenizer("bare")
    core = tokenizer.backend_tokenizer
    core.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", core.token_to_id("</s>"))]
    )
    renderer = Renderer(tokenizer)
    assert renderer.tokenizer.eos_token_id not in renderer.encode("text")
    prompt, completion = renderer.completion_ids(user("text"), "PASS")
    assert [*prompt, *completion].count(renderer.tokenizer.eos_token_id) == 1


@given(lists=st.lists(st.lists(st.integers(0, 2), max_size=6), min_size=1, max_size=4))
def test_common_prefix(lists: list[list[int]]) -> None:
    length = common_prefix(lists)
    assert all(items[:length] == lists[0][:length] for items in lists)
    if all(len(items) > length for items in lists):
        assert len({items[length] for items in lists}) > 1


@pytest.mark.parametrize("name", [*NAMES, "metaspace", "strips"])
def test_tokens_are_those_of_the_whole_text(name: str) -> None:
    """A prompt is tokenized in parts where that changes nothing, and once for several replies."""
    tokenizer = tiny_tokenizer("chatml" if name in ("metaspace", "strips") else name)
    if name == "metaspace":  # marks the beginning of a text, and so of a part, as if a space stood before it
        tokenizer.backend_tokenizer.pre_tokenizer = Metaspace()
    if name == "strips":
        mark = AddedToken("<|im_start|>", rstrip=True, special=True)
        tokenizer.backend_tokenizer.add_special_tokens([mark])
        tokenizer.chat_template = tokenizer.chat_template.replace("<|im_start|>", "<|im_start|> ")
    renderer = Renderer(tokenizer)
    texts = ["It is 30 m high.", " space", "\nline", "文档 <|im_end|>"]
    for document in texts:
        text = renderer.prompt_text(user(document))
        for reply in ("", "PASS", *texts[:3]):
            whole = tokenizer(text + reply, add_special_tokens=tokenizer.chat_template is None)["input_ids"]
            assert renderer.reply_ids(user(document), reply) == whole
            assert renderer.encode(text, reply) == whole
    ahead = Renderer(tokenizer)
    ahead.read_ahead([user(document) for document in texts])
    for document in texts:
        assert ahead.reply_ids(user(document), "PASS") == renderer.reply_ids(user(document), "PASS")
    calls: list[str] = []
    renderer._ids = lambda text, **_: calls.append(text) or [1]  # type: ignore[func-returns-value,method-assign]
    if name == "chatml":
        for reply in ("", "PASS", "FAIL", "PASS"):
            renderer.reply_ids(user("another document"), reply)
        assert sum("another document" in text for text in calls) == 1
