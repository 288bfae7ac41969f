package dev.skiff.junit;

import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import java.io.File;
import java.util.HashMap;
import java.util.Map;

/** One cluster: that of a {@link Server}, or a fork. Closing it ends it, and its client; closing it again does nothing. */
public final class Cluster implements AutoCloseable {
  private final Server server;
  private final String name;
  private final String url;
  private final File kubeconfig;
  private final ManualClock clock = new ManualClock(this);
  private final Faults faults = new Faults(this);
  private KubernetesClient client;
  private boolean closed;

  Cluster(Server server, Map<String, Object> told) {
    this.server = server;
    this.name = (String) told.get("name");
    this.url = (String) told.get("url");
    this.kubeconfig = new File((String) told.get("kubeconfig"));
  }

  public String name() {
    return name;
  }

  /** Where its API server serves. */
  public String url() {
    return url;
  }

  /** Its administrator's. */
  public File kubeconfig() {
    return kubeconfig;
  }

  /** Its time, which can be moved if it was started with a manual clock. */
  public ManualClock clock() {
    return clock;
  }

  /** What goes wrong on purpose. */
  public Faults faults() {
    return faults;
  }

  /** A client with the administrator's rights, the same at each call. */
  public synchronized KubernetesClient client() {
    if (client == null) {
      client = new KubernetesClientBuilder().withConfig(Config.fromKubeconfig(kubeconfig)).build();
    }
    return client;
  }

  /** A second cluster with the same objects. */
  public Cluster fork() {
    return new Cluster(server, call("fork", new HashMap<>()));
  }

  /** The objects that have changed since the fork, their Events, and the last 50 requests, as text. */
  public String report() {
    return (String) call("report", new HashMap<>()).get("text");
  }

  @Override
  public synchronized void close() {
    if (closed) {
      return;
    }
    if (client != null) {
      client.close();
      client = null;
    }
    call("end", new HashMap<>());
    // What failed can be tried again.
    closed = true;
  }

  Map<String, Object> call(String method, Map<String, Object> params) {
    params.put("name", name);
    return server.call(method, params);
  }
}
