"""The plugin on a real skiff, with the official client."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from kubernetes import client

from skiff_pytest import Server, SkiffError

DEPLOYMENT = {
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 3,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "web", "image": "nginx"}]},
        },
    },
}


def test_a_deployment_is_rolled_out_and_collected(skiff):
    with skiff.api_client() as api:
        apps = client.AppsV1Api(api)
        apps.create_namespaced_deployment("default", DEPLOYMENT)
        skiff.clock.run_until_idle()
        assert apps.read_namespaced_deployment("web", "default").status.ready_replicas == 3
        apps.delete_namespaced_deployment("web", "default", propagation_policy="Foreground")
        skiff.clock.advance("31s")
        assert client.CoreV1Api(api).list_namespaced_pod("default").items == []


def test_each_test_has_a_cluster_of_its_own(skiff):
    with skiff.api_client() as api:
        core = client.CoreV1Api(api)
        assert core.list_namespaced_pod("default").items == []
        core.create_namespaced_config_map("default", {"metadata": {"name": "mine"}})
        other = skiff.fork()
        with other.api_client() as theirs:
            client.CoreV1Api(theirs).delete_namespaced_config_map("mine", "default")
        assert core.read_namespaced_config_map("mine", "default").metadata.name == "mine"
        other.end()
        other.end()
        with pytest.raises(SkiffError, match="there is no cluster fork-"):
            other.clock.now()


def test_time_is_moved(skiff):
    before = skiff.clock.now()
    assert skiff.clock.advance("1h") > before
    with pytest.raises(SkiffError, match="duration"):
        skiff.clock.advance("soon")


def test_things_go_wrong_on_purpose_and_the_same_again(skiff):
    def met(cluster):
        cluster.faults.set("refuse 500 40% on get", "cut before first 1 on create", seed=7)
        answers = []
        with cluster.api_client() as api:
            core = client.CoreV1Api(api)
            with pytest.raises(Exception, match="Connection aborted|Connection reset|closed connection"):
                core.api_client.rest_client.pool_manager.connection_pool_kw["retries"] = False
                core.create_namespaced_config_map("default", {"metadata": {"name": "a"}})
            for _ in range(20):
                try:
                    answers.append(core.read_namespace("default").metadata.name)
                except client.ApiException as error:
                    answers.append(error.status)
        return answers

    first = met(skiff)
    assert set(first) == {"default", 500}
    other = skiff.fork()
    assert met(other) == first
    assert "faults, seed 7:" in other.report()
    assert skiff.faults.add("watch drop 5%")["faults"][-1] == {"fault": "watch drop 5%", "met": 0, "struck": 0}
    with pytest.raises(SkiffError, match="is none of drop, expire, reorder, delay"):
        skiff.faults.add("watch lose 5%")
    assert skiff.faults.clear()["faults"] == []
    assert skiff.faults.status()["seed"] == 7


@pytest.mark.parametrize("crds", [["missing.yaml"], "missing.yaml", Path("missing.yaml")])
def test_what_cannot_start_says_why(crds):
    with pytest.raises(SkiffError, match="open missing.yaml: no such file"):
        Server(crds=crds)


def test_a_script_may_write_lines_of_its_own_and_what_does_not_answer_is_named(tmp_path, monkeypatch):
    script = tmp_path / "skiff"
    script.write_text("#!/bin/sh\necho hello\nexec sleep 600\n")
    script.chmod(0o755)
    monkeypatch.setenv("SKIFF_BIN", str(script))
    monkeypatch.setattr("skiff_pytest.START_SECONDS", 0.5)
    monkeypatch.setattr("skiff_pytest.END_SECONDS", 0.1)
    with pytest.raises(SkiffError, match="skiff was not ready within 0.5 s"):
        Server()


def test_lines_that_are_json_of_another_kind_are_passed_over_and_an_end_that_failed_is_tried_again(tmp_path, monkeypatch):
    script = tmp_path / "skiff"
    script.write_text(
        """#!/bin/sh
printf '%s\\n' hello 3 null '["ready"]' '{"note": 1}' '{"id": [1]}' '{"ready": {"name": "a", "url": "u", "kubeconfig": "k"}}'
read -r call; echo '{"id": 1, "error": "busy"}'
read -r call; echo '{"id": 2, "result": {}}'
read -r call
"""
    )
    script.chmod(0o755)
    monkeypatch.setenv("SKIFF_BIN", str(script))
    monkeypatch.setattr("skiff_pytest.START_SECONDS", 5)
    with Server() as server:
        with pytest.raises(SkiffError, match="busy"):
            server.cluster.end()
        server.cluster.end()
        server.cluster.end()


@pytest.fixture
def nowhere(tmp_path, monkeypatch):
    """A folder with an npx on PATH, which tells that it was run by a file. The test works in a folder below it."""
    npx = tmp_path / "npx"
    npx.write_text(f"#!/bin/sh\n: >'{tmp_path}/asked'\n")
    npx.chmod(0o755)
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    monkeypatch.delenv("SKIFF_BIN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.chdir(below)
    return tmp_path


def test_without_skiff_it_ends_at_once_and_asks_no_registry(nowhere):
    with pytest.raises(SkiffError, match="skiff is not found: set SKIFF_BIN"):
        Server()
    assert not (nowhere / "asked").exists()


def test_skiff_of_the_npm_project_above_is_found(nowhere):
    project = nowhere / "node_modules" / ".bin" / "skiff"
    project.parent.mkdir(parents=True)
    project.write_text("#!/bin/sh\necho \"the project's\" >&2\n")
    project.chmod(0o755)
    with pytest.raises(SkiffError, match="the project's"):
        Server()


def test_a_failed_test_tells_what_happened(pytester):
    pytester.makepyfile(
        """
        from kubernetes import client

        def test_fails(skiff):
            with skiff.api_client() as api:
                core = client.CoreV1Api(api)
                core.create_namespaced_pod("default", {"metadata": {"name": "sad"},
                    "spec": {"containers": [{"name": "c", "image": "there.invalid/i"}]}})
                assert core.list_namespaced_pod("default").items == []
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*Pod default/sad*", "*POST /api/v1/namespaces/default/pods*201*"])


def test_what_a_fixture_did_is_told_when_it_fails(pytester):
    pytester.makepyfile(
        """
        import pytest
        from kubernetes import client

        @pytest.fixture
        def broken(skiff):
            with skiff.api_client() as api:
                client.CoreV1Api(api).create_namespaced_config_map("default", {"metadata": {"name": "begun"}})
            raise RuntimeError("it breaks")

        def test_with_it(broken):
            pass
        """
    )
    result = pytester.runpytest_subprocess()
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*ConfigMap default/begun*"])


def test_after_ctrl_c_skiff_is_there_until_the_tests_have_ended(tmp_path):
    program = (
        "import os, signal\nfrom skiff_pytest import Server\nwith Server() as s:\n  try:\n    os.killpg(0, signal.SIGINT)\n"
        "    signal.pause()\n  except KeyboardInterrupt:\n    fork = s.cluster.fork()\n    fork.end()\n    print('told', bool(s.cluster.report()))\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, start_new_session=True)
    assert ended.stdout == "told True\n", ended.stderr


def test_nothing_is_left_when_the_tests_are_killed(tmp_path):
    program = "import sys, time\nfrom skiff_pytest import Server\ns = Server()\nprint(s._process.pid, flush=True)\ntime.sleep(600)\n"
    killed = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    pid = int(killed.stdout.readline())
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    deadline = time.monotonic() + 30
    while os.path.exists(f"/proc/{pid}") and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not os.path.exists(f"/proc/{pid}")
