package dev.skiff.junit;

import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.utils.KubernetesSerialization;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One process of skiff with one cluster, to be forked, for tests without the extension. It ends with {@link #close()}, or with
 * this process, however that ends. The protocol is that of {@code skiff test-server}.
 */
public final class Server implements AutoCloseable {
  private static final long START_SECONDS = 60;
  private static final long CALL_SECONDS = 120;
  /** How long these take is what the test asks for. */
  private static final Set<String> MOVES = Set.of("advance", "advanceTo", "runUntilIdle");
  private static final long YEAR_SECONDS = 31_536_000;
  private static final long END_SECONDS = 10;
  private static final int LINES_KEPT = 50;
  private static final KubernetesSerialization JSON = new KubernetesSerialization();

  /** As in {@link Skiff}. */
  public static final class Options {
    public boolean manualClock;
    public int nodes = 1;
    public String components = "";
    public List<String> crds = List.of();
    public List<String> objects = List.of();
    public String snapshot = "";
  }

  private final Process process;
  private final BufferedWriter input;
  private final Thread listener;
  private final Thread errors;
  private final Deque<String> said = new ArrayDeque<>();
  private final CompletableFuture<Map<String, Object>> ready = new CompletableFuture<>();
  private final Map<Integer, CompletableFuture<Map<String, Object>>> waiting = new HashMap<>();
  private int calls;
  private boolean ended;
  private final Cluster cluster;

  public Server(Options options) {
    this(arguments(options));
  }

  Server(List<String> arguments) {
    List<String> line = new ArrayList<>(command());
    line.addAll(arguments);
    try {
      process = new ProcessBuilder(line).start();
    } catch (IOException error) {
      throw new SkiffException("skiff cannot be started: " + error.getMessage(), error);
    }
    input = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
    errors = daemon("skiff-errors", this::hear);
    listener = daemon("skiff-answers", this::listen);
    try {
      cluster = new Cluster(this, await(ready, START_SECONDS, "skiff was not ready"));
    } catch (RuntimeException error) {
      close();
      throw error;
    }
  }

  /** The cluster that it was started with. */
  public Cluster cluster() {
    return cluster;
  }

  static List<String> arguments(Options options) {
    List<String> arguments = new ArrayList<>(List.of("test-server", "--clock", options.manualClock ? "manual" : "real", "--nodes", "" + options.nodes));
    if (!options.components.isEmpty()) {
      arguments.addAll(List.of("--components", options.components));
    }
    options.crds.forEach(path -> arguments.addAll(List.of("--crds", path)));
    options.objects.forEach(path -> arguments.addAll(List.of("--objects", path)));
    if (!options.snapshot.isEmpty()) {
      arguments.addAll(List.of("--from", options.snapshot));
    }
    return arguments;
  }

  private static List<String> command() {
    String binary = System.getenv("SKIFF_BIN");
    if (binary != null && !binary.isEmpty()) {
      return List.of(binary);
    }
    for (String folder : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)) {
      File found = new File(folder, "skiff");
      if (found.isFile() && found.canExecute()) {
        return List.of(found.getPath());
      }
    }
    // npx is not asked: it asks npm's registry, which has another package of that name.
    for (Path folder = Path.of("").toAbsolutePath(); folder != null; folder = folder.getParent()) {
      Path found = folder.resolve("node_modules/.bin/skiff");
      if (Files.isRegularFile(found) && Files.isExecutable(found)) {
        return List.of(found.toString());
      }
    }
    throw new SkiffException("skiff is not found: set SKIFF_BIN to its executable, put it on PATH, or install it in the npm project that the tests run in");
  }

  /** Its result. Throws {@link SkiffException} for what skiff refuses, and if it has ended. */
  Map<String, Object> call(String method, Map<String, Object> params) {
    CompletableFuture<Map<String, Object>> answer = new CompletableFuture<>();
    synchronized (waiting) {
      if (ended) {
        throw gone();
      }
      int id = ++calls;
      waiting.put(id, answer);
      try {
        input.write(JSON.asJson(Map.of("id", id, "method", method, "params", params)));
        input.write('\n');
        input.flush();
      } catch (IOException error) {
        waiting.remove(id);
        throw gone();
      }
    }
    return await(answer, MOVES.contains(method) ? YEAR_SECONDS : CALL_SECONDS, "skiff did not answer " + method);
  }

  private static Map<String, Object> await(CompletableFuture<Map<String, Object>> answer, long seconds, String otherwise) {
    try {
      return answer.get(seconds, TimeUnit.SECONDS);
    } catch (ExecutionException error) {
      // Made anew, so that its trace is the caller's.
      throw new SkiffException(error.getCause().getMessage(), error.getCause());
    } catch (TimeoutException error) {
      throw new SkiffException(otherwise + " within " + seconds + " s", error);
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
      throw new SkiffException("interrupted while waiting for skiff", error);
    }
  }

  private void listen() {
    try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        take(line);
      }
    } catch (IOException closed) {
      // The end of the process, seen in another way.
    }
    try {
      errors.join(TimeUnit.SECONDS.toMillis(END_SECONDS));
    } catch (InterruptedException error) {
      Thread.currentThread().interrupt();
    }
    List<CompletableFuture<Map<String, Object>>> left;
    synchronized (waiting) {
      ended = true;
      left = new ArrayList<>(waiting.values());
      waiting.clear();
    }
    ready.completeExceptionally(gone());
    left.forEach(answer -> answer.completeExceptionally(gone()));
  }

  @SuppressWarnings("unchecked")
  private void take(String line) {
    Map<String, Object> told;
    try {
      told = JSON.unmarshal(line, Map.class);
    } catch (KubernetesClientException error) {
      // SKIFF_BIN may be a script that writes a line of its own.
      return;
    }
    if (told == null) {
      return;
    }
    if (told.containsKey("ready")) {
      ready.complete((Map<String, Object>) told.get("ready"));
      return;
    }
    CompletableFuture<Map<String, Object>> answer;
    synchronized (waiting) {
      answer = waiting.remove(told.get("id"));
    }
    if (answer == null) {
      return;
    }
    if (told.containsKey("error")) {
      answer.completeExceptionally(new SkiffException((String) told.get("error")));
    } else {
      answer.complete((Map<String, Object>) told.getOrDefault("result", Map.of()));
    }
  }

  private void hear() {
    try (BufferedReader lines = new BufferedReader(new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        synchronized (said) {
          said.addLast(line);
          if (said.size() > LINES_KEPT) {
            said.removeFirst();
          }
        }
      }
    } catch (IOException closed) {
      // The end of the process, seen in another way.
    }
  }

  private SkiffException gone() {
    synchronized (said) {
      return new SkiffException("skiff has ended: " + (said.isEmpty() ? "without a word" : String.join("\n", said)));
    }
  }

  private static Thread daemon(String name, Runnable what) {
    Thread thread = new Thread(what, name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  long pid() {
    return process.pid();
  }

  @Override
  public void close() {
    try {
      input.close();
    } catch (IOException error) {
      // It has ended.
    }
    try {
      if (!process.waitFor(END_SECONDS, TimeUnit.SECONDS)) {
        process.destroyForcibly().waitFor();
      }
      listener.join(TimeUnit.SECONDS.toMillis(END_SECONDS));
    } catch (InterruptedException error) {
      process.destroyForcibly();
      Thread.currentThread().interrupt();
    }
  }
}
