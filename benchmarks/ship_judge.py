"""Puts a trained judge into the package: its weights, its identity, its results and its model card.

    python -m benchmarks.ship_judge reference runs/reference/seed0
    python -m benchmarks.ship_judge reference-1.5b runs/reference/1.5b

Takes the folder of a recipe's runs: the calibrated judge in ``judge``, its result on RAGTruth in
``eval``. Paths on the training machine are left out.
"""

import argparse
import json
import shutil
from pathlib import Path
from typing import Any

from eval.report import Report, read_reports
from judge.calibration.curve import Calibration
from judge.encoder.folder import TOKEN_HEAD, TOKENIZER
from judge.encoder.heads import CONFIG
from judge.encoder.packed import PACKED
from judge.files import JUDGE_FILE, write_json, write_text
from judge.load import load_judge
from judge.models.identity import SECOND, read_identity
from judge.models.trained_on import carry_trained_on
from judge.shipped import REFERENCE, REFERENCE_1_5B, model_path
from judge.training.card import model_card

RERANKER = "cross-encoder/ms-marco-MiniLM-L-12-v2"
"""Where the first encoder of ``reference`` starts, which reads pairs; the second starts from MiniLM."""
PLACES = {
    REFERENCE: {
        "model": "runs/reference/pairs-start",
        "data": "runs/reference/data-further",
        "output": "runs/reference/pairs",
    },
    SECOND: {
        "model": "runs/reference/inference",
        "data": "runs/reference/data",
        "output": "runs/reference/pages",
    },
    REFERENCE_1_5B: {
        "model": "Qwen/Qwen2.5-Coder-1.5B-Instruct",
        "data": "runs/reference/data-1.5b",
        "output": "runs/reference/1.5b/trained",
    },
}
"""Start, data and output of the last stage, as named in the recipe."""
FILES = {
    REFERENCE: (PACKED, CONFIG, TOKENIZER, TOKEN_HEAD),
    SECOND: (PACKED, CONFIG, TOKENIZER),
    REFERENCE_1_5B: ("adapter_model.safetensors", "adapter_config.json"),
}
"""What ships of each judge's folder, besides its identity and card."""
LICENCES = {
    REFERENCE: {
        "Apache-2.0": "all-MiniLM-L6-v2, ms-marco-MiniLM-L-12-v2, InfoTabS, Q2, Fool Me Twice, COVID-QA, "
        "pairs written for this toolkit, the starter corpus",
        "MIT": "RAGTruth, TabFact, Evidence Inference, DeFacto, SciTab, Citation-Integrity, FactCG, "
        "Quintd-1, FEVER-Symmetric, Check-COVID, MuFaME, FacEval, BUMP",
        "OANC": "MultiNLI",
        "CC BY 4.0": "WANLI",
        "CC BY-SA 3.0 and 4.0": "SNLI and its counterfactuals, Breaking NLI, MED, FOLIO, FEVEROUS, "
        "SQuAD 2.0, BoolQ, XQuAD, FEVER (the DocNLI form BSD-3)",
        "ODC-BY": "WiCE",
        "CDLA-Sharing 1.0, CC BY 4.0": "BEGIN",
    },
    REFERENCE_1_5B: {
        "Apache-2.0": "Qwen2.5-Coder-1.5B-Instruct, InfoTabS, Q2, Fool Me Twice, pairs written for this "
        "toolkit, the starter corpus",
        "MIT": "RAGTruth, Citation-Integrity, FactCG, FEVER-Symmetric, Check-COVID, MuFaME, FacEval, BUMP",
        "OANC": "MultiNLI",
        "CC BY 4.0": "WANLI",
        "CC BY-SA 3.0 and 4.0": "SNLI with counterfactuals, SQuAD 2.0, BoolQ, CMRC 2018, DRCD, "
        "FEVER (the DocNLI form BSD-3)",
        "ODC-BY": "WiCE",
        "CDLA-Sharing 1.0, CC BY 4.0": "BEGIN",
    },
}  # fmt: skip
LIMITS = {
    REFERENCE: """
English alone, verdict mode alone. It compares wording and simple facts: sums, tables of figures,
negations and anything that needs an inference of two steps it often gets wrong; docs/judges.md has the
figures, by benchmark and by source. A verdict is a hint for a reader, not a proof.
""".strip(),
    REFERENCE_1_5B: """
English and some Chinese, verdict mode alone. Of two answers that differ in one detail it ranks the right one
first in seven of ten cases; sums and conversions of units it gets wrong more often than right.
A verdict is a hint for a reader, not a proof.

It was trained and measured on the base's weights in 4 bits, made bfloat16; the Hub's own are more exact.
Five parts, each on rows drawn anew from sets that had passed the leak gate, follow one another: three at
rank 32, packed to rank 8, and two at rank 8; the weights are the mean of the last two. The rows below are
those of all five, the settings those of the last.
""".strip(),
}


def measured(report: Report) -> dict[str, Any]:
    """The figures for the judge's presentation."""
    metrics = report.metrics
    return {
        "balanced_accuracy": round(100 * metrics.balanced_accuracy, 1),
        "auroc": round(100 * metrics.auroc, 1),
        "f1": round(100 * metrics.f1, 1),
        "n": metrics.n,
        "on": f"the {metrics.n} test answers of RAGTruth's questions",
    }


def without_places(name: str, identity: dict[str, Any]) -> dict[str, Any]:
    """The content of judge.json without paths of the training machine."""
    places = PLACES[name]
    found = {**identity, "data": places["data"], "recipe": {**identity["recipe"], **places}}
    found["training"] = {key: value for key, value in identity["training"].items() if key != "losses"}
    if "started_from" in identity:
        found["started_from"] = places["model"]
    return found


def confidence(identity: dict[str, Any]) -> str:
    """A paragraph on the probabilities on unseen sources; empty if they were not measured."""
    found = Calibration.model_validate(identity["calibration"]["verdict"]).never_seen
    if found is None:
        return ""
    before, after = found.ece_before, found.ece_after
    return f"""
Its probabilities are as sure as judges of its kind may be on sources that training left out:
{found.samples} answers of {found.sources} sources, calibration error {before:.3f} before, {after:.3f} after
(each source by the others). Where fewer than half of the answers are hallucinated, say so: --prior 0.1.
"""


def card(name: str, identity: dict[str, Any]) -> str:
    """The model card, with figures, licences and limits."""
    found = identity["measured"]
    figures = (
        f"balanced accuracy {found['balanced_accuracy']}, AUROC {found['auroc']}, F1 of FAIL {found['f1']}"
    )
    licences = "\n".join(f"| {licence} | {names} |" for licence, names in LICENCES[name].items())
    more = f"""## Figures

On {found["on"]}, calibrated, threshold 0.5, percent: {figures}.
Baselines, intervals and other benchmarks: docs/judges.md.
{confidence(identity)}
## Limits

{LIMITS[name]}

## Made of

| licence | model and data |
| --- | --- |
{licences}

"""
    before, mark, after = (
        model_card(identity).replace("--model PATH", f"--model {name}").partition("## Training")
    )
    return before + more + mark + after


def ship(name: str, judge: Path, folder: Path, identity: dict[str, Any]) -> None:
    """Copy the weights of a judge, and write its judge.json."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in FILES[name]:
        shutil.copyfile(judge / file, folder / file)
    write_json(folder / JUDGE_FILE, identity)


def main() -> None:
    """Copy the judge and write its card."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("name", choices=LIMITS)
    parser.add_argument("run", type=Path)
    options = parser.parse_args()
    [report] = [one for one in read_reports(options.run / "eval") if one.benchmark == "ragtruth"]
    judge, folder = options.run / "judge", Path(model_path(options.name))
    identity = without_places(options.name, read_identity(str(judge)))
    parts = [identity]
    if SECOND in identity:
        identity |= {"base_model": RERANKER, "base": {"name": RERANKER}}
        parts.append(without_places(SECOND, read_identity(str(judge / SECOND))))
    if any("at" in part["base"] for part in parts):
        raise SystemExit(
            f"{judge}: its base lies in a folder here; train from what the Hub or a wheel brings"
        )
    for second in parts[1:]:
        ship(SECOND, judge / SECOND, folder / SECOND, second)
    identity |= {
        "parameters": load_judge(str(judge)).describe()["parameters"],
        "measured": measured(report),
    }
    ship(options.name, judge, folder, identity)
    carry_trained_on(str(judge), folder)
    write_text(folder / "README.md", card(options.name, identity))
    print(json.dumps(identity["measured"], indent=2))


if __name__ == "__main__":
    main()
