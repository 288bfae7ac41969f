package dev.skiff.junit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.api.model.DeletionPropagation;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.apps.Deployment;
import io.fabric8.kubernetes.api.model.apps.DeploymentBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.KubernetesClientException;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.platform.testkit.engine.EngineTestKit;

/** The extension on a real skiff, with the client of fabric8. */
@Skiff(manualClock = true)
class SkiffExtensionTest {
  private static final Deployment WEB =
      new DeploymentBuilder()
          .withNewMetadata().withName("web").endMetadata()
          .withNewSpec()
          .withReplicas(3)
          .withNewSelector().withMatchLabels(Map.of("app", "web")).endSelector()
          .withNewTemplate()
          .withNewMetadata().withLabels(Map.of("app", "web")).endMetadata()
          .withNewSpec().addNewContainer().withName("web").withImage("nginx").endContainer().endSpec()
          .endTemplate()
          .endSpec()
          .build();

  @Test
  void deploymentIsRolledOutAndCollected(Cluster cluster, KubernetesClient client) {
    client.apps().deployments().inNamespace("default").resource(WEB).create();
    cluster.clock().runUntilIdle();
    assertEquals(3, client.apps().deployments().inNamespace("default").withName("web").get().getStatus().getReadyReplicas());
    client.apps().deployments().inNamespace("default").withName("web").withPropagationPolicy(DeletionPropagation.FOREGROUND).delete();
    cluster.clock().advance(Duration.ofSeconds(31));
    assertEquals(List.of(), client.pods().inNamespace("default").list().getItems());
  }

  @Test
  void eachTestHasAClusterOfItsOwn(Cluster cluster, KubernetesClient client) {
    assertEquals(List.of(), client.pods().inNamespace("default").list().getItems());
    client.configMaps().inNamespace("default").resource(new ConfigMapBuilder().withNewMetadata().withName("mine").endMetadata().build()).create();
    Cluster other = cluster.fork();
    other.client().configMaps().inNamespace("default").withName("mine").delete();
    assertEquals("mine", client.configMaps().inNamespace("default").withName("mine").get().getMetadata().getName());
    other.close();
    other.close();
    assertTrue(assertThrows(SkiffException.class, () -> other.clock().now()).getMessage().contains("there is no cluster fork-"));
  }

  @Test
  void timeIsMoved(Cluster cluster) {
    Instant before = cluster.clock().now();
    assertEquals(before.plus(Duration.ofHours(1)), cluster.clock().advance(Duration.ofHours(1)));
    assertThrows(SkiffException.class, () -> cluster.clock().advanceTo(before));
  }

  @Test
  void thingsGoWrongOnPurposeAndTheSameAgain(Cluster cluster) {
    List<Object> first = met(cluster, 7);
    assertEquals(Set.of("default", 500), Set.copyOf(first));
    try (Cluster other = cluster.fork()) {
      assertEquals(first, met(other, 7));
      assertNotEquals(first, met(other, 8));
      assertTrue(other.report().contains("faults, seed 8:"));
    }
    assertEquals(new Faults.Count("watch drop 5%", 0, 0), cluster.faults().add("watch drop 5%").faults().get(1));
    String refused = assertThrows(SkiffException.class, () -> cluster.faults().add("watch lose 5%")).getMessage();
    assertTrue(refused.contains("is none of drop, expire, reorder, delay"), refused);
    assertEquals(List.of(), cluster.faults().clear().faults());
    assertEquals(7, cluster.faults().status().seed());
  }

  /** What a client that does not try again is answered. */
  private static List<Object> met(Cluster cluster, long seed) {
    cluster.faults().setSeeded(seed, "refuse 500 40% on get");
    Config config = Config.fromKubeconfig(cluster.kubeconfig());
    config.setRequestRetryBackoffLimit(0);
    List<Object> answers = new ArrayList<>();
    try (KubernetesClient client = new KubernetesClientBuilder().withConfig(config).build()) {
      for (int i = 0; i < 20; i++) {
        try {
          answers.add(client.namespaces().withName("default").get().getMetadata().getName());
        } catch (KubernetesClientException error) {
          answers.add(error.getCode());
        }
      }
    }
    return answers;
  }

  @Test
  void whatCannotStartSaysWhy() {
    Server.Options options = new Server.Options();
    options.crds = List.of("missing.yaml");
    assertTrue(assertThrows(SkiffException.class, () -> new Server(options)).getMessage().contains("missing.yaml"));
  }

  @Test
  void withoutSkiffItEndsAtOnceAndAsksNoRegistry(@TempDir Path within) throws Exception {
    String said = saidBelow(within);
    assertTrue(said.contains("skiff is not found: set SKIFF_BIN"), said);
    assertFalse(Files.exists(within.resolve("asked")));
  }

  @Test
  void skiffOfTheNpmProjectAboveIsFound(@TempDir Path within) throws Exception {
    script(within.resolve("node_modules/.bin/skiff"), "echo the project\\'s >&2");
    String said = saidBelow(within);
    assertTrue(said.contains("the project's"), said);
  }

  /** What a process says below a folder with an npx on PATH, which tells that it was run by a file. */
  private static String saidBelow(Path within) throws Exception {
    script(within.resolve("npx"), ": >'" + within.resolve("asked") + "'");
    Path below = Files.createDirectories(within.resolve("a/b"));
    ProcessBuilder builder = another(Starts.class).directory(below.toFile());
    builder.environment().remove("SKIFF_BIN");
    builder.environment().put("PATH", within.toString());
    try (BufferedReader lines = builder.start().inputReader()) {
      return lines.lines().collect(Collectors.joining("\n"));
    }
  }

  private static void script(Path path, String does) throws IOException {
    Files.createDirectories(path.getParent());
    Files.writeString(path, "#!/bin/sh\n" + does + "\n");
    assertTrue(path.toFile().setExecutable(true));
  }

  private static ProcessBuilder another(Class<?> program) {
    String classes = System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"));
    return new ProcessBuilder(ProcessHandle.current().info().command().orElseThrow(), "-cp", classes, program.getName()).redirectError(ProcessBuilder.Redirect.INHERIT);
  }

  @Test
  void aFailedTestTellsWhatHappened() {
    PrintStream before = System.err;
    ByteArrayOutputStream said = new ByteArrayOutputStream();
    System.setErr(new PrintStream(said, true, StandardCharsets.UTF_8));
    try {
      EngineTestKit.engine("junit-jupiter").selectors(selectClass(Failing.class)).execute().testEvents().assertStatistics(seen -> seen.failed(1).succeeded(1));
    } finally {
      System.setErr(before);
    }
    String text = said.toString(StandardCharsets.UTF_8);
    assertTrue(text.contains("Pod default/sad"), text);
    assertTrue(text.lines().anyMatch(line -> line.contains("POST /api/v1/namespaces/default/pods") && line.contains("201")), text);
    assertFalse(text.contains("glad"), text);
  }

  @Test
  void nothingIsLeftWhenTheTestsAreKilled() throws Exception {
    Process killed = another(Killed.class).start();
    long pid;
    try (BufferedReader lines = killed.inputReader()) {
      pid = Long.parseLong(lines.readLine());
    }
    killed.destroyForcibly().waitFor();
    Path there = Path.of("/proc/" + pid);
    for (long until = System.nanoTime() + Duration.ofSeconds(30).toNanos(); Files.exists(there) && System.nanoTime() < until; ) {
      Thread.sleep(50);
    }
    assertFalse(Files.exists(there));
  }

  @Nested
  class Within {
    @Test
    void aNestedClassHasWhatTheOneAroundItAsksFor(Cluster cluster) {
      cluster.clock().advance(Duration.ofSeconds(1));
    }
  }

  @Test
  void anAnnotationOfTheUsersMayStandForIt() {
    EngineTestKit.engine("junit-jupiter").selectors(selectClass(ByAnotherName.class)).execute().testEvents().assertStatistics(seen -> seen.failed(0).succeeded(1));
  }

  @Retention(RetentionPolicy.RUNTIME)
  @Skiff(manualClock = true)
  @interface OperatorTest {}

  @OperatorTest
  static class ByAnotherName {
    @Test
    void timeIsMoved(Cluster cluster) {
      cluster.clock().advance(Duration.ofSeconds(1));
    }
  }

  /** Run by the test of what a failed test tells; by its name not found by the runner. */
  @Skiff
  static class Failing {
    @Test
    void fails(KubernetesClient client) {
      client.pods().inNamespace("default").resource(pod("sad")).create();
      assertEquals(List.of(), client.pods().inNamespace("default").list().getItems());
    }

    @Test
    void passes(KubernetesClient client) {
      client.pods().inNamespace("default").resource(pod("glad")).create();
    }

    private static io.fabric8.kubernetes.api.model.Pod pod(String name) {
      return new PodBuilder()
          .withNewMetadata().withName(name).endMetadata()
          .withNewSpec().addNewContainer().withName("c").withImage("there.invalid/i").endContainer().endSpec()
          .build();
    }
  }

  /** Says why skiff does not start. */
  static final class Starts {
    public static void main(String[] arguments) {
      System.out.println(assertThrows(SkiffException.class, () -> new Server(new Server.Options())).getMessage());
    }
  }

  /** Killed by the test, with skiff running. */
  static final class Killed {
    public static void main(String[] arguments) throws InterruptedException {
      Server server = new Server(new Server.Options());
      System.out.println(server.pid());
      Thread.sleep(Long.MAX_VALUE);
    }
  }
}
