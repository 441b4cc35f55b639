"""The dashboard, the alert rules and both formats of metrics, with a real Prometheus on loopback ports.

`cargo xtask monitoring` runs it: WHYLATE is the program, WHYLATE_ROOT the project.
"""

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from contextlib import contextmanager
from pathlib import Path

import pytest

ROOT = Path(os.environ["WHYLATE_ROOT"])
DASHBOARD = ROOT / "docs/prometheus/whylate-watch.dashboard.json"
RULES = ROOT / "docs/prometheus/whylate-watch.rules.yml"
PATIENCE = 90
# Wakes each 10 ms; with a deadline of 1 us each of its activations is late.
PROGRAM = "import time\nwhile True: time.sleep(0.01)"


def until(what, condition):
    """Waits for what depends on other programs: on a loaded machine, long."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        try:
            found = condition()
        except OSError:
            found = None
        if found:
            return found
        time.sleep(0.2)
    pytest.fail(f"{what}: not within {PATIENCE} s")


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def running(command, log):
    with open(log, "w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@pytest.fixture(scope="module")
def watch(tmp_path_factory):
    log = tmp_path_factory.mktemp("watch") / "log"
    command = [os.environ["WHYLATE"], "watch", "--task", "python*", "--deadline", "1us", "--serve", "0"]
    with running([*command, "--", sys.executable, "-c", PROGRAM], log) as process:
        address = until("the watch serves", lambda: re.search(r"metrics: http://(\S+)/metrics", log.read_text()))[1]
        metrics = lambda: urllib.request.urlopen(f"http://{address}/metrics").read().decode()
        until(f"it sees late activations: {log.read_text()}", lambda: "whylate_watch_late_activations_total{" in metrics())
        assert process.poll() is None, log.read_text()
        yield address


class Prometheus:
    def __init__(self, port):
        self.base = f"http://127.0.0.1:{port}"

    def get(self, path, **parameters):
        with urllib.request.urlopen(f"{self.base}{path}?{urllib.parse.urlencode(parameters)}") as answer:
            document = json.load(answer)
        assert document["status"] == "success", document
        return document["data"]

    def query(self, expr):
        return self.get("/api/v1/query", query=expr)["result"]


@contextmanager
def prometheus(watch, directory, *features):
    port = free_port()
    config = directory / "prometheus.yml"
    config.write_text(
        "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
        f"rule_files: ['{RULES}']\n"
        f"scrape_configs: [{{job_name: whylate, static_configs: [{{targets: ['{watch}']}}]}}]\n"
    )
    command = ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={directory / 'data'}"]
    command += [f"--web.listen-address=127.0.0.1:{port}", *features]
    log = directory / "log"
    with running(command, log) as process:
        asked = Prometheus(port)
        elapsed = "count_over_time(whylate_watch_elapsed_seconds_total[1m]) > 5"
        until("Prometheus has six scrapes", lambda: process.poll() is not None or asked.query(elapsed))
        assert process.poll() is None, log.read_text()
        yield asked


def queries():
    found = []

    def walk(node):
        if isinstance(node, dict):
            if "expr" in node:
                found.append(node["expr"])
            node = node.values()
        elif not isinstance(node, list):
            return
        for inner in node:
            walk(inner)

    walk(json.loads(DASHBOARD.read_text()))
    return found


def chosen(expr):
    """What Grafana asks: every variable by its value."""
    for name, value in (("instance", ".*"), ("thread", ".*"), ("__rate_interval", "5s"), ("__range", "1m")):
        expr = expr.replace(f"${name}", value)
    assert "$" not in expr, expr
    return expr


def test_the_dashboard_is_what_its_script_writes():
    script = ROOT / "packaging/grafana/dashboard.py"
    written = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True).stdout
    assert json.loads(written) == json.loads(DASHBOARD.read_text()), f"{script} > {DASHBOARD}"


def test_each_panel_has_its_place_and_each_query_its_name():
    panels = [panel for panel in json.loads(DASHBOARD.read_text())["panels"] if panel["type"] != "row"]
    assert len(panels) == 12
    for panel in panels:
        names = [target["refId"] for target in panel["targets"]]
        assert len(set(names)) == len(names), panel["title"]


@pytest.mark.parametrize("features", [[], ["--enable-feature=native-histograms"]], ids=["fixed", "native"])
def test_every_query_and_rule_works(watch, tmp_path, features):
    with prometheus(watch, tmp_path, *features) as asked:
        assert len(queries()) >= 15
        for expr in queries():
            assert asked.query(chosen(expr)), f"no data: {expr}"
        buckets = asked.query("whylate_watch_response_seconds_bucket")
        native = asked.query("histogram_count(whylate_watch_response_seconds)")
        assert (bool(native), bool(buckets)) == (bool(features), not features)
        # Both formats say the same.
        median = asked.query(chosen(next(expr for expr in queries() if "(0.5" in expr and "response" in expr)))
        assert 1e-6 < float(median[0]["value"][1]) < 1, median
        rules = [rule for group in asked.get("/api/v1/rules")["groups"] for rule in group["rules"]]
        assert len(rules) >= 5
        until("the rules were evaluated", lambda: all(rule["health"] == "ok" for rule in fetched_rules(asked)))
        late = lambda: [rule["state"] for rule in fetched_rules(asked) if rule["name"] == "LateActivation"]
        until("late activations raise an alert", lambda: late() == ["firing"])


def fetched_rules(asked):
    return [rule for group in asked.get("/api/v1/rules")["groups"] for rule in group["rules"]]


def test_promtool_finds_no_fault_in_the_rules():
    subprocess.run(["promtool", "check", "rules", RULES], check=True)
