"""Draws docs/pictures/overview.svg: how documents become a judge, and what a judge says.

python docs/overview.py
"""

from collections.abc import Sequence
from html import escape
from pathlib import Path

OUT = Path(__file__).parent / "pictures" / "overview.svg"
WIDTH, HEIGHT = 1180, 330
INK, GREY, LINE, RED, GREEN = "#1f2933", "#5b6770", "#b6c0c8", "#b42318", "#18794e"
BOX, TOP, TALL = 250, 62, 176


def text(x: float, y: float, words: str, *, size: int = 14, color: str = INK, bold: bool = False) -> str:
    """One line of text; ``x`` is its left end."""
    weight = ' font-weight="600"' if bold else ""
    return f'<text x="{x}" y="{y}" font-size="{size}" fill="{color}"{weight}>{escape(words)}</text>'


def box(x: float, title: str, lines: Sequence[tuple[str, str]]) -> str:
    """A titled box with lines of text in their colours."""
    parts = [
        text(x, TOP - 16, title, size=16, bold=True),
        f'<rect x="{x}" y="{TOP}" width="{BOX}" height="{TALL}" rx="8" fill="#fff" stroke="{LINE}"/>',
    ]
    parts += [
        text(x + 14, TOP + 28 + 24 * row, words, color=color) for row, (words, color) in enumerate(lines)
    ]
    return "\n".join(parts)


def arrow(x: float, words: str) -> str:
    """An arrow from one box to the next, with the command that does the step below the boxes."""
    y = TOP + TALL / 2
    return (
        f'<path d="M{x + 6} {y} h38 m-9 -6 l9 6 l-9 6" fill="none" stroke="{GREY}" stroke-width="2"/>'
        f'<text x="{x + 25}" y="{TOP + TALL + 34}" font-size="13" fill="{GREY}" text-anchor="middle" '
        f'font-family="ui-monospace, monospace">{escape(words)}</text>'
    )


def draw() -> str:
    """The whole picture as SVG."""
    step = BOX + 50
    documents = [
        ("Doc: opened on 3 May 1931,", INK), ("is 214 metres long.", INK), ("Q: When did it open?", GREY),
        ("A: On 3 May 1931.", GREEN),
    ]  # fmt: skip
    pairs = [
        ("A: On 3 May 1931.", GREEN), ("PASS", GREEN), ("A: On 3 May 1945.", RED), ("FAIL", RED),
        ("same question, same style", GREY),
    ]  # fmt: skip
    judge = [
        ("an encoder on any CPU,", INK), ("or a language model", INK), ("with LoRA, SFT and DPO;", INK),
        ("calibrated, and measured", GREY), ("against word overlap", GREY),
    ]  # fmt: skip
    verdict = [
        ("It opened in 1945, and the", INK), ("ferry stayed.", INK), ("FAIL, p(FAIL) = 0.71", RED),
        ("unsupported: \u201cin 1945, and\u201d,", RED), ("\u201cferry stayed\u201d", RED),
    ]  # fmt: skip
    boxes = (
        ("Your documents", documents), ("Contrast pairs", pairs), ("A judge", judge), ("A verdict", verdict)
    )  # fmt: skip
    commands = ("judge data build", "judge encoder, sft, dpo", "judge check, batch, serve")
    body = [box(10 + step * place, title, lines) for place, (title, lines) in enumerate(boxes)]
    body += [arrow(10 + step * place + BOX, words) for place, words in enumerate(commands)]
    body.append(
        text(
            10,
            HEIGHT - 18,
            "judge eval measures any of them on HaluBench, RAGTruth, Bi'anBench and more.",
            color=GREY,
        )
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        f'aria-label="Documents become contrast pairs, pairs train a judge, a judge gives verdicts" '
        f'font-family="system-ui, sans-serif"><rect width="{WIDTH}" height="{HEIGHT}" fill="#f7f9fa"/>\n'
        + "\n".join(body)
        + "\n</svg>\n"
    )


if __name__ == "__main__":
    OUT.write_text(draw(), encoding="utf-8")
