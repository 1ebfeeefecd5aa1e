"""The picture of a training run."""

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from judge.training.curve import HEIGHT, WIDTH, curve_svg

SVG = "{http://www.w3.org/2000/svg}"
values = st.floats(0, 50)
entries = st.lists(
    st.fixed_dictionaries(
        {"step": st.integers(1, 9999)},
        optional={"loss": values, "eval_loss": values, "eval_auroc": st.floats(0, 1)},
    ),
    max_size=30,
)


@given(entries)
def test_every_figure_is_a_point_inside(losses: list[dict[str, float]]) -> None:
    picture = ElementTree.fromstring(curve_svg(losses))
    drawn = [one.get("points", "").split() for one in picture.iter(f"{SVG}polyline")]
    counts = [sum(name in entry for entry in losses) for name in ("loss", "eval_loss", "eval_auroc")]
    assert sorted(map(len, drawn)) == sorted(filter(None, counts))
    for x, y in (map(float, point.split(",")) for points in drawn for point in points):
        assert 0 <= x <= WIDTH and 0 <= y <= HEIGHT


def test_the_title_tells_it_without_the_picture() -> None:
    [title] = ElementTree.fromstring(curve_svg([{"step": 4, "loss": 0.5, "eval_auroc": 0.75}])).iter(
        f"{SVG}title"
    )
    assert title.text == "A training run of 4 steps; at its end: loss 0.500, AUROC 0.750"
