#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`saltus studio` as other programs see it: who gets an answer, and which. Usage: test_studio.py SALTUS MODELS"""

import http.client
import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
from pathlib import Path

SALTUS, MODELS = sys.argv[1], Path(sys.argv[2])
TOKEN = "0123456789abcdef0123456789abcdef"

BALL = """[system]
q = ["y"]
T = "m/2*y'^2"
U = "m*g*y"
[parameters]
m = 1.0
g = 10.0
e = 0.5
[[contact]]
name = "floor"
gN = "y"
eN = "e"
[initial]
q = { y = 5.0 }
[simulate]
t_end = 1.5
"""


class Studio:
    """A running studio."""

    def __init__(self, model, *words, token=TOKEN):
        environment = {**os.environ, "SALTUS_STUDIO_TOKEN": token} if token else dict(os.environ)
        if not token:
            environment.pop("SALTUS_STUDIO_TOKEN", None)
        self.process = subprocess.Popen([SALTUS, "studio", str(model), *words], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env=environment)
        lines = [self.process.stdout.readline(), self.process.stdout.readline()]
        found = re.search(r"http://127\.0\.0\.1:(\d+)/(\w+)/", "".join(lines))
        if not found:
            raise AssertionError("no address: " + "".join(lines) + self.process.stderr.read())
        self.port, self.token = int(found[1]), found[2]

    def ask(self, path, form=None, method=None, headers=None, root=None, host=None):
        """Status and body of a request."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Host": host or f"127.0.0.1:{self.port}", **(headers or {})}
        body = None
        if form is not None:
            body = urllib.parse.urlencode(form)
            sent["Content-Type"] = "application/x-www-form-urlencoded"
        where = f"/{self.token}/" if root is None else root
        connection.request(method or ("POST" if form is not None else "GET"), where + path, body, sent)
        answer = connection.getresponse()
        content = answer.read().decode()
        connection.close()
        return answer.status, content

    def json(self, path, form=None):
        return json.loads(self.ask(path, form)[1])

    def simulate(self, *form):
        return self.json("simulate", list(form))

    def question(self, *form, seconds=120):
        """Asks, and waits for the end."""
        job = self.json("ask", list(form))
        if "error" in job:
            return job
        end = time.time() + seconds
        while job["status"] == "running" and time.time() < end:
            time.sleep(0.05)
            job = self.json(f"question?number={job['job']}")
        return job

    def close(self, how=signal.SIGINT):
        self.process.send_signal(how)
        out, err = self.process.communicate(timeout=30)
        return self.process.returncode, err


class Pushes:
    """The events that the studio pushes to a page."""

    def __init__(self, studio):
        self.connection = http.client.HTTPConnection("127.0.0.1", studio.port, timeout=30)
        self.connection.request("GET", f"/{studio.token}/events")
        self.answer = self.connection.getresponse()

    def next(self, kind):
        """The data of the next event of this kind."""
        end = time.time() + 60
        while True:
            line = self.answer.readline().decode()  # a comment comes every second
            if not line or time.time() > end:
                raise AssertionError(f"no event '{kind}' came")
            if line.strip() == "event: " + kind:
                return self.answer.readline().decode().removeprefix("data: ").strip()

    def until(self, revision):
        """Waits for this version of the file. The newest one may be told twice."""
        told = self.next("model")
        while int(told) < int(revision):
            told = self.next("model")
        if told != revision:
            raise AssertionError(f"version {told} instead of {revision}")


def replace(path, text):
    """As editors do: a new file takes the name. A file that is written in place is empty for a moment, which is long on
    a busy machine and then a version of its own."""
    new = path.with_suffix(".new")
    new.write_text(text)
    new.rename(path)


class StudioTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.model = Path(self.folder.name) / "ball.toml"
        self.model.write_text(BALL)
        self.studio = Studio(self.model)

    def tearDown(self):
        if self.studio.process.poll() is None:
            self.studio.close()
        self.studio.process.stdout.close()
        self.studio.process.stderr.close()
        self.folder.cleanup()

    # ---- who gets an answer

    def test_only_who_knows_the_token_gets_an_answer(self):
        self.assertEqual(self.studio.ask("")[0], 200)
        for root in ("/", "//", "/" + "0" * 32 + "/", f"/{TOKEN[:-1]}/", f"/{TOKEN}0/", "/x/../" + TOKEN + "/"):
            for path in ("", "model", "events"):
                self.assertIn(self.studio.ask(path, root=root)[0], (400, 403, 404), root + path)
        self.assertEqual(self.studio.ask("simulate", [("t_end", "1")], root="/")[0], 403)

    def test_tokens_are_random_and_long(self):
        tokens = set()
        for _ in range(2):
            studio = Studio(self.model, token=None)
            tokens.add(studio.token)
            self.assertRegex(studio.token, "^[0-9a-f]{32}$")
            studio.close()
            studio.process.stdout.close()
            studio.process.stderr.close()
        self.assertEqual(len(tokens), 2)

    def test_other_origins_and_hosts_are_refused(self):
        own = f"http://127.0.0.1:{self.studio.port}"
        self.assertEqual(self.studio.ask("model", headers={"Origin": own})[0], 200)
        for origin in ("http://evil.example", "null", "http://127.0.0.1", own + "0", "https" + own[4:]):
            self.assertEqual(self.studio.ask("model", headers={"Origin": origin})[0], 403, origin)
            self.assertEqual(self.studio.ask("simulate", [], headers={"Origin": origin})[0], 403, origin)
        for host in ("evil.example", f"evil.example:{self.studio.port}", "127.0.0.1:1"):
            self.assertEqual(self.studio.ask("model", host=host)[0], 403, host)
        self.assertEqual(self.studio.ask("model", host=f"localhost:{self.studio.port}")[0], 200)
        self.assertEqual(self.studio.ask("model", headers={"Sec-Fetch-Site": "cross-site"})[0], 403)

    def test_the_server_listens_on_the_loopback_address_only(self):
        with open("/proc/net/tcp", encoding="ascii") as table:
            own = [line.split()[1] for line in table if line.split()[1].endswith(f":{self.studio.port:04X}")
                   and line.split()[3] == "0A"]
        self.assertEqual(own, [f"0100007F:{self.studio.port:04X}"])

    def test_no_path_leads_to_files(self):
        (Path(self.folder.name) / "secret.txt").write_text("do not read")
        for path in ("secret.txt", "../secret.txt", "..%2fsecret.txt", "%2e%2e/%2e%2e/etc/passwd", "/etc/passwd",
                     "model/../../../etc/passwd", "ball.toml"):
            status, body = self.studio.ask(path)
            self.assertNotEqual(status, 200, path)
            self.assertNotIn("root:", body)
            self.assertNotIn("do not read", body)

    def test_no_question_reads_or_writes_other_files(self):
        target = Path(self.folder.name) / "out"
        for option in (f"--out={target}", f"--report={target}.html", "--certificate=/tmp/c.json", "--restart=/etc/passwd",
                       "--trajectory=/etc/passwd", "--json", "model", "-o", "--threads=999"):
            job = self.studio.question(("command", "certify"), ("option", option))
            self.assertIn("does not use the option", job["error"]["message"], option)
        for command in ("report", "gallery", "solve", "studio", "simulate", "../check", ""):
            self.assertIn("no question", self.studio.question(("command", command))["error"]["message"], command)
        self.assertFalse(target.exists())

    def test_large_and_malformed_requests_are_refused(self):
        self.assertEqual(self.studio.ask("simulate", [("set", "y=" + "1" * (2 << 20))])[0], 413)
        for form in ([("t_end", "soon")], [("set", "mu")], [("set", "=1")], [("number", "-1")], [("seconds", "nan")]):
            status, body = self.studio.ask("simulate", form)
            self.assertIn("error", json.loads(body), form)
        self.assertEqual(self.studio.ask("question?number=77")[0], 400)
        with socket.create_connection(("127.0.0.1", self.studio.port)) as s:
            s.sendall(b"\x00\xff nonsense\r\n\r\n")
            s.recv(1000)
        self.assertEqual(self.studio.ask("model")[0], 200)

    # ---- motions

    def test_a_motion_is_that_of_the_command_line(self):
        answer = self.studio.simulate(("set", "e=0.25"), ("set", "y=20"), ("set", "y'=-1"), ("t_end", "3"))
        motion = answer["motion"]
        told = json.loads(subprocess.run([SALTUS, "simulate", self.model, "--set", "e=0.25", "--set", "y=20", "--set",
                                          "y'=-1", "--t-end", "3", "--json"], capture_output=True, check=True).stdout)
        self.assertEqual(motion["status"], "completed")
        self.assertEqual([round(e["t"], 9) for e in motion["events"]], [round(e["t"], 9) for e in told["events"]])
        # y = 20 - t - 5 t^2 is zero at t = (-1 + sqrt(401))/10.
        self.assertAlmostEqual(motion["events"][0]["t"], (-1 + 401**0.5) / 10, places=9)
        self.assertEqual({p["name"]: p["value"] for p in answer["parameters"]}["e"], 0.25)
        self.assertEqual(answer["q0"], [20.0])

    def test_errors_of_values_have_a_message(self):
        answer = self.studio.simulate(("set", "y=-1"))
        self.assertIn("error", answer)
        self.assertNotIn("motion", answer)
        repaired = self.studio.simulate(("set", "y=-1"), ("project", "1"))
        self.assertAlmostEqual(repaired["q0"][0], 0.0, places=9)
        self.assertIn("nonsense", self.studio.simulate(("set", "nonsense=1"))["error"]["message"])
        self.assertIn("error", self.studio.simulate(("t_end", "-1")))

    def test_a_long_motion_ends_after_its_computing_time(self):
        begin = time.time()
        answer = self.studio.simulate(("set", "e=1"), ("t_end", "1e8"), ("seconds", "0.3"))
        self.assertLess(time.time() - begin, 20)
        self.assertEqual(answer["motion"]["status"], "interrupted")
        self.assertIn("computing time", answer["motion"]["reason"])

    def test_a_newer_request_of_a_page_ends_an_older_one(self):
        answers = {}

        def old():
            answers["old"] = self.studio.simulate(("set", "e=1"), ("t_end", "1e8"), ("seconds", "30"), ("page", "a"),
                                                  ("number", "1"))

        thread = threading.Thread(target=old)
        thread.start()
        time.sleep(0.3)
        self.studio.simulate(("page", "b"), ("number", "7"))  # another page does not end it
        self.assertTrue(thread.is_alive())
        self.studio.simulate(("page", "a"), ("number", "2"))
        thread.join(10)
        self.assertFalse(thread.is_alive())
        self.assertEqual(answers["old"]["motion"]["status"], "interrupted")

    # ---- the file

    def test_a_saved_file_is_pushed_and_simulated(self):
        pushes = [Pushes(self.studio), Pushes(self.studio)]  # two browsers
        for p in pushes:
            p.until("1")
        replace(self.model, BALL.replace("y = 5.0", "y = 20.0").replace("t_end = 1.5", "t_end = 2.5"))
        for p in pushes:
            p.until("2")
        self.assertEqual(self.studio.json("model")["model"]["q0"], [20.0])
        self.assertAlmostEqual(self.studio.simulate()["motion"]["events"][0]["t"], 2.0, places=9)

    def test_an_error_has_its_line_and_the_last_model_stays(self):
        pushes = Pushes(self.studio)
        pushes.next("model")
        replace(self.model, BALL.replace('"m*g*y"', '"m*g*z"'))
        pushes.until("2")
        state = self.studio.json("model")
        self.assertEqual((state["error"]["line"], state["revision"], state["model"]["revision"]), (4, 2, 1))
        self.assertIn("z", state["error"]["message"])
        self.assertEqual(self.studio.simulate()["motion"]["status"], "completed")
        self.model.unlink()
        pushes.until("3")
        self.assertIn("cannot be read", self.studio.json("model")["error"]["message"])
        replace(self.model, BALL.replace("g = 10.0", "g = 20.0"))
        pushes.until("4")
        state = self.studio.json("model")
        self.assertNotIn("error", state)
        self.assertEqual(state["model"]["parameters"][1]["value"], 20.0)

    def test_a_file_that_is_no_model_at_the_start_is_shown_with_its_error(self):
        self.model.write_text("[system")
        studio = Studio(self.model)
        state = studio.json("model")
        self.assertEqual(state["error"]["line"], 1)
        self.assertNotIn("model", state)
        self.assertIn("error", studio.simulate())
        self.model.write_text(BALL)  # in place
        pushes = Pushes(studio)
        while "error" in studio.json("model"):
            pushes.next("model")
        self.assertEqual(studio.simulate()["motion"]["status"], "completed")
        studio.close()
        studio.process.stdout.close()
        studio.process.stderr.close()

    # ---- questions

    def test_a_question_has_the_document_of_the_program(self):
        job = self.studio.question(("command", "sensitivity"), ("set", "e=0.4"), ("option", "--wrt=g"))
        self.assertEqual(job["status"], "done", job.get("message"))
        part = job["report"]["parts"][0]
        self.assertEqual(part["kind"], "sensitivity")
        told = json.loads(subprocess.run([*shlex.split(part["command"].replace("saltus", SALTUS, 1)), "--json"],
                                         capture_output=True, check=True).stdout)
        self.assertEqual(part["data"]["final"], told["final"])

    def test_a_refused_question_says_why(self):
        job = self.studio.question(("command", "sensitivity"), ("option", "--wrt=nonsense"))
        self.assertEqual(job["status"], "refused")
        self.assertIn("nonsense", job["message"])
        self.assertNotIn("/tmp", job["message"])

    def test_a_question_has_progress_and_can_be_cancelled(self):
        job = self.studio.json("ask", [("command", "basin"), ("set", "e=0.99"), ("option", "--grid=y=0.1:50:2000"),
                                       ("option", "--t-max=500"), ("option", "--method=event")])
        shares = []
        for _ in range(200):
            time.sleep(0.1)
            state = self.studio.json(f"question?number={job['job']}")
            if "share" in state:
                shares.append(state["share"])
            if len(shares) > 3:
                break
        self.assertEqual(state["status"], "running", state.get("message"))
        self.assertGreaterEqual(shares[-1], shares[0])
        self.assertEqual(self.studio.simulate()["motion"]["status"], "completed")  # sliders go on
        pushes = Pushes(self.studio)
        begin = time.time()
        self.studio.json("cancel", [("number", str(job["job"]))])
        self.assertEqual(pushes.next("question"), str(job["job"]))
        self.assertLess(time.time() - begin, 15)
        self.assertEqual(self.studio.json(f"question?number={job['job']}")["status"], "cancelled")

    def test_a_report_has_the_motion_and_the_results(self):
        job = self.studio.question(("command", "equilibria"))
        self.assertEqual(job["status"], "done", job.get("message"))
        status, page = self.studio.ask("report", [("set", "e=0.3"), ("question", str(job["job"]))])
        self.assertEqual(status, 200)
        text = re.search(r'<script id="saltus-report" type="application/json">(.*?)</script>', page, re.S)[1]
        report = json.loads(text)
        self.assertEqual([p["kind"] for p in report["parts"]], ["motion", "equilibria"])
        self.assertIn("--set e=0.3", report["parts"][0]["command"])
        self.assertNotIn(TOKEN, page)

    # ---- the end

    def test_ctrl_c_ends_the_studio_and_its_questions(self):
        job = self.studio.json("ask", [("command", "basin"), ("set", "e=0.99"), ("option", "--grid=y=0.1:50:2000"),
                                       ("option", "--t-max=500"), ("option", "--method=event")])
        self.assertEqual(job["status"], "running")
        Pushes(self.studio).next("model")
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.studio.process.pid)], capture_output=True,
                                  text=True, check=False).stdout.split()
        self.assertEqual(self.studio.close(), (0, ""))
        for child in children:
            self.assertFalse(Path(f"/proc/{child}").exists() and "basin" in Path(f"/proc/{child}/cmdline").read_text())

    def test_the_port_is_used_by_one_studio_only(self):
        second = subprocess.run([SALTUS, "studio", self.model, "--port", str(self.studio.port)], capture_output=True,
                                text=True, check=False)
        self.assertEqual(second.returncode, 2)
        self.assertIn("--port", second.stderr)

    def test_a_killed_studio_starts_again_at_its_address(self):
        port = self.studio.port
        self.studio.close(signal.SIGKILL)
        self.studio.process.stdout.close()
        self.studio.process.stderr.close()
        self.studio = Studio(self.model, "--port", str(port))
        self.assertEqual((self.studio.port, self.studio.token), (port, TOKEN))
        self.assertEqual(self.studio.simulate()["motion"]["status"], "completed")

    def test_bad_starts_are_refused(self):
        for words in (["no-such.toml"], [self.folder.name], [self.model, "--port", "70000"], [self.model, "--port", "x"]):
            ended = subprocess.run([SALTUS, "studio", *map(str, words)], capture_output=True, text=True, check=False,
                                   timeout=60)
            self.assertEqual(ended.returncode, 2, words)
            self.assertTrue(ended.stderr)


if __name__ == "__main__":
    refused = subprocess.run([SALTUS, "studio", "/dev/null"], capture_output=True, text=True, check=False)
    if "built without" in refused.stderr:
        print("skipped: " + refused.stderr.strip())
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], warnings="ignore")
