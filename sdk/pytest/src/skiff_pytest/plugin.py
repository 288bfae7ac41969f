"""The fixtures: `skiff` is a cluster of the test's own, a fork of the one that `skiff_server` starts once."""

from __future__ import annotations

from typing import Any, Iterator

import pytest

from . import Cluster, Server


@pytest.fixture(scope="session")
def skiff_options() -> dict[str, Any]:
    """What Server takes: override it in conftest.py ({"clock": "manual", "crds": ["config/crd/bases"]})."""
    return {}


@pytest.fixture(scope="session")
def skiff_server(skiff_options: dict[str, Any]) -> Iterator[Server]:
    """One process of skiff for the whole run (of each worker, with pytest-xdist)."""
    with Server(**skiff_options) as server:
        yield server


_CLUSTER = pytest.StashKey[Cluster]()


@pytest.fixture
def skiff(skiff_server: Server, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    """A cluster of the test's own. When the test or a fixture before it fails, what happened in it is printed."""
    fork = skiff_server.cluster.fork()
    request.node.stash[_CLUSTER] = fork
    try:
        yield fork
    finally:
        fork.end()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Any:
    report = yield
    cluster = item.stash.get(_CLUSTER, None)
    if report.when in ("setup", "call") and report.failed and cluster is not None:
        try:
            report.sections.append(("skiff", cluster.report()))
        except Exception as error:  # the report of a failure must not hide it
            report.sections.append(("skiff", f"there is no report: {error}"))
    return report
