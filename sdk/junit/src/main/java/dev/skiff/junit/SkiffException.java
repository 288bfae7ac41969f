package dev.skiff.junit;

/** What skiff refuses, in its words. */
public class SkiffException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public SkiffException(String message) {
    super(message);
  }

  public SkiffException(String message, Throwable cause) {
    super(message, cause);
  }
}
