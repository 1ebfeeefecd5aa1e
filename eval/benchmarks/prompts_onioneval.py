"""How a model is asked about OnionEval's layers: rules, optional solved examples, what is judged, yes or no.

The questions are the paper's: is this statement wrong; is the reader who contradicts the book right?
"""

from collections.abc import Mapping
from dataclasses import dataclass

from eval.benchmarks.prompts import identity
from judge.prompting.prompts import material, user_turn
from judge.types import MODES, Message, Mode, Sample

RULES: Mapping[str, str] = {
    "atomic": "Is the statement in the ANSWER wrong? Say yes if it is wrong, and no if it is right.",
    "story": (
        "The QUESTION tells of a book and of a reader who disagrees with it; the ANSWER is what the reader "
        "says. Is the reader right? Say yes if the reader is right, and no if the reader is wrong."
    ),
}
RULES = {**RULES, "scene": RULES["story"]}
EVIDENCE = "The DOCUMENT holds information that helps."
REPLY: Mapping[Mode, str] = {
    "verdict": "Reply with one word, yes or no.",
    "reason": 'Think step by step. Then end with a line of its own: "Answer: yes" or "Answer: no".',
}
# A right and a wrong claim each, about entities that are not in the benchmark.
EXAMPLES = (
    (
        "Lighthouse",
        "A lighthouse is a tower with a light that guides ships.",
        "A lighthouse is a kind of boat.",
    ),
    ("Glacier", "A glacier is a slowly moving mass of ice.", "A glacier is a desert plant."),
)


def story(entity: str, book: str) -> str:
    """The text around a reader's opinion in the layer ``story``."""
    return f'Nora reads in a book about {entity}: "{book}" She does not agree with the author.'


def scene(entity: str, book: str) -> str:
    """The same for the layer ``scene``, with irrelevant details around it."""
    return (
        "It has rained since the morning, and the small coffee shop at the corner is full. The milk steamer "
        "hisses, two students argue about a film, and somebody laughs at the counter. Nora has found a chair "
        "near the window, her cup is still too hot to drink from, and she has put her telephone away to "
        f"read in peace. {story(entity, book)}"
    )


@dataclass(frozen=True)
class OnionPrompt:
    """The prompt of all layers (:class:`judge.prompting.prompts.Prompt`), with or without solved examples."""

    examples: bool = False

    def messages(self, sample: Sample, mode: Mode, document: str | None = None) -> list[Message]:
        """One user turn; ``sample.meta["layer"]`` chooses the rules."""
        layer = str(sample.meta["layer"])
        rules = f"{RULES[layer]} {EVIDENCE}" if sample.document_text.strip() else RULES[layer]
        solved = _solved(layer, mode) if self.examples else []
        return user_turn(rules, *solved, *material(sample, document), REPLY[mode])

    def describe(self) -> dict[str, str]:
        """The version, and the hash of all texts."""
        examples = [(layer, mode) for mode in MODES for layer in RULES] if self.examples else []
        solved = [text for one in examples for text in _solved(*one)]
        version = "onioneval-2-few-shot" if self.examples else "onioneval-1"
        return identity(version, *RULES.values(), EVIDENCE, *REPLY.values(), *solved)


def _solved(layer: str, mode: Mode) -> list[str]:
    """Four solved examples for a layer, alternating yes and no; in reason mode with the reasoning steps."""
    blocks: list[str] = []
    for entity, right, wrong in EXAMPLES:
        if layer == "atomic":
            pairs = (("", wrong, "yes"), ("", right, "no"))
        else:
            tell = scene if layer == "scene" else story
            pairs = ((tell(entity, wrong), right, "yes"), (tell(entity, right), wrong, "no"))
        for question, answer, reply in pairs:
            example = Sample(id="example", document="", question=question, answer=answer)
            steps = f"{_steps(question, right, answer, reply)}\n" if mode == "reason" else ""
            blocks += ["Example:", *material(example), f"{steps}Answer: {reply}"]
    return blocks


def _steps(question: str, right: str, claim: str, reply: str) -> str:
    """The reasoning steps of a solved example: the claim, what is known, and the conclusion."""
    if not question:
        follows = (
            "does not agree with that, so it is wrong" if reply == "yes" else "says that, so it is right"
        )
        return f'The statement is: "{claim}" What is known is: "{right}" The statement {follows}.'
    follows = "That is what the reader says" if reply == "yes" else "That is what the book says"
    ends = "right" if reply == "yes" else "wrong"
    return (
        f'The reader says: "{claim}" The book says something else. What is known is: "{right}" {follows}, '
        f"so the reader is {ends}."
    )
