package dev.skiff.junit;

import io.fabric8.kubernetes.client.KubernetesClient;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** What {@link Skiff} brings along: a server for all classes that ask for the same, a fork for each test. */
public final class SkiffExtension implements ParameterResolver {
  private static final Namespace NAMESPACE = Namespace.create(SkiffExtension.class);

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == Cluster.class || type == KubernetesClient.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    if (context.getTestMethod().isEmpty()) {
      throw new ParameterResolutionException("a cluster is a test's own: take it as a parameter of a test, of @BeforeEach or of @AfterEach");
    }
    Cluster cluster = context.getStore(NAMESPACE).getOrComputeIfAbsent(Fork.class, key -> new Fork(context), Fork.class).cluster;
    return parameter.getParameter().getType() == Cluster.class ? cluster : cluster.client();
  }

  private static Server server(ExtensionContext context) {
    List<String> arguments = Server.arguments(asked(context.getRequiredTestClass()).map(SkiffExtension::options).orElseGet(Server.Options::new));
    return context.getRoot().getStore(NAMESPACE).getOrComputeIfAbsent(arguments, key -> new Shared(new Server(arguments)), Shared.class).server;
  }

  /** Of the class, or of an annotation of its own; for a nested class otherwise of the one around it. */
  private static Optional<Skiff> asked(Class<?> test) {
    for (Class<?> at = test; at != null; at = at.getEnclosingClass()) {
      Optional<Skiff> found = AnnotationSupport.findAnnotation(at, Skiff.class);
      if (found.isPresent()) {
        return found;
      }
    }
    return Optional.empty();
  }

  private static Server.Options options(Skiff asked) {
    Server.Options options = new Server.Options();
    options.manualClock = asked.manualClock();
    options.nodes = asked.nodes();
    options.components = asked.components();
    options.crds = Arrays.asList(asked.crds());
    options.objects = Arrays.asList(asked.objects());
    options.snapshot = asked.snapshot();
    return options;
  }

  /** A process of skiff that ends with the run of tests. */
  private record Shared(Server server) implements ExtensionContext.Store.CloseableResource, AutoCloseable {
    @Override
    public void close() {
      server.close();
    }
  }

  /** A test's own cluster. It ends after the test's @AfterEach methods; if the test or one of them failed, what happened in it is printed. */
  private static final class Fork implements ExtensionContext.Store.CloseableResource, AutoCloseable {
    private final ExtensionContext test;
    private final Cluster cluster;

    Fork(ExtensionContext test) {
      this.test = test;
      this.cluster = server(test).cluster().fork();
    }

    @Override
    public void close() {
      if (test.getExecutionException().isPresent()) {
        System.err.println("skiff, after " + test.getDisplayName() + "\n" + report());
      }
      cluster.close();
    }

    /** The report of a failure must not hide it. */
    private String report() {
      try {
        return cluster.report();
      } catch (SkiffException error) {
        return "there is no report: " + error.getMessage();
      }
    }
  }
}
