import pytest

pytest_plugins = ["pytester"]


@pytest.fixture(scope="session")
def skiff_options():
    return {"clock": "manual"}
