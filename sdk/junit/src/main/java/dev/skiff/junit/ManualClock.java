package dev.skiff.junit;

import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;

/**
 * The time of a cluster that was started with a manual clock. All that happens in a time has happened when the method returns that moves
 * over it; each gives the time then.
 */
public final class ManualClock {
  private final Cluster cluster;

  ManualClock(Cluster cluster) {
    this.cluster = cluster;
  }

  public Instant now() {
    return move("now", Map.of());
  }

  public Instant advance(Duration by) {
    return move("advance", Map.of("duration", text(by)));
  }

  public Instant advanceTo(Instant to) {
    return move("advanceTo", Map.of("time", to.toString()));
  }

  /** Until nothing waits any more but heartbeats and the like; at most 24 hours. */
  public Instant runUntilIdle() {
    return move("runUntilIdle", Map.of());
  }

  public Instant runUntilIdle(Duration atMost) {
    return move("runUntilIdle", Map.of("atMost", text(atMost)));
  }

  private Instant move(String method, Map<String, Object> params) {
    return Instant.parse((String) cluster.call(method, new HashMap<>(params)).get("time"));
  }

  /** As skiff reads durations. */
  private static String text(Duration duration) {
    return duration.toMillis() + "ms";
  }
}
