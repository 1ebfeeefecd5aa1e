"""Made-up samples with texts that look like markup."""

import random

from judge.types import Label, Sample

NASTY = "<script>window.broken = 1</script><img src=x onerror='window.broken = 1'> 𝔸 & <mark>"


def make_samples(count: int, seed: int = 0) -> list[Sample]:
    """Made-up samples of four sources, two about each document, some with texts that look like markup."""
    draw = random.Random(seed)
    samples = []
    for number in range(count):
        towers, height = number // 2, 20 + draw.randrange(80)
        document = f"Tower {towers} stands by the river. {NASTY} It is {height} m high.\n\n" + " ".join(
            f"In {1900 + year} the town council spoke about tower {towers} for {draw.randrange(9) + 1} hours."
            for year in range(draw.randrange(5, 60))
        )
        samples.append(
            Sample(
                id=f"tower-{number}",
                document=document,
                question=f"How high is tower {towers}?",
                answer=f"According to the text 𝔸 tower {towers} is {height + number % 2 * 5} m high. {NASTY}",
                label=Label.FAIL if number % 2 else Label.PASS,
                source=("drop", "finance", "covid", "pubmed")[towers % 4],
                group=f"tower-{towers}",
            )
        )
    return samples
