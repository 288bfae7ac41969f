package dev.skiff.junit;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What goes wrong on purpose for the clients under test, in the words of skiff's docs/faults.md: "watch drop 5% by my-operator". The
 * same seed brings the same faults to the same sequence of requests.
 */
public final class Faults {
  /** How many requests or events a fault was for, and how many of them it struck. */
  public record Count(String fault, long met, long struck) {}

  public record Status(long seed, List<Count> faults) {}

  private final Cluster cluster;

  Faults(Cluster cluster) {
    this.cluster = cluster;
  }

  /** Only these from now on, with nothing counted yet; the seed stays. */
  public Status set(String... faults) {
    return change(Map.of("set", List.of(faults)));
  }

  /** The same with another seed. */
  public Status setSeeded(long seed, String... faults) {
    return change(Map.of("set", List.of(faults), "seed", seed));
  }

  public Status add(String... faults) {
    return change(Map.of("add", List.of(faults)));
  }

  /** Takes all of them away. */
  public Status clear() {
    return change(Map.of("clear", true));
  }

  public Status status() {
    return change(Map.of());
  }

  @SuppressWarnings("unchecked")
  private Status change(Map<String, Object> params) {
    Map<String, Object> told = cluster.call("faults", new HashMap<>(params));
    List<Map<String, Object>> faults = (List<Map<String, Object>>) told.get("faults");
    return new Status(
        number(told.get("seed")),
        faults.stream().map(one -> new Count((String) one.get("fault"), number(one.get("met")), number(one.get("struck")))).toList());
  }

  private static long number(Object value) {
    return ((Number) value).longValue();
  }
}
