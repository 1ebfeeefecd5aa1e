"""``judge data``: build data sets and audit them."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from judge.cli.settings import WithSettings
from judge.configs import StrictConfig
from judge.errors import DATA, InputError, counted, require
from judge.files import locked
from judge.progress import say

Recipe = TypeVar("Recipe", bound=StrictConfig)

app = typer.Typer(
    help="Build and audit data sets for training judges.", no_args_is_help=True, add_completion=False
)

KEYS = Annotated[
    list[str] | None,
    typer.Argument(metavar="KEY=VALUE", help="Keys of the recipe to override, such as edits=0.5."),
]


@app.command("build", cls=WithSettings)
def build_command(
    config: Annotated[Path, typer.Argument(help="A data recipe, or the name of a shipped one: demo.")],
    keys: KEYS = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Folder for the data set, instead of the recipe's.")
    ] = None,
    dry: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would be asked of teachers, and its price.")
    ] = False,
    explain: Annotated[
        bool, typer.Option("--explain", help="Print what gold answers gave, by source, kind and edit.")
    ] = False,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace the data set that is there.")
    ] = False,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Processes; without it, one a core, up to 8. The files are the same."),
    ] = None,
) -> None:
    """Build an SFT and DPO data set from documents with gold answers."""
    require("judge data build", "data", *DATA)
    from data_pipeline.build.checks import check_target
    from data_pipeline.build.pipeline import build
    from data_pipeline.config import DataConfig
    from data_pipeline.sources.workers import Workers, cores

    recipe = _recipe(DataConfig, config, "data", out, keys)
    if dry:
        from data_pipeline.build.dry_run import dry_run

        estimates = dry_run(recipe)
        for name, estimate in estimates.items():
            typer.echo(f"{name}: {estimate.text()}")
        if not estimates:
            typer.echo("no chat model is asked; the build costs nothing")
        return
    output = Path(recipe.output)
    with locked(output, folder=True):
        check_target(recipe, overwrite)
        with Workers(workers or cores()) as processes:
            manifest = build(recipe, say=say, workers=processes)
    _tell_dropped(manifest)
    if explain:
        from data_pipeline.build.manifest import yields

        typer.echo("\n".join([*yields(manifest), ""]))
    typer.echo(
        f"{recipe.output}: {counted(manifest['samples'], 'sample')}, see {Path(recipe.output) / 'card.md'}"
    )


@app.command("fetch")
def fetch_command(
    names: Annotated[
        list[str] | None, typer.Argument(help="Benchmarks, such as ragtruth; all by default.")
    ] = None,
    data_dir: Annotated[
        Path, typer.Option(envvar="JUDGE_DATA_DIR", help="Folder that gets one folder per benchmark.")
    ] = Path("data"),
) -> None:
    """Download the benchmarks' original files to where the readers look; what is there already stays."""
    from data_pipeline.sources.fetch import fetch

    for path in fetch(names or [], data_dir):
        typer.echo(path)
    typer.echo(f"judge eval --data-dir {data_dir} measures on what is there")


DRY = Annotated[
    bool, typer.Option("--dry-run", help="Only say what would be asked of the models, and its price.")
]


@app.command("dialogues", cls=WithSettings)
def dialogues_command(
    config: Annotated[Path, typer.Argument(help="A recipe, or the name of a shipped one: self-dialogue.")],
    keys: KEYS = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Folder for the dialogues, instead of the recipe's.")
    ] = None,
    dry: DRY = False,
) -> None:
    """Let two chat models talk about topics, for people to annotate: as DiaHalu was made."""
    require("judge data dialogues", "data", *DATA)
    from data_pipeline.papers.dialogues.config import DialoguesConfig
    from data_pipeline.papers.dialogues.run import DIALOGUES, TO_REPAIR, dry_run, run

    recipe = _recipe(DialoguesConfig, config, "dialogues", out, keys)
    manifest = _made(recipe, recipe.output, dry_run, run, dry)
    if manifest is None:
        return
    folder = Path(recipe.output)
    typer.echo(f"{folder / DIALOGUES}: {counted(sum(manifest['dialogues'].values()), 'dialogue')}")
    if manifest["to_repair"]:
        typer.echo(
            f"{folder / TO_REPAIR}: {counted(manifest['to_repair'], 'turn')} of A for people to rewrite"
        )


@app.command("onion", cls=WithSettings)
def onion_command(
    config: Annotated[Path, typer.Argument(help="A recipe, or the name of a shipped one: onioneval.")],
    keys: KEYS = None,
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Folder for the set, instead of the recipe's.")
    ] = None,
    dry: DRY = False,
) -> None:
    """Let a chat model write facts and hallucinations about entities: as OnionEval was made."""
    require("judge data onion", "data", *DATA)
    from data_pipeline.papers.onion.config import OnionConfig
    from data_pipeline.papers.onion.run import FOLDER, ROWS, STAGES, dry_run, run

    recipe = _recipe(OnionConfig, config, "onion", out, keys)
    manifest = _made(recipe, recipe.output, dry_run, run, dry)
    if manifest is None:
        return
    stages = ", ".join(f"{manifest[stage]} {stage}" for stage in STAGES)
    typer.echo(f"{Path(recipe.output) / FOLDER / ROWS}: {counted(manifest['rows'], 'row')}, of {stages}")


def _recipe(kind: type[Recipe], config: Path, stage: str, out: Path | None, keys: list[str] | None) -> Recipe:
    """A recipe by its file or name, with what the command line says on top."""
    from judge.configs import load_config, text_override
    from judge.shipped import find_recipe

    changes = [*(keys or []), *([text_override("output", out)] if out is not None else [])]
    return load_config(kind, find_recipe(config, stage), changes)


def _made(
    recipe: Recipe,
    output: str,
    dry_run: Callable[[Recipe], Mapping[str, Any]],
    run: Callable[..., dict[str, Any]],
    dry: bool,
) -> dict[str, Any] | None:
    """Ask the models of a recipe; the manifest of what they made. With ``dry`` tell the price alone."""
    if dry:
        for name, estimate in dry_run(recipe).items():
            typer.echo(f"{name}: {estimate.text()}")
        return None
    if Path(output, "samples.jsonl").exists():
        raise InputError(
            "holds a data set, whose manifest this would replace; give another --out", file=output
        )
    with locked(Path(output), folder=True):
        manifest = run(recipe, say=say)
    _tell_dropped(manifest)
    return manifest


def _tell_dropped(manifest: Mapping[str, Any]) -> None:
    """Why something was left out, and how often."""
    for reason, items in manifest["dropped"].items():
        say(f"left out, {reason}: {items['count']}")


@app.command("audit")
def audit_command(
    folder: Annotated[Path, typer.Argument(help="A built data set.")],
    out: Annotated[
        Path | None, typer.Option("-o", "--out", help="Page to write; audit.html in the folder.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Decides which samples of a large set are looked at.")] = 0,
    workers: Annotated[
        int | None,
        typer.Option(min=1, help="Processes; without it, one a core, up to 8. The figures are the same."),
    ] = None,
) -> None:
    """Say what is in a data set, and whether a judge could learn its labels without reading.

    Writes an HTML page, and a JSON file of the same name.
    """
    require("judge data audit", "data", *DATA)
    from data_pipeline.audit.page import write_audit
    from data_pipeline.audit.run import audit_folder
    from data_pipeline.sources.workers import Workers, cores

    target = out if out is not None else folder / "audit.html"
    if target.suffix != ".html":
        raise InputError("the report is an HTML page; name it .html", field="--out", file=target)
    with Workers(workers or cores()) as processes:
        found = audit_folder(folder, seed=seed, workers=processes)
    for warning in found["warnings"]:
        typer.echo(f"warning: {warning}", err=True)
    typer.echo("\n".join(str(path) for path in write_audit(found, target)))
