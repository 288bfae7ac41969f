// The same with fabric8's client for Java, which speaks WebSocket.
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.LocalPortForward;
import io.fabric8.kubernetes.client.dsl.ExecWatch;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

public class Fabric8 {
  static final int LARGE = 8 << 20;

  static void check(boolean is, Object told) {
    if (!is) throw new AssertionError(String.valueOf(told));
  }

  static String[] sh(String script) {
    return new String[] {"/bin/busybox", "sh", "-c", script};
  }

  public static void main(String[] args) throws Exception {
    try (var client = new KubernetesClientBuilder().build()) {
      var container = client.pods().inNamespace("default").withName("p").inContainer("c");

      var out = new ByteArrayOutputStream();
      var err = new ByteArrayOutputStream();
      try (ExecWatch session = container.writingOutput(out).writingError(err).exec(sh("echo out; echo err >&2; exit 7"))) {
        Integer code = session.exitCode().get(60, TimeUnit.SECONDS);
        check(code == 7, code);
      }
      check(out.toString(StandardCharsets.UTF_8).equals("out\n"), out);
      check(err.toString(StandardCharsets.UTF_8).equals("err\n"), err);

      byte[] sent = new byte[LARGE];
      Arrays.fill(sent, (byte) 'x');
      var back = new ByteArrayOutputStream();
      String count = String.valueOf(LARGE);
      try (ExecWatch session =
          container.readingInput(new ByteArrayInputStream(sent)).writingOutput(back).exec("/bin/busybox", "head", "-c", count)) {
        Integer code = session.exitCode().get(120, TimeUnit.SECONDS);
        check(code == 0, code);
      }
      check(Arrays.equals(back.toByteArray(), sent), back.size() + " bytes came back");

      try (LocalPortForward forward = client.pods().inNamespace("default").withName("p").portForward(8080)) {
        var at = URI.create("http://127.0.0.1:" + forward.getLocalPort() + "/index.html");
        String body = new String(at.toURL().openStream().readAllBytes(), StandardCharsets.UTF_8);
        check(body.equals("hi\n"), body);
      }
      String log = client.pods().inNamespace("default").withName("p").inContainer("c").getLog();
      check(log.startsWith("ready\n"), log);
      System.out.println("all is well");
    }
  }
}
