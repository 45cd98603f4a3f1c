"""Fills a cache by huggingface_hub's own code from a server on this machine, and prints where it finds files:
`peer.py CACHE FOLDER REPOSITORY REVISION FILE...`. Each folder of FOLDER is a revision, named by its commit,
and FOLDER/refs.json names the commit of every branch."""

import hashlib
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

cache, folder, repository, revision, *files = sys.argv[1:]
refs = json.loads((Path(folder) / "refs.json").read_text())


class Handler(BaseHTTPRequestHandler):
    """Answers as the hub does for files."""

    def answer(self):
        start = f"/{repository}/resolve/"
        name = self.path.removeprefix(start)
        asked, _, file = name.partition("/") if not name.startswith("refs%2F") else name.partition("/")
        asked = asked.replace("%2F", "/")
        commit = refs.get(asked, asked)
        path = Path(folder) / commit / file
        if not path.is_file():
            self.send_response(404)
            self.send_header("X-Error-Code", "EntryNotFound")
            self.send_header("X-Repo-Commit", commit)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        data = path.read_bytes()
        self.send_response(200)
        self.send_header("ETag", f'"{hashlib.sha256(data).hexdigest()}"')
        self.send_header("X-Repo-Commit", commit)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        if self.command == "GET":
            self.wfile.write(data)

    do_HEAD = do_GET = answer

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
os.environ.update(
    HF_ENDPOINT=f"http://127.0.0.1:{server.server_port}",
    HF_HUB_DISABLE_PROGRESS_BARS="1",
    HF_HUB_DISABLE_TELEMETRY="1",
    HF_HUB_DISABLE_XET="1",
    HF_HUB_DISABLE_UPDATE_CHECK="1",
)
if cache != "-":
    os.environ["HF_HUB_CACHE"] = cache

from huggingface_hub import hf_hub_download, try_to_load_from_cache  # noqa: E402
from huggingface_hub.errors import EntryNotFoundError  # noqa: E402

paths = {}
for file in files:
    try:
        hf_hub_download(repository, file, revision=revision)
    except EntryNotFoundError:
        pass  # the cache notes that there is none
    found = try_to_load_from_cache(repository, file, revision=revision)
    paths[file] = found if isinstance(found, str) else None
print(json.dumps(paths))
