package dev.skiff.junit;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Gives each test of the class a cluster of its own, as a parameter of type {@link Cluster} or {@code KubernetesClient}. Classes that
 * ask for the same share one process of skiff, whose cluster is forked for each test.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Inherited
@ExtendWith(SkiffExtension.class)
public @interface Skiff {
  /** Time stands still until {@link Cluster#clock()} moves it. */
  boolean manualClock() default false;

  /** The number of simulated nodes. */
  int nodes() default 1;

  /** Those of {@code skiff up --components}. Default: all. */
  String components() default "";

  /** Files and folders of definitions of custom resources. */
  String[] crds() default {};

  /** Files and folders of manifests that the cluster begins with. */
  String[] objects() default {};

  /** A file of {@code skiff snapshot save}. */
  String snapshot() default "";
}
