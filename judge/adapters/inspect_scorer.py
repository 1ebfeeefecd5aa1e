"""A judge as a scorer of Inspect (https://inspect.aisi.org.uk)."""

from inspect_ai.scorer import CORRECT, INCORRECT, NOANSWER, Score, Scorer, Target, accuracy, scorer, stderr
from inspect_ai.solver import TaskState

from judge.adapters import make_sample, reason
from judge.checker import Checker
from judge.types import Label, Language, Task


@scorer(metrics=[accuracy(), stderr()])
def faithfulness(
    judge: Checker, document: str = "document", task: Task = Task.QA, language: Language = "en"
) -> Scorer:
    """Score whether a completion is faithful to the document in its sample's metadata; targets are ignored.

    ``PASS`` is correct, ``FAIL`` incorrect, and an empty completion no answer, which counts as incorrect.
    If the judge gives no verdict, the sample is left unscored (``grader_failed``) and the metrics skip it.

    Args:
        judge: a judge, such as one from :func:`judge.load_judge`.
        document: the key of the metadata that holds the document, a text or a list of passages.
        task: what the completions are.
        language: of documents and completions.

    Scoring a sample without a document raises ``InputError``.
    """

    async def score(state: TaskState, target: Target) -> Score:
        answer = state.output.completion
        if not answer.strip():
            return Score(value=NOANSWER, answer=answer, reason="no_response")
        sample = make_sample(state.metadata.get(document), state.input_text, answer, task, language)
        [verdict] = await judge.acheck([sample])
        if verdict.label is None:
            return Score.unscored(answer=answer, reason="grader_failed", explanation=verdict.error)
        return Score(
            value=CORRECT if verdict.label is Label.PASS else INCORRECT,
            answer=answer,
            explanation=reason(verdict),
            metadata={"p_fail": verdict.p_fail},
        )

    return score
