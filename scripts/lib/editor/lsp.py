"""A client of a language server, as small as the checks need it: requests one after the other, by stdin and stdout."""

import json
import subprocess
import threading
import time


class Server:
    """A running rust-analyzer, which looks at one package."""

    def __init__(self, program, root, environment):
        self.process = subprocess.Popen(
            [program], cwd=root, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        self.ids = 0
        self.answers = {}
        self.quiet = False
        self.health = "ok"
        self.message = None
        self.changed = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()
        self.request(
            "initialize",
            {
                "processId": None,
                "rootUri": root.as_uri(),
                "workspaceFolders": [{"uri": root.as_uri(), "name": "checks"}],
                "capabilities": {
                    "experimental": {"serverStatusNotification": True},
                    "textDocument": {"hover": {"contentFormat": ["markdown"]}, "completion": {}},
                    "workspace": {"configuration": False},
                },
                "initializationOptions": {
                    # Nothing here waits for the compiler's own view.
                    "checkOnSave": False,
                    "cachePriming": {"enable": False},
                },
            },
        )
        self.notify("initialized", {})

    def request(self, method, params, limit=60):
        """The answer of the server, or its error as an exception."""
        self.ids += 1
        mine = self.ids
        self._send({"id": mine, "method": method, "params": params})
        answer = self._wait(lambda: self.answers.pop(mine, None), limit, method)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def notify(self, method, params):
        self._send({"method": method, "params": params})

    def wait_until_ready(self, limit):
        """Until the package is read: its build scripts and macros are built first."""
        self._wait(lambda: self.quiet or None, limit, "loading the package")
        if self.health == "error":
            raise RuntimeError(f"the package cannot be loaded: {self.message}")

    def stop(self):
        self.process.kill()
        self.process.wait()

    def _send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def _wait(self, found, limit, what):
        end = time.monotonic() + limit
        with self.changed:
            while (value := found()) is None:
                left = end - time.monotonic()
                if left <= 0 or self.process.poll() is not None:
                    raise TimeoutError(f"{what}: no answer within {limit} s")
                self.changed.wait(left)
            return value

    def _read(self):
        stream = self.process.stdout
        while header := stream.readline():
            length = int(header.split(b":")[1])
            while stream.readline().strip():
                pass
            message = json.loads(stream.read(length))
            with self.changed:
                self._take(message)
                self.changed.notify_all()

    def _take(self, message):
        if message.get("method") == "experimental/serverStatus":
            status = message["params"]
            self.quiet, self.health = status["quiescent"], status["health"]
            self.message = status.get("message")
        elif "method" in message and "id" in message:
            # It asks for progress bars and the like.
            self._send({"id": message["id"], "result": None})
        elif "id" in message:
            self.answers[message["id"]] = message
