"""The same with the Python client of the Kubernetes project, which speaks WebSocket."""

from kubernetes import client, config, watch
from kubernetes.stream import portforward, stream

config.load_kube_config()
api = client.CoreV1Api()
WHERE = {"name": "p", "namespace": "default"}


def opened(command, **how):
    wanted = {"stdin": False, "stdout": True, "stderr": True, "tty": False, **how}
    return stream(
        api.connect_get_namespaced_pod_exec, **WHERE, container="c", command=command, _preload_content=False, **wanted
    )


def sh(script):
    return ["/bin/busybox", "sh", "-c", script]


session = opened(sh("echo out; echo err >&2; exit 7"))
session.run_forever(timeout=60)
assert session.read_stdout() == "out\n"
assert session.read_stderr() == "err\n"
assert session.returncode == 7, session.returncode

# All at once, as most use it.
text = stream(
    api.connect_get_namespaced_pod_exec,
    **WHERE,
    container="c",
    command=sh("echo all"),
    stdin=False,
    stdout=True,
    stderr=True,
    tty=False,
)
assert text == "all\n", text

session = opened(sh("read line; echo heard $line"), stdin=True)
session.write_stdin("a word\n")
assert session.readline_stdout(timeout=60) == "heard a word"
session.run_forever(timeout=60)
assert session.returncode == 0

session = opened(sh("busybox stty size; read line; busybox stty size"), stdin=True, tty=True)
session.write_channel(4, '{"Width":91,"Height":37}')
session.write_stdin("\n")
session.run_forever(timeout=60)
assert "37 91" in session.read_stdout(), "no size"

session = opened(["/no/such"])
session.run_forever(timeout=60)
assert "/no/such" in session.read_channel(3) + str(session._returncode or ""), "no word of what is missing"

ports = portforward(api.connect_get_namespaced_pod_portforward, **WHERE, ports="8080")
http = ports.socket(8080)
http.setblocking(True)
http.sendall(b"GET /index.html HTTP/1.0\r\n\r\n")
answer = b""
while part := http.recv(4096):
    answer += part
assert answer.endswith(b"\r\n\r\nhi\n"), answer
assert ports.error(8080) is None

for line in watch.Watch().stream(api.read_namespaced_pod_log, **WHERE, container="c"):
    assert line == "ready", line
    break
print("all is well")
