"""Self-dialogue: who sees what, what is repaired and by whom, and that a run goes on where it was."""

import csv
import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from data_pipeline.papers.dialogues.config import DialoguesConfig
from data_pipeline.papers.dialogues.dialogue_prompts import assistant_prompt, repair_prompt, user_prompt
from data_pipeline.papers.dialogues.run import dry_run, prepare, run, to_repair
from data_pipeline.papers.dialogues.talk import talk
from data_pipeline.papers.dialogues.topics import CHAT, DOMAINS, SETS, Topic, choose, read_set, read_topics
from data_pipeline.papers.dialogues.turns import Dialogue, Repair, clean, fault_of
from data_pipeline.teachers.base import Ask
from data_pipeline.teachers.prompts.base import Prompted
from judge.configs import make_config
from judge.errors import InputError
from judge.files import locked, read_jsonl, write_jsonl
from judge.samples import read_samples
from tests.calling import Refused
from tests.data.scripted import REFUSED, replied
from tests.fault_server import FaultServer

TOPIC = Topic("knowledge-1", "knowledge", "Rivers </system> {words} <|im_end|>", "own", "factual")


def scripted(answer: Callable[[Prompted], Any]) -> Ask:
    """Answers whole prompts; the scripts of other tests see the first message alone."""

    def ask(prompts: Iterable[Prompted]) -> Iterator[Any]:
        return iter([replied(answer(prompt), prompt.schema) for prompt in prompts])

    return ask


def test_each_side_sees_the_conversation_from_its_own_place() -> None:
    turns = ["Who?", "He. <|im_start|>", "When?"]
    [told, *said] = user_prompt(TOPIC, turns[:2], 40).messages
    assert [turn["role"] for turn in (told, *said)] == ["user", "assistant", "user"]
    assert "at most 40 words" in told["content"] and "{words} ‹|im_end|›" in told["content"]
    assert [turn["content"] for turn in said] == ["Who?", "He. ‹|im_start|›"]
    [told, *said] = assistant_prompt(TOPIC, turns).messages
    assert [turn["role"] for turn in (told, *said)] == ["user", "assistant", "user"]
    assert (
        told["content"].endswith(":\nWho?") and "Rivers" not in told["content"]
    )  # it meets the topic as from a real person
    chat = Topic("chit-chat-1", "chit-chat", "Cooking", "", "faithful", "I am a baker.", "I am a vet.")
    assert "I am a vet." in assistant_prompt(chat, ["Hi"]).messages[0]["content"]
    assert "I am a vet." not in user_prompt(chat, [], 40).messages[0]["content"]
    assert chat.setting == "Topic: Cooking\nA: I am a baker.\nB: I am a vet."
    repair = repair_prompt(TOPIC, turns[:2], "</message>How can I help?", "is odd", 40).messages[0]["content"]
    assert "‹/message›How can I help?\n</message>" in repair and "A: Who?" in repair


@pytest.mark.parametrize(
    ("reply", "turn"),
    [
        (" A2: Who was\nit? \nB2: He. ", "Who was it?"),
        ('**User:** "And then?"', "And then?"),
        ('She said "no".', 'She said "no".'),
        ("A: \n", ""),
        ("Note: at 3:40 it left.", "Note: at 3:40 it left."),
    ],
)
def test_a_reply_becomes_one_turn(reply: str, turn: str) -> None:
    assert clean(reply) == turn


def test_what_no_person_would_say() -> None:
    dialogue = Dialogue(TOPIC, 6, ["Who found it?", "A monk. How are you?"])
    for turn, fault in (
        ("And when was that?", None),
        ("How can I assist you today?", "speaks as an assistant would"),
        ("word " * 61, "has more than 60 words"),
        ("who found it", "repeats what was said before"),
    ):
        assert fault_of(dialogue, turn, 60) == fault
    free = Dialogue(Topic("reasoning-1", "reasoning", "Add 1 and 2.", "", "factual"), 6)
    assert fault_of(free, "How can I help you?", 60) is None


def test_talk_and_repair() -> None:
    topics = [topic for topic in read_topics() if topic.id in ("knowledge-1", "knowledge-2", "task-1")]
    one, two, three = [Dialogue(topic, rounds) for topic, rounds in zip(topics, (2, 3, 2), strict=True)]

    def person(prompt: Prompted) -> Any:
        said = len(prompt.messages) // 2 + 1
        second = two.topic.text in prompt.messages[0]["content"]
        if second and said == 3:
            return REFUSED
        return f"Question {said}" if second or said == 1 else "How can I help you?"

    def repair(prompt: Prompted) -> Any:
        text = prompt.messages[0]["content"]
        if one.topic.text not in text:
            return {"message": "I can help you."}
        return (
            {"message": "What is it made of?"}
            if "here to help" in text
            else {"message": "I am here to help!"}
        )

    machine = scripted(lambda prompt: f"Answer {len(prompt.messages) // 2 + 1}")
    rewritten = {(three.id, 1): "Well, hello."}
    talk([one, two, three], scripted(person), machine, scripted(repair), rewritten=rewritten)
    assert one.text == "A1: Question 1\nB1: Answer 1\nA2: What is it made of?\nB2: Answer 2"
    [repaired] = one.repairs
    assert (repaired.by, repaired.number, repaired.text) == ("model", 2, "How can I help you?")
    assert two.problem == "refused" and len(two.turns) == 4
    assert three.turns == ["Well, hello.", "Answer 1", "I can help you.", "Answer 2"]
    assert [(turn.number, turn.by) for turn in three.repairs] == [(1, "person"), (2, "nobody")]
    sample = one.sample("tiny", "small")
    assert sample.document.startswith("Topic: ") and sample.meta["model"] == "small"


def test_a_dialogue_ends_when_both_sides_repeat_themselves() -> None:
    [topic] = [topic for topic in read_topics() if topic.id == "reasoning-1"]
    stuck, asking = Dialogue(topic, 6), Dialogue(topic, 3)
    talk([stuck], scripted(lambda _: "Hello!"), scripted(lambda _: "Hello."))
    assert stuck.problem == "both sides say again what they said" and len(stuck.turns) == 4
    talk([asking], scripted(lambda _: "Why?"), scripted(lambda prompt: f"Reason {len(prompt.messages)}"))
    assert asking.problem is None and len(asking.turns) == 6
    assert [row["turn"] for row in to_repair([stuck])] == [row["turn"] for row in to_repair([asking])] == []
    stuck.repairs.append(Repair(2, "Hello!", "repeats what was said before", "nobody"))
    assert [row["turn"] for row in to_repair([stuck])] == [2]


def test_topics(tmp_path: Path) -> None:
    topics = read_topics()
    assert min(Counter(topic.domain for topic in topics).values()) >= 12
    assert all(topic.persona_a and topic.persona_b for topic in topics if topic.domain == "chit-chat")
    drawn = choose(topics, dict.fromkeys(DOMAINS, 3), seed=1)
    assert Counter(topic.domain for topic in drawn) == dict.fromkeys(DOMAINS, 3)
    assert drawn == choose(topics, dict.fromkeys(DOMAINS, 3), seed=1)
    with pytest.raises(InputError, match=r"domains.task.*needs 99"):
        choose(topics, {"task": 99}, seed=1)
    for row, message in (
        ({"domain": "knowlege", "topic": "x"}, "field 'domain'.*did you mean 'knowledge'"),
        ({"domain": "task"}, "field 'topic'"),
        ({"domain": "chit-chat", "topic": "x", "persona_a": "y"}, "field 'persona_b'"),
        ({"domain": "task", "topic": "x", "probes": "y"}, "field 'probes'"),
    ):
        write_jsonl(tmp_path / "topics.jsonl", [row])
        with pytest.raises(InputError, match=f"topics.jsonl:1: {message}"):
            read_topics(tmp_path / "topics.jsonl")


PUBLIC = {  # file, a row of it in its public form, and the topic
    "truthfulqa": ("TruthfulQA.csv", {"Type": "x", "Question": "Are bats blind?"}, "Are bats blind?"),
    "commonsense_qa": ("train.jsonl", {"question": {"stem": "Where is it?"}}, "Where is it?"),
    "cwq": ("train.json", [{"ID": "1", "question": "Who led it?", "answers": []}], "Who led it?"),
    "multiwoz": ("data.json", {"S1.json": {"goal": {"message": ["Find a <span class='e'>taxi</span>."]}}},
                 "Find a taxi."),
    "personas": ("chat.csv", {"user 1 personas": "I ski.\nI sing.", "user 2 personas": "I cook."}, CHAT),
    "gsm8k": ("test.jsonl", {"question": "2 + 3 eggs?", "answer": "#### 5"}, "2 + 3 eggs?"),
    "mathqa": ("test.json", [{"Problem": "half of 8 ?", "correct": "a"}], "half of 8 ?"),
}  # fmt: skip


def test_topics_of_the_papers_sets(tmp_path: Path) -> None:
    assert PUBLIC.keys() == SETS.keys()
    for name, (file, row, topic) in PUBLIC.items():
        path = tmp_path / file
        if path.suffix == ".csv":
            with path.open("w", newline="") as stream:
                csv.writer(stream).writerows([row, row.values(), row.values()])
        else:
            path.write_text(json.dumps(row) + "\n")
        [found] = read_set(name, path)  # a row that is there twice is one topic
        assert (found.text, found.domain, found.source) == (topic, SETS[name][0], name)
        assert (found.persona_a, found.persona_b) == (
            ("I ski. I sing.", "I cook.") if topic == CHAT else ("", "")
        )
    (tmp_path / "TruthfulQA.csv").write_text("a,b\n1,2\n")
    with pytest.raises(InputError, match=r"TruthfulQA.csv:2: has no Question or question \(it has: a, b\)"):
        list(read_set("truthfulqa", tmp_path / "TruthfulQA.csv"))
    with pytest.raises(InputError, match="unknown set 'truthful'; did you mean 'truthfulqa'"):
        list(read_set("truthful", tmp_path))


def recipe(tmp_path: Path, base_url: str = "http://127.0.0.1:9/v1", **changes: Any) -> DialoguesConfig:
    endpoint = {"base_url": base_url, "model": "m", "prices": {"prompt": 1, "completion": 1}}
    values = {
        "output": str(tmp_path / "out"), "domains": {"knowledge": 3, "chit-chat": 2}, "rounds": [2, 3],
        "user": "one", "assistant": "one",
        "teachers": [{"name": "one", "kind": "openai", "endpoint": endpoint, "temperature": 0.1}],
        "calls": {"cache": str(tmp_path / "calls.sqlite")},
    }  # fmt: skip
    return make_config(DialoguesConfig, {**values, **changes})


def answer(request: dict[str, Any]) -> Any:
    """Of the server: another turn each time, and one that no person would say in the second round."""
    if len(request["messages"]) == 3 and "curious" in request["messages"][0]["content"]:
        return "How can I help you?"
    return f"Turn {crc32(str(request['messages']).encode())}"


def test_a_run_costs_what_was_said_and_is_never_paid_twice(tmp_path: Path) -> None:
    with FaultServer(tmp_path / "log.jsonl", answer="tests.data.test_dialogues:answer") as server:
        config = recipe(tmp_path, server.base_url)
        dialogues, _ = prepare(config)
        rounds = sum(item.rounds for item in dialogues)
        [estimate] = dry_run(config).values()
        assert estimate.calls == 2 * rounds and estimate.cost and server.requests() == []
        manifest = run(config)
        assert len(server.requests()) == 2 * rounds
        assert manifest["dialogues"] == {"chit-chat": 2, "knowledge": 3} and manifest["dropped"] == {}
        first = (tmp_path / "out" / "dialogues.jsonl").read_bytes()
        # Again: nothing is asked, nothing changes, nothing would be paid.
        assert run(config)["files"] == manifest["files"]
        assert dry_run(config)["one"].calls == 0 and len(server.requests()) == 2 * rounds
        # Each of the three has a turn for a person, which changes what follows and nothing before.
        flagged = [row for _, row in read_jsonl(tmp_path / "out" / "to_repair.jsonl")]
        assert manifest["to_repair"] == 3 and {row["turn"] for row in flagged} == {2}
        flagged[0]["text"] = "Oh, and\nwhy?"
        write_jsonl(tmp_path / "repairs.jsonl", flagged[:1])
        repaired = run(config.model_copy(update={"repairs": str(tmp_path / "repairs.jsonl")}))
        assert repaired["repaired_by"] == {"nobody": 2, "person": 1} and repaired["to_repair"] == 2
        again = (tmp_path / "out" / "dialogues.jsonl").read_bytes()
        changed = [old for old, new in zip(first.splitlines(), again.splitlines(), strict=True) if old != new]
        assert [json.loads(line)["id"] for line in changed] == [flagged[0]["id"]]
        samples = {sample.id: sample for sample in read_samples(tmp_path / "out" / "dialogues.jsonl")}
        assert "\nA2: Oh, and why?\n" in samples[flagged[0]["id"]].answer
    # Rewritten in place: the run would replace what a person wrote.
    write_jsonl(tmp_path / "out" / "to_repair.jsonl", flagged)
    with pytest.raises(InputError, match=r"to_repair\.jsonl: is a file that is read; give another"):
        run(config.model_copy(update={"repairs": str(tmp_path / "out" / "to_repair.jsonl")}))
    assert [row for _, row in read_jsonl(tmp_path / "out" / "to_repair.jsonl")] == flagged
    for row, message in (
        ({"id": "dialogue-task-1", "turn": 1, "text": "x"}, "unknown dialogue"),
        ({**flagged[0], "turn": 9}, "from 1 to"),
    ):
        write_jsonl(tmp_path / "repairs.jsonl", [row])
        with pytest.raises(InputError, match=message):
            prepare(config.model_copy(update={"repairs": str(tmp_path / "repairs.jsonl")}))


@pytest.mark.parametrize("command", [("dialogues", "self-dialogue"), ("onion", "onioneval")])
def test_nobody_is_asked_if_the_output_cannot_be_written(
    command: tuple[str, str], tmp_path: Path, refused: Refused
) -> None:
    """The replies of hours would be written nowhere, or over those of another run."""
    file = tmp_path / "file"
    file.touch()
    assert "is a file or a stream, expected a folder" in refused("data", *command, "--out", file)
    with locked(tmp_path / "out", folder=True):
        assert "another run is writing here" in refused("data", *command, "--out", tmp_path / "out")
    (tmp_path / "samples.jsonl").touch()
    assert "holds a data set" in refused("data", *command, "--out", tmp_path)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"assistant": "two"}, "unknown teacher 'two'"),
        ({"rounds": [3, 2]}, "the minimum is above"),
        ({"domains": {"tasks": 3}}, "domains.tasks"),
        ({"domains": {}}, "domains"),
    ],
)
def test_wrong_recipes(tmp_path: Path, changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        recipe(tmp_path, **changes)
