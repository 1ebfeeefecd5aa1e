"""``judge report``: results as Markdown, as an HTML page, and as the front matter of a model card."""

from pathlib import Path
from typing import Annotated

import typer


def report_command(
    folders: Annotated[
        list[Path],
        typer.Argument(help="Result folders, as `judge eval --out` writes them, or the index of a registry."),
    ],
    html: Annotated[Path | None, typer.Option(help="Write a page that needs nothing else.")] = None,
    markdown: Annotated[Path | None, typer.Option(help="Write the tables as Markdown.")] = None,
    model_card: Annotated[
        Path | None, typer.Option(help="Write the results of one judge into a model card.")
    ] = None,
) -> None:
    """Show one or many results side by side; without an option, as Markdown on stdout.

    Results of open_factual_bench come in a part of their own.
    """
    from eval.open_factual.results import read_results, result_folders
    from eval.pages.card import write_card
    from eval.pages.html import html_page
    from eval.pages.markdown import markdown as as_markdown
    from eval.pages.runs import read_sets
    from eval.registry import folders as listed
    from eval.verdicts import result_folder
    from judge.errors import InputError
    from judge.files import write_text
    from judge.rows import check_outputs

    outputs = [path for path in (model_card, html, markdown) if path is not None]
    folders = [result_folder(given) for given in folders]
    indices = [given for given in folders if given.is_file()]
    folders = [place for given in folders for place in (listed(given) if given in indices else [given])]
    places = [place for folder in folders for place in (folder, *result_folders(folder))]
    read = [file for place in places for file in place.glob("*.json*")]
    check_outputs(outputs, [*indices, *read], "report")
    answers = read_results(folders)
    judged = [folder for folder in folders if folder not in result_folders(folder)]
    sets = read_sets(judged) if judged or not answers else []
    if not sets and model_card is not None:
        raise InputError("a model card is about a judge; these results are of models that answer")
    if model_card is not None:
        write_card(sets, model_card)
    if html is not None:
        write_text(html, html_page(sets, answers))
    if markdown is not None:
        write_text(markdown, as_markdown(sets, answers))
    for path in outputs:
        typer.echo(f"wrote {path}")
    if not outputs:
        typer.echo(as_markdown(sets, answers), nl=False)
