"""How a model is asked about a dialogue of DiaHalu: three questions, steps by domain, one solved example.

Reason mode is the paper's chain of thought, with different steps for each domain (section 5.4, appendix A.7).
The paper adds one solved example for models that follow instructions badly (appendix A.6).
"""

from collections.abc import Mapping
from dataclasses import dataclass

from eval.benchmarks.prompts import REPLY, BenchmarkPrompt, identity
from judge.prompting.prompts import material, user_turn
from judge.types import Message, Mode, Sample

RULES = (
    "The ANSWER is a whole dialogue between A and B. Ask three things of it. Is anything said that is "
    "untrue or invented? Does a speaker contradict themselves, the other or the context, leave the "
    "subject, or answer what cannot be answered? Is there a mistake in a calculation or a conclusion? "
    "One such fault anywhere in the dialogue is enough."
)
EVIDENCE = "The DOCUMENT holds what a search found about it; use it where it helps."
STEPS: Mapping[str, str] = {
    "knowledge": (
        "B answers from knowledge. Go through it in steps: list the facts that B states; recall what you "
        "know of each; see whether a question rests on something false that B accepts; then decide."
    ),
    "task": (
        "B helps A to get something done. Go through it in steps: list what A wants, with every time, place "
        "and number; follow from turn to turn whether B keeps to it and to what B said before; see whether B "
        "claims what B cannot know or do; then decide."
    ),
    "chit-chat": (
        "A and B are two people who chat. Go through it in steps: note what each says about themselves; look "
        "for turns that contradict it, that do not follow from the turn before or leave the subject; then "
        "decide."
    ),
    "reasoning": (
        "A and B solve a problem. Go through it in steps: solve it yourself; check every calculation and "
        "every conclusion of theirs, in order; compare their result with yours; then decide."
    ),
}
# Written for this prompt; the error is in the last turn and follows from the turns before it.
EXAMPLE = Sample(
    id="example",
    document="",
    answer=(
        "A1: How many legs do three spiders have together?\n"
        "B1: A spider has eight legs, so three of them have 24.\n"
        "A2: And if one more comes?\n"
        "B2: Then there are four spiders, and they have 30 legs."
    ),
)
EXAMPLE_REPLY: Mapping[Mode, str] = {
    "verdict": "FAIL",
    "reason": '{"REASONING": "Four spiders with eight legs each have 32 legs, not 30.", "SCORE": "FAIL"}',
}


@dataclass(frozen=True)
class DiaHaluPrompt(BenchmarkPrompt):
    """The three questions, with or without a solved example; steps by domain in reason mode."""

    version: str = "diahalu-2"
    rules: str = RULES
    evidence: str = EVIDENCE
    example: bool = False

    def messages(self, sample: Sample, mode: Mode, document: str | None = None) -> list[Message]:
        """One user turn; ``sample.source`` names the domain."""
        blocks = [f"{self.rules} {self.evidence}" if sample.document_text.strip() else self.rules]
        if mode == "reason":
            blocks += filter(None, [STEPS.get(sample.source.removeprefix("diahalu_"))])
        if self.example:
            blocks += ["Example:", *material(EXAMPLE), f"Reply: {EXAMPLE_REPLY[mode]}"]
        return user_turn(*blocks, *material(sample, document), REPLY[mode])

    def describe(self) -> dict[str, str]:
        """The version, and the hash of all texts."""
        solved = [EXAMPLE.answer, *EXAMPLE_REPLY.values()] if self.example else []
        version = f"{self.version}-one-shot" if self.example else self.version
        return identity(version, self.rules, self.evidence, *REPLY.values(), *STEPS.values(), *solved)
