"""Runs notebooks from top to bottom and writes each, executed, as .ipynb and as .html.

Usage: execute.py FOLDER NOTEBOOK...; it prints a line for each notebook, and its error. The folder
holds plotly.html, the script element that pages with plots get.
"""

import sys
from pathlib import Path
from queue import Empty

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionComplete, CellExecutionError
from nbconvert import HTMLExporter

TEMPLATES = str(Path(__file__).parent / "templates")
CELL_SECONDS = 120
QUIET_SECONDS = 0.15
PLOT = "application/vnd.plotly.v1+json"


class DrainingClient(NotebookClient):
    """Takes what the kernel still sends after it has said that a cell is over.

    The kernel says so before its queue of outputs is empty; without this, one in ten is lost.
    """

    async def _async_poll_output_msg(self, parent_msg_id, cell, cell_index):
        is_over = False
        while True:
            timeout = QUIET_SECONDS if is_over else None
            try:
                message = await self.kc.iopub_channel.get_msg(timeout=timeout)
            except Empty:
                return
            if message["parent_header"].get("msg_id") != parent_msg_id:
                continue
            try:
                self.process_message(message, cell, cell_index)
            except CellExecutionComplete:
                is_over = True


def run(source, folder):
    """Runs one notebook in its own folder; what it did before an error is written, too."""
    notebook = nbformat.read(source, as_version=4)
    client = DrainingClient(
        notebook,
        kernel_name="deno",
        timeout=CELL_SECONDS,
        coalesce_streams=True,
        resources={"metadata": {"path": str(source.parent)}},
    )
    try:
        client.execute()
    except CellExecutionError as error:
        print(f"Cannot run {source.name}: {error.ename}: {error.evalue}", file=sys.stderr)
    nbformat.write(notebook, folder / source.name)
    exporter = HTMLExporter(extra_template_basedirs=[TEMPLATES], template_name="page")
    page, _ = exporter.from_notebook_node(notebook, page_resources(notebook, source, folder))
    (folder / source.name).with_suffix(".html").write_text(page, encoding="utf-8")


def page_resources(notebook, source, folder):
    """Returns what the page's template needs beside the notebook."""
    resources = {"metadata": {"name": source.stem}}
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    if any(PLOT in output.get("data", {}) for output in outputs):
        resources["plotly_script"] = (folder / "plotly.html").read_text(encoding="utf-8")
    return resources


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    names = sys.argv[2:]
    for number, name in enumerate(names, 1):
        print(f"{number} of {len(names)}: {Path(name).stem}", flush=True)
        run(Path(name), folder)
