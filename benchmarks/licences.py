"""The packages that an installed toolkit brings along, with their licences, as a Markdown table.

    python -m benchmarks.licences > docs/research/licences.md

Reads what is installed here: the packages that the toolkit requires, with its extras, and theirs.
"""

from importlib.metadata import PackageNotFoundError, distribution, requires

EXTRAS = ("", "data", "train", "serve")
HEAD = """# Licences of what is installed along

    python -m benchmarks.licences > docs/research/licences.md

What `pip install hallucination-judge[train,serve]` brings, as each package states it. The toolkit itself is
Apache-2.0; the reference judge's encoder and data: see its model card (`judge/reference/README.md`).

| package | version | licence |
| --- | --- | --- |"""


def wanted(name: str, extras: tuple[str, ...]) -> list[str]:
    """Names of the packages that one requires here."""
    from packaging.requirements import Requirement

    found = []
    for line in requires(name) or ():
        one = Requirement(line)
        if one.marker is None or any(one.marker.evaluate({"extra": extra}) for extra in extras):
            found.append(one.name)
    return found


def licence(name: str) -> str:
    """What a package says of its licence, in one line."""
    meta = distribution(name).metadata
    told = meta.get("License-Expression")
    classes = [
        line.rpartition(" :: ")[2] for line in meta.get_all("Classifier") or () if "License ::" in line
    ]
    if not told and classes:
        told = ", ".join(classes)
    return told or (meta.get("License") or "see its files").strip().partition("\n")[0][:60]


def main() -> None:
    """Follow requirements, print the table."""
    left, seen = [("hallucination-judge", EXTRAS)], {"hallucination-judge": ""}
    rows = []
    while left:
        name, extras = left.pop()
        for other in wanted(name, extras):
            plain = other.lower().replace("_", "-")
            if plain in seen:
                continue
            seen[plain] = other
            try:
                rows.append((plain, distribution(other).version, licence(other)))
            except PackageNotFoundError:
                continue
            left.append((other, ("",)))
    print(HEAD)
    for row in sorted(rows):
        print(f"| {' | '.join(row)} |")


if __name__ == "__main__":
    main()
