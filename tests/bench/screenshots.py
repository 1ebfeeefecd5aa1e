"""The pictures in the docs: the page of ``judge serve``, a report and an audit, as Chromium shows them.

    python -m tests.bench.screenshots docs/pictures --data-dir DIR

Everything is made anew, by the commands that a user would type: the demo's data set is audited, and the
reference judge and word overlap are measured on 300 answers of RAGTruth's test split. Takes some minutes on
two cores; needs playwright and Chromium.
"""

import argparse
import struct
import subprocess
import sys
import tempfile
import zlib
from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench.serve_page import chromium, judge_example, open_page, serving

PIXELS = """async picture => {
  const bitmap = await createImageBitmap(await (await fetch(`data:image/png;base64,${picture}`)).blob());
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
  context.drawImage(bitmap, 0, 0);
  return new Uint8Array(context.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer).toBase64();
}"""
LARGEST = 150_000
"""Bytes of a picture at most: they are part of the repository."""


def judge(*words: str, folder: Path) -> None:
    """Run a ``judge`` command in a folder."""
    subprocess.run([sys.executable, "-m", "judge", *words], check=True, stdout=subprocess.DEVNULL, cwd=folder)


def make_pages(folder: Path, data_dir: Path) -> None:
    """The audit of the demo's data set, and a report on RAGTruth."""
    judge("data", "build", "demo", "--set", "preferences.model=null", folder=folder)
    measure = ("--benchmarks", "ragtruth", "--limit", "300", "--data-dir", str(data_dir.absolute()))
    for model in ("reference", "floor:overlap"):
        judge("eval", "--model", model, *measure, "--out", f"runs/{model}", folder=folder)
    judge("report", "runs/reference", "runs/floor:overlap", "--html", "report.html", folder=folder)


def take(browser: Any, tab: Any, path: Path, width: int, height: int) -> None:
    """The top of a page, in pixels."""
    tab.set_viewport_size({"width": width, "height": height})
    blank = browser.new_page()
    pixels = b64decode(blank.evaluate(PIXELS, b64encode(tab.screenshot()).decode()))
    picture = in_few_colours(np.frombuffer(pixels, np.uint8).reshape(height, width, 4)[:, :, :3])
    assert len(picture) <= LARGEST, f"{path} would have {len(picture)} bytes; show less of the page"
    path.write_bytes(picture)
    print(f"{path}: {len(picture) / 1000:.0f} kB")


def in_few_colours(pixels: Any) -> bytes:
    """A PNG of 256 colours, a third of the size; ``pixels`` is height x width x 3, bytes.

    The most frequent colours stay as they are; the others become the nearest of these, or of a coarser grid.
    """
    height, width, _ = pixels.shape
    flat = pixels.reshape(-1, 3).astype(int)
    colours, which, counts = np.unique(flat, axis=0, return_inverse=True, return_counts=True)
    often = np.argsort(-counts)
    grid, uses = np.unique((colours[often[128:]] + 8) // 17 * 17, axis=0, return_counts=True)
    palette = np.concatenate([colours[often[:128]], grid[np.argsort(-uses)[:128]]])
    nearest = [int(((palette - colour) ** 2).sum(1).argmin()) for colour in colours]
    rows = np.array(nearest, np.uint8)[which].reshape(height, width)
    lines = b"".join(b"\0" + row.tobytes() for row in rows)  # each after the number of its filter: none

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    return b"".join((
        b"\x89PNG\r\n\x1a\n",
        chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)),
        chunk(b"PLTE", palette.astype(np.uint8).tobytes()),
        chunk(b"IDAT", zlib.compress(lines, 9)),
        chunk(b"IEND", b""),
    ))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--data-dir", type=Path, required=True, help="Holds RAGTruth's original files.")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, chromium() as browser:
        with serving("--model", "reference") as address:
            tab = open_page(browser, address, viewport={"width": 1000, "height": 920})
            judge_example(tab, "An invented sentence")
            take(browser, tab, given.folder / "serve.png", 1000, 920)
        made = Path(temporary)
        make_pages(made, given.data_dir)
        for page, width, height in (
            (made / "runs/demo/data/audit.html", 1200, 1000),
            (made / "report.html", 1000, 800),
        ):
            tab = browser.new_page()
            tab.goto(page.as_uri())
            tab.wait_for_load_state("networkidle")
            take(browser, tab, given.folder / f"{page.stem}.png", width, height)


if __name__ == "__main__":
    main()
