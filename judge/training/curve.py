"""How a training run went, as one small picture beside the weights: ``curve.svg``."""

from collections.abc import Sequence
from xml.sax.saxutils import escape

FILE = "curve.svg"
WIDTH, HEIGHT, MARGIN, GAP = 640, 300, 46, 24
COLOURS = {"loss": "#3b6fb6", "eval_loss": "#8a4fb0", "balanced_accuracy": "#c2571a", "auroc": "#2a8a57"}
NAMES = {
    "loss": "loss",
    "eval_loss": "validation loss",
    "balanced_accuracy": "balanced accuracy",
    "auroc": "AUROC",
}

Point = tuple[float, float]


def curve_svg(losses: Sequence[dict[str, float]]) -> str:
    """Losses by step, and below them balanced accuracy and AUROC on validation samples where there are any.

    Args:
        losses: what ``judge.json`` keeps, see :func:`judge.training.run.loss_history`.

    Returns:
        An SVG picture without scripts or anything fetched.
    """
    lines = {
        name: [(entry["step"], entry[key]) for entry in losses if key in entry]
        for name, key in (
            ("loss", "loss"),
            ("eval_loss", "eval_loss"),
            ("balanced_accuracy", "eval_balanced_accuracy"),
            ("auroc", "eval_auroc"),
        )
    }
    last = max((step for points in lines.values() for step, _ in points), default=1.0)
    top = {name: lines[name] for name in ("loss", "eval_loss") if lines[name]}
    below = {name: lines[name] for name in ("balanced_accuracy", "auroc") if lines[name]}
    highest = max((value for points in top.values() for _, value in points), default=1.0)
    middle = HEIGHT * (0.55 if below else 1.0)
    parts = [panel(top, last, (0.0, highest or 1.0), MARGIN / 2, middle - GAP)]
    if below:
        parts.append(panel(below, last, (0.0, 1.0), middle, HEIGHT - GAP))
    parts.append(text(WIDTH - MARGIN, HEIGHT - 6, f"step {last:g}", "end"))
    told = ", ".join(f"{NAMES[name]} {points[-1][1]:.3f}" for name, points in {**top, **below}.items())
    title = f"A training run of {last:g} steps; at its end: {told or 'nothing logged'}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
        'font-family="sans-serif" font-size="11">\n'
        f"<title>{escape(title)}</title>\n"
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>\n' + "\n".join(parts) + "\n</svg>\n"
    )


def panel(
    lines: dict[str, list[Point]], last: float, scale: tuple[float, float], top: float, bottom: float
) -> str:
    """Some lines over the steps, with the ends of their scale and their names."""
    low, high = scale

    def place(point: Point) -> Point:
        across = MARGIN + (WIDTH - 2 * MARGIN) * point[0] / last
        return across, bottom - (bottom - top) * (point[1] - low) / (high - low)

    parts = []
    for value in (low, (low + high) / 2, high):
        _, y = place((0, value))
        parts.append(f'<path d="M{MARGIN} {y:.1f}H{WIDTH - MARGIN}" stroke="#dddddd"/>')
        parts.append(text(MARGIN - 6, y + 4, f"{value:.2g}", "end"))
    for number, (name, points) in enumerate(lines.items()):
        drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in map(place, points))
        colour = COLOURS[name]
        parts.append(f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
        if len(points) < 20:
            parts += [
                f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in map(place, points)
            ]
        parts.append(text(WIDTH - MARGIN - 120 * number, top - 6, NAMES[name], "end", colour))
    return "\n".join(parts)


def text(x: float, y: float, words: str, anchor: str, colour: str = "#555555") -> str:
    """A line of text."""
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{escape(words)}</text>'
