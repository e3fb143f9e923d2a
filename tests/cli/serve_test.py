#!/usr/bin/env python3
"""partwise serve through the program: what it answers, what strangers try, and that names survive."""
import concurrent.futures
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest
import zlib

PARTWISE = sys.argv.pop(1)
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell that starts this in the background has it ignored, for the program too
PNG = b"\x89PNG\r\n\x1a\n"
HEADER = {"X-Partwise": "1"}


def huge_png(side):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return PNG + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(bytes(99))) + chunk(b"IEND", b"")


class Server:
    def __init__(self, root, *words):
        self.process = subprocess.Popen([PARTWISE, "serve", *map(str, words), "--port", "0", "--cache-limit", "0", "--threads", "1"],
                                        cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()
        if not self.address:
            raise unittest.SkipTest(self.process.stderr.read())
        self.port = int(self.address.split(":")[2].split("/")[0])

    def wait(self):
        """Until every run that can be opened is, and knows its parts."""
        while any(run["opening"] or run["learning"] for run in self.json("/api/runs")[1]["runs"]):
            time.sleep(0.1)
        return self

    def ask(self, path, body=None, method=None, **headers):
        connection = http.client.HTTPConnection("localhost", self.port, timeout=120)
        if isinstance(body, dict):
            body = json.dumps(body).encode()
        method = method or ("GET" if body is None else "POST")
        sent = {} if method == "GET" else dict(HEADER)
        sent.update({name.replace("_", "-"): value for name, value in headers.items()})
        connection.request(method, path, body, {name: value for name, value in sent.items() if value is not None})
        answer = connection.getresponse()
        content = answer.read()
        connection.close()
        return answer.status, content, answer.headers

    def json(self, path, body=None, method=None, **headers):
        status, content, _ = self.ask(path, body, method, **headers)
        return status, json.loads(content)

    def raw(self, lines):
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
            connection.sendall(lines.encode() if isinstance(lines, str) else lines)
            return connection.makefile("rb").readline().decode()

    def memory(self):
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS"):
                return int(line.split()[1])
        return 0

    def end(self, how=signal.SIGTERM):
        start = time.monotonic()
        self.process.send_signal(how)
        self.process.wait(timeout=30)
        self.process.stdout.close()
        self.process.stderr.close()
        return time.monotonic() - start


class Serve(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.place.cleanup)
        cls.root = pathlib.Path(cls.place.name)
        cls.call("data", "synth", "animals", "--images", "24", "--categories", "2", "--size", "64")
        cls.call("train", "animals", "run", "--epochs", "1", "--hidden", "16", "--threads", "1")
        cls.call("measure", "run", "--resamples", "20", "--threads", "1")
        cls.server = Server(cls.root, "run")
        cls.addClassCleanup(lambda: cls.server.end())
        cls.server.wait()
        cls.filters = "/api/runs/run/layers/new/filters"
        assert cls.server.json(cls.filters)[0] == 200

    @classmethod
    def call(cls, *words, status=0):
        done = subprocess.run([PARTWISE, *map(str, words)], capture_output=True, text=True, cwd=cls.root)
        assert done.returncode == status, (words, done.returncode, done.stderr)
        return done

    def refused(self, status, answer):
        self.assertEqual(answer[0], status, answer[1])
        words = json.loads(answer[1])["error"]
        self.assertTrue(words and "\n" not in words, words)
        return words

    def test_shows_what_was_measured(self):
        status, runs = self.server.json("/api/runs")
        run = runs["runs"][0]
        self.assertEqual((status, run["state"], run["data"]["there"], run["knows_parts"]), (200, "measured", True, True))
        measured = json.loads((self.root / "run" / "findings.json").read_text())
        self.assertEqual(run["accuracy"]["value"], measured["accuracy"]["value"])
        self.assertEqual(run["images"], measured["rows"])
        findings = self.server.json("/api/runs/run/findings")[1]
        self.assertEqual([layer["name"] for layer in findings["layers"]], [layer["layer"] for layer in measured["layers"]])
        filters = self.server.json(self.filters)[1]["filters"]
        shown = [one["measures"]["part_interpretability"] for one in filters]
        self.assertAlmostEqual(sum(shown) / len(shown), measured["layers"][1]["part_interpretability"]["value"], places=9)
        self.assertEqual(self.server.json("/api/runs/run/errors")[1]["confusion"], measured["confusion"])

    def test_paths_that_are_none(self):
        for path in ("/../options.json", "/..%2f..%2foptions.json", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/etc/passwd",
                     "/api/runs/..%2frun/log", "/api/runs/../run/log", "/api/runs/run%2flog", "/api/runs/%00/log", "/api/runs/%zz/log",
                     "/api/runs/run/layers/..%2f..%2fnew/filters", self.filters + "/-1", self.filters + "/999999", self.filters + "/0x1",
                     self.filters + "/1/rows/0/..%2f..%2fcrop.png", self.filters + "/1/rows/0/crop.svg", "/api/photos/..%2fx/photo.png",
                     str(self.root / "run" / "options.json"), "/" + "a" * 5000):
            self.refused(404, self.server.ask(path))
        self.refused(400, self.server.ask("/api/runs/run/sheet/..%2F..%2Fx"))
        self.assertIn(" 404 ", self.server.raw(f"GET file:///etc/passwd HTTP/1.1\r\nHost: localhost:{self.server.port}\r\n\r\n"))

    def test_another_sites_page_and_name(self):
        for host in ("evil.example", f"evil.example:{self.server.port}", "localhost", "localhost:1", ""):
            self.refused(403, self.server.ask("/api/runs", Host=host))
        for origin in ("http://evil.example", "null", f"http://localhost:{self.server.port + 1}"):
            self.refused(403, self.server.ask("/api/runs", Origin=origin))
        body = {"name": "theirs", "revision": 0}
        self.refused(403, self.server.ask(self.filters + "/0/name", body, "PUT", X_Partwise=None))
        self.assertEqual(self.server.ask("/api/runs", method="OPTIONS", Origin="http://evil.example")[0], 403)
        self.refused(405, self.server.ask("/api/runs", method="DELETE"))
        self.assertNotIn("theirs", (self.root / "run" / "names.json").read_text() if (self.root / "run" / "names.json").exists() else "")

    def test_every_answer_is_guarded(self):
        for path in ("/", "/api/runs", "/nowhere", self.filters + "/1/tile.png"):
            headers = self.server.ask(path)[2]
            self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
            self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
            self.assertEqual(headers["Referrer-Policy"], "no-referrer")
            self.assertEqual(headers["Cross-Origin-Resource-Policy"], "same-origin")

    def test_uploads(self):
        self.refused(400, self.server.ask("/api/runs/run/explain", b"just some words"))
        self.refused(400, self.server.ask("/api/runs/run/explain", b""))
        self.refused(400, self.server.ask("/api/runs/run/explain", PNG))
        words = self.refused(413, self.server.ask("/api/runs/run/explain", huge_png(30000)))
        self.assertIn("900 million", words)
        before = self.server.memory()
        head = f"POST /api/runs/run/explain HTTP/1.1\r\nHost: localhost:{self.server.port}\r\nX-Partwise: 1\r\n"
        self.assertIn(" 413 ", self.server.raw(head + f"Content-Length: {200 << 20}\r\n\r\n"))
        self.assertIn(" 411 ", self.server.raw(head + "Transfer-Encoding: chunked\r\n\r\n"))
        self.assertIn(" 415 ", self.server.raw(head + "Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello"))
        self.assertLess(self.server.memory() - before, 50 << 10)
        photo = sorted((self.root / "animals" / "images").glob("fox-*.png"))[0].read_bytes()
        status, answer = self.server.json("/api/runs/run/explain", photo, Content_Type="application/x-www-form-urlencoded")
        self.assertEqual(status, 200)
        explanation = answer["explanation"]
        self.assertAlmostEqual(sum(part["share"] for part in explanation["parts"]), explanation["evidence"]["above_baseline"], delta=1e-3)
        self.assertEqual(self.server.ask(answer["picture"])[1][:8], PNG)

    def test_the_oldest_photo_goes(self):
        photo = sorted((self.root / "animals" / "images").glob("fox-*.png"))[0].read_bytes()
        first = self.server.json("/api/runs/run/explain", photo)[1]["photo"]
        for _ in range(64):
            last = self.server.json("/api/runs/run/explain", photo)[1]["photo"]
        self.assertIn("explain it again", self.refused(404, self.server.ask(f"/api/photos/{first}/silence", {})))
        self.assertEqual(self.server.ask(f"/api/photos/{last}/silence", {})[0], 200)

    def test_names_of_every_kind_survive_a_restart(self):
        names = ["<script>alert(1)</script>", "\"'`${}", "Schnäuzchen 鼻 🦊", "two\nlines", "../../etc", "x" * 200]
        for number, name in enumerate(names):
            place = f"{self.filters}/{number + 2}"
            revision = self.server.json(place)[1]["revision"]
            status, named = self.server.json(place + "/name", {"name": name, "note": name, "revision": revision}, "PUT")
            self.assertEqual((status, named["name"], named["named_by"]), (200, name, "people"))
        self.refused(400, self.server.ask(self.filters + "/0/name", {"name": "x" * 201, "revision": 0}, "PUT"))
        self.refused(400, self.server.ask(self.filters + "/0/name", b'{"name": "\xff", "revision": 0}', "PUT"))
        self.refused(400, self.server.ask(self.filters + "/0/name", b"[1, 2", "PUT"))
        self.assertLess(self.server.end(signal.SIGINT), 8.0)  # idle it is one second; tests run beside others
        type(self).server = Server(self.root, "run").wait()
        filters = self.server.json(self.filters)[1]["filters"]
        self.assertEqual([filters[number + 2]["name"] for number in range(len(names))], names)
        listed = json.loads(self.call("names", "run", "--json").stdout)
        self.assertEqual([one["name"] for one in listed if one["layer"] == "new"][2:2 + len(names)], names)

    def test_two_people_who_name_at_once_lose_nothing(self):
        second = Server(self.root, "run").wait()  # another process over the same folder
        try:
            def name(number):
                server = (self.server, second)[number % 2]
                return server.ask(f"{self.filters}/{20 + number}/name", {"name": f"part {number}", "revision": 0}, "PUT")[0]
            with concurrent.futures.ThreadPoolExecutor(8) as people:
                command = people.submit(self.call, "names", "run", "--set", "new:50=by the command")
                self.assertEqual(set(people.map(name, range(24))), {200})
                command.result()
            filters = self.server.json(self.filters)[1]["filters"]
            self.assertEqual([filters[20 + number]["name"] for number in range(24)], [f"part {number}" for number in range(24)])
            self.assertEqual(filters[50]["name"], "by the command")

            def claim(person):
                server = (self.server, second)[person % 2]
                return server.json(f"{self.filters}/60/name", {"name": f"by {person}", "revision": 0}, "PUT")
            with concurrent.futures.ThreadPoolExecutor(8) as people:
                answers = list(people.map(claim, range(8)))
            self.assertEqual(sorted(status for status, _ in answers), [200] + [409] * 7)
            winner = next(answer["name"] for status, answer in answers if status == 200)
            self.assertEqual({answer["name"] for _, answer in answers}, {winner})
        finally:
            second.end()

    def test_memory_stays_flat(self):
        paths = ["/", "/api/runs", self.filters, "/api/runs/run/log", "/api/runs/run/errors", "/nowhere"]
        paths += [f"{self.filters}/{number}{more}" for number in range(12) for more in ("", "/tile.png", "/rows/3/map.png", "/rows/3/field.png")]

        def round_of(count):
            with concurrent.futures.ThreadPoolExecutor(6) as people:
                list(people.map(lambda i: self.server.ask(paths[i % len(paths)]), range(count)))
        round_of(400)
        before = self.server.memory()
        round_of(2000)
        after = self.server.memory()
        print(f"memory over 2000 requests: {before >> 10} MiB before, {after >> 10} MiB after", file=sys.stderr)
        self.assertLess(after - before, 64 << 10)  # what allocators keep back; a leak of 32 KiB a request is seen

    def test_a_port_that_is_taken_and_a_folder_that_is_no_run(self):
        done = subprocess.run([PARTWISE, "serve", "run", "--port", str(self.server.port)], capture_output=True, text=True, cwd=self.root)
        self.assertEqual((done.returncode, len(done.stderr.splitlines())), (1, 1), done.stderr)
        self.assertIn("--port", done.stderr)
        done = self.call("serve", "animals", "--port", "0", status=1)
        self.assertIn("not a run", done.stderr)
        self.assertIn("Example:", self.call("serve", "--help").stdout)

    def test_beyond_this_machine_a_token_is_needed(self):
        server = Server(self.root, "run", "--host", "0.0.0.0")
        try:
            token = server.address.split("token=")[1]
            self.assertEqual(len(token), 32)
            self.refused(403, server.ask("/"))
            self.refused(403, server.ask("/api/runs", Authorization="Bearer " + "0" * 32))
            self.assertEqual(server.ask("/api/runs", Authorization="Bearer " + token)[0], 200)
            status, _, headers = server.ask("/?token=" + token)
            self.assertEqual((status, headers["Location"]), (303, "/"))
            self.assertEqual(server.ask("/", Cookie=headers["Set-Cookie"].split(";")[0])[0], 200)
        finally:
            server.end()

    def test_a_run_without_its_data_or_still_in_training(self):
        shutil.copytree(self.root / "run", self.root / "moved")
        manifest = json.loads((self.root / "moved" / "manifest.json").read_text())
        manifest["data"] = str(self.root / "gone")
        del manifest["checksum"]  # as whoever changes the file by hand
        (self.root / "moved" / "manifest.json").write_text(json.dumps(manifest))
        begun = self.root / "begun"
        begun.mkdir()
        for name in ("options.json", "manifest.json", "log.jsonl"):
            shutil.copy(self.root / "run" / name, begun / name)
        server = Server(self.root, "moved", "begun").wait()
        try:
            moved, young = server.json("/api/runs")[1]["runs"]
            self.assertFalse(moved["data"]["there"])
            self.assertIn("--data", moved["data"]["why"])
            filters = server.json("/api/runs/moved/layers/new/filters")[1]["filters"]
            self.assertIsNone(filters[0]["measures"]["purity"])
            self.assertEqual(server.json("/api/runs/moved/findings")[0], 200)
            self.refused(404, server.ask("/api/runs/moved/layers/new/filters/0/tile.png"))
            photo = sorted((self.root / "animals" / "images").glob("fox-*.png"))[0].read_bytes()
            self.assertEqual(server.ask("/api/runs/moved/explain", photo)[0], 200)
            self.assertEqual(young["ready"], False)
            self.assertEqual(server.json("/api/runs/begun/log")[1]["total"], 1)
            self.refused(404, server.ask("/api/runs/begun/layers/new/filters"))
        finally:
            server.end()

    def test_changed_photographs_are_neither_shown_nor_explained_unless_they_are_named(self):
        photographs, run = self.root / "others", self.root / "replaced"
        shutil.copytree(self.root / "animals", photographs)
        shutil.copytree(self.root / "run", run)
        manifest = json.loads((run / "manifest.json").read_text())
        manifest["data"] = str(photographs)
        del manifest["checksum"]
        (run / "manifest.json").write_text(json.dumps(manifest))
        one, other = sorted((photographs / "images").glob("fox-*.png"))[:2]
        shutil.copy(other, one)  # of another size
        reported = self.call("report", "replaced", "--out", "replaced.html")
        self.assertRegex(reported.stderr, "no photographs are explained in the report: .*image files in .*others")
        self.assertFalse((run / "explanations").exists())
        (run / "parts.json").unlink()
        for named in (), ("--data", "others"):
            server = Server(self.root, "replaced", *named).wait()
            try:
                shown = server.json("/api/runs")[1]["runs"][0]
                self.assertEqual((shown["ready"], shown["failure"], shown["data"]["there"]), (True, "", bool(named)))
                self.assertEqual("image files in" in shown["data"]["why"], not named)
                self.assertEqual(shown["knows_parts"], bool(named))
                self.assertEqual((run / "parts.json").exists(), bool(named))
                self.assertEqual(server.ask("/api/runs/replaced/explain-row/0", b"")[0], 200 if named else 404)
                self.assertEqual(server.json("/api/runs/replaced/findings")[0], 200)
            finally:
                server.process.send_signal(signal.SIGTERM)
                said = server.process.communicate(timeout=30)[1]
            self.assertEqual(said.count("have changed since it was trained"), 1, said)
            self.assertEqual("as --data says" in said, bool(named), said)


if __name__ == "__main__":
    unittest.main()
