#!/usr/bin/env python3
"""openset serve, asked by a plain client while a study runs."""
import json
import pathlib
import re
import shutil
import signal
import socket
import sys
import tempfile
import time
import typing

sys.path.insert(0, "tools/testing")
from program import ProgramTest, main, wait_for  # noqa: E402

VERSION = "openset store 3\n"


class Reply(typing.NamedTuple):
    status: int
    head: str
    body: str


class Server:
    """A store's server. Its program has another folder than the one that runs studies, for an output of its own."""

    def __init__(self, program, flags=""):
        self.process = program.start("serve --port=0 " + flags)

        def address():
            assert self.process.poll() is None, program.read("err.txt")
            return re.match(r"(http://([0-9.]+):([0-9]+)/\S*) shows .*\n", program.read("out.txt"))

        self.address, self.host, port = wait_for(address).groups()
        self.port = int(port)
        # There is one if the folder of the tests is closed to other users.
        self.token = (re.findall(r"\?token=(\w{32})", self.address) or [""])[0]

    def exchange(self, request):
        with socket.create_connection((self.host.replace("0.0.0.0", "127.0.0.1"), self.port)) as client:
            client.sendall(request.encode())
            client.shutdown(socket.SHUT_WR)
            head, body = b"".join(iter(lambda: client.recv(65536), b"")).decode().split("\r\n\r\n", 1)
        return Reply(int(re.match(r"HTTP/1\.1 (\d{3})", head)[1]), head, body)

    def get(self, path, more=""):
        return self.exchange(f"GET {path} HTTP/1.1\r\nHost: localhost:{self.port}\r\n{more}\r\n")

    def ask(self, path):
        """With the token."""
        return self.get(path, f"Cookie: openset_token={self.token}\r\n")

    def end(self):
        """Ctrl-C: the exit code."""
        self.process.send_signal(signal.SIGINT)
        return self.process.wait()


class ServeTest(ProgramTest):
    def serve(self, flags="", program=None):
        server = Server(program or self.program, flags)
        self.addCleanup(server.end)
        return server

    def store_files(self):
        return {path: path.read_bytes() for path in self.program.files("openset-store")}

    def test_shows_a_study_while_it_runs_and_after(self):
        self.program.write_near_far_study()
        self.write("openset-store/version", VERSION)  # the store exists from the beginning
        viewer = self.another_program("viewer")
        server = self.serve(f"--store={self.program.store} --library={self.program.folder}", viewer)
        self.assertEqual(server.host, "127.0.0.1")
        self.says(server.ask("/").body, "The store has no record yet.")

        run, was_seen = self.program.start("run study.textproto"), False
        while run.poll() is None:
            live = server.ask("/live.json")
            self.assertEqual(live.status, 200)
            for one in json.loads(live.body)["runs"]:
                self.assertEqual(one["study"], "study")
                was_seen |= one["actions"] != []
                if was_seen:
                    self.assertEqual(server.ask(f"/study/{one['id']}").status, 200)
            time.sleep(0.05)
        self.ends(run, 0)
        self.assertTrue(was_seen)

        before = self.store_files()
        study = re.search('href="([^"]*)">study</a>', server.ask("/").body)[1]
        page = server.ask(study)
        self.assertEqual(page.status, 200)
        self.says(page.head, "Content-Security-Policy: default-src 'none'; ")
        # The means of the report, the curves, and the mistakes as images.
        cells = self.program.report("study")["cells"]
        self.assertEqual(len(cells), 2 * (3 + 4))  # of report_test.py
        for cell in cells:
            self.assertIn(f'"mean":{cell["mean"]!r}', page.body)
        sheet = '"sheet":"data:image/png;base64,'
        self.says(page.body, 'data-chart="roc', sheet)
        self.assertRegex(page.body, r'"mistakes":\[\[[^]]*,"fashion_mnist: test [0-9]+"\]')  # which image
        trial = min(self.program.records())
        self.says(server.ask(study + "/records").body, f"/record/{trial}")
        self.says(server.ask(f"/record/{trial}").body, f"trial_id: &quot;{trial}", sheet)
        self.says(server.ask("/failures").body, "0 actions failed")
        # For programs: whether it answers, what the store has, and the same in Prometheus' format.
        self.assertEqual(server.ask("/health")[::2], (200, "ok\n"))
        status = json.loads(server.ask("/status.json").body)
        self.assertEqual([(one["study"], one["records"]) for one in status["studies"]], [("study", 4)])
        self.assertEqual(status["running"], [])
        self.assertEqual(status["bytes"]["records"],
                         sum(len(content) for path, content in before.items() if "records" in path.parts))
        metrics = server.ask("/metrics")
        self.says(metrics.head, "Content-Type: text/plain; version=0.0.4\r\n")
        lines = metrics.body.splitlines()
        for line in ('openset_records{study="study"} 4', "# TYPE openset_runs gauge", "openset_runs 0",
                     f'openset_store_bytes{{kind="records"}} {status["bytes"]["records"]}',
                     *(f'openset_user_bytes{{user="{user}"}} {n}' for user, n in status["users"].items())):
            self.assertIn(line, lines)
        self.assertEqual(self.store_files(), before)  # it only reads
        self.assertEqual(server.end(), 0)
        self.assertEqual(viewer.read("err.txt"), "")

    def test_refuses_others(self):
        self.write("openset-store/version", VERSION)
        server = self.serve()
        for request, status in (
                ("GET / HTTP/1.1\r\nHost: evil.example", 421),
                ("GET / HTTP/1.1", 421),
                ("POST / HTTP/1.1\r\nHost: localhost", 405),
                ("OPTIONS / HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example", 405),
                ("GET /live.json HTTP/1.1\r\nHost: localhost\r\nSec-Fetch-Site: cross-site", 403)):
            self.assertEqual(server.exchange(request + "\r\n\r\n").status, status, request)
        for path in ("/../openset-store/version", "/version", "/%2e%2e/version", "//etc/passwd", "/reports",
                     "/study/..", "/record/..%2fversion", "http://localhost/version"):
            self.assertEqual(server.ask(path).status, 404, path)
        self.says_not(server.ask("/").head, "Access-Control")
        taken = self.another_program("other").run(f"serve --store={self.program.store} --port={server.port}")
        self.assertEqual(taken.code, 2)
        self.says(taken.err, "in use; --port=0 takes a port that is free")

    def test_asks_for_a_token_beyond_this_machine(self):
        self.write("openset-store/version", VERSION)
        server = self.serve("--host=0.0.0.0")
        self.assertEqual(len(server.token), 32)
        self.assertEqual(server.get("/").status, 401)
        self.assertEqual(server.get("/?token=" + 32 * "0").status, 401)
        welcome = server.get("/?token=" + server.token)
        self.assertEqual(welcome.status, 303)
        self.says(welcome.head + "\r\n", "Location: /\r\n", "HttpOnly; SameSite=Strict")
        self.assertEqual(server.ask("/").status, 200)

    # Other users of the machine can reach the port, but not all of the store: a folder above it, the store, a room, a
    # shard or a file is closed to them, or the data.
    def test_asks_for_a_token_where_anything_is_closed(self):
        # Not in the folder of the tests, which may be closed.
        folder = pathlib.Path(tempfile.mkdtemp(prefix="serve-test"))
        self.addCleanup(shutil.rmtree, folder)
        for above in folder.parents[:-1]:
            if not above.stat().st_mode & 0o001:
                self.skipTest(f"{above} is closed to other users")
        store = folder / "home/store"
        record = store / "records/ab/file"
        record.parent.mkdir(parents=True)
        (folder / "data").mkdir()
        (store / "version").write_text(VERSION)
        record.write_text("x")
        (folder / "link").symlink_to("home")
        linked = folder / "link/store"

        def needs_token(path):
            server = Server(self.program, f"--store={path} --data={folder}/data")
            answers = server.get("/").status, server.ask("/").status
            server.end()
            self.assertEqual(answers, (401 if server.token else 200, 200))
            return server.token != ""

        everything = (folder, store.parent, store, store / "records", record.parent, record, store / "version",
                      folder / "data")
        for path in everything:
            path.chmod(0o755)
        self.assertFalse(needs_token(store))
        self.assertFalse(needs_token(linked))
        for path in everything:
            for mode in (0o700, 0o750):
                path.chmod(mode)
                self.assertTrue(needs_token(linked), path)
            path.chmod(0o755)
        record.chmod(0o644)  # a file needs no x
        self.assertFalse(needs_token(store))
        store.chmod(0o711)
        self.assertTrue(needs_token(store))

    def test_answers_at_each_address_of_this_machine(self):
        self.write("openset-store/version", VERSION)
        server = self.serve("--host=127.0.0.2")
        self.assertEqual(server.host, "127.0.0.2")
        self.assertEqual(server.ask("/").status, 200)

    # The store is removed, or its file system is unmounted, while the server runs.
    def test_says_that_the_store_is_gone(self):
        self.write("openset-store/version", VERSION)
        server = self.serve()
        self.assertEqual(server.ask("/").status, 200)
        (self.program.store / "version").unlink()
        for path in ("/", "/live.json", "/failures"):
            reply = server.ask(path)
            self.assertEqual(reply.status, 500, path)
            self.says(reply.body, "openset-store is not a store")
        shutil.rmtree(self.program.store)
        gone = server.ask("/").body
        self.says(gone, "there is no store")
        self.says_not(gone, "no record yet")

    def test_errors_say_what_is_wrong(self):
        self.fails("serve", 2, "openset-store")
        self.write("openset-store/version", VERSION)
        for flag, message in (("--host=example.org", "--host: 'example.org' is not an IP address"),
                              ("--port=65536", "--port: must lie in 0 .. 65535"),
                              ("--port=-1", "--port: must lie in 0 .. 65535")):
            self.fails("serve " + flag, 2, message)


if __name__ == "__main__":
    main()
