"""A fake of Hugging Face's hub, because no test may reach the real one: it serves folders over HTTP.

The few calls that huggingface_hub makes for a download: a repository's information, its tree, HEAD and GET of a file.
"""

import hashlib
import json
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import urlsplit

COMMIT = "c0ffee" * 6 + "c0de"


class FakeHub:
    """``with FakeHub({"owner/name": folder}) as hub``: ``hub.url`` is for HF_ENDPOINT; ``asked`` are the paths.

    A data set's name is ``datasets/owner/name``. A repository has one commit, whatever the revision asked for.
    ``before(path, port)`` is called ahead of each answer, with the asking process's port.
    """

    def __init__(self, repositories: dict[str, Path]) -> None:
        self.repositories, self.asked = repositories, list[str]()
        self.before: Callable[[str, int], object] = lambda path, port: None
        hub = self

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                self._respond(body=False)

            def do_GET(self) -> None:
                self._respond(body=True)

            def _respond(self, body: bool) -> None:
                path = urlsplit(self.path).path
                hub.asked.append(path)
                hub.before(path, self.client_address[1])
                status, headers, content = hub.answer(path)
                self.send_response(status)
                for name, value in {**headers, "Content-Length": str(len(content))}.items():
                    self.send_header(name, value)
                self.end_headers()
                if body:
                    self.wfile.write(content)

            def log_message(self, *arguments: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "FakeHub":
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, path: str) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and content for a path."""
        for name, folder in self.repositories.items():
            about = f"/api/{name}" if name.startswith("datasets/") else f"/api/models/{name}"
            found = sorted(file for file in folder.rglob("*") if file.is_file())
            files = {str(file.relative_to(folder)): file.read_bytes() for file in found}
            if path.startswith(f"{about}/tree/"):
                return _json([_entry(file, content) for file, content in files.items()])
            if path == about or path.startswith(f"{about}/revision/"):
                return _json({"id": name, "sha": COMMIT, "siblings": [{"rfilename": file} for file in files]})
            if path.startswith(f"/{name}/resolve/"):
                content = files.get(path.removeprefix(f"/{name}/resolve/").partition("/")[2])
                if content is not None:
                    etag = hashlib.sha256(content).hexdigest()
                    return 200, {"ETag": f'"{etag}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "none"}, content
        return 404, {"X-Error-Code": "RepoNotFound", "X-Error-Message": "the fake hub has no such thing"}, b""


def _entry(name: str, content: bytes) -> dict[str, object]:
    return {"type": "file", "path": name, "size": len(content), "oid": hashlib.sha1(content).hexdigest()}


def _json(value: object) -> tuple[int, dict[str, str], bytes]:
    return 200, {"Content-Type": "application/json", "X-Repo-Commit": COMMIT}, json.dumps(value).encode()
