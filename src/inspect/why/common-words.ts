/** Words in names of groups and finalizers that do not tell which software they belong to. */
export const COMMON_WORD =
  /^(finalizer|finalizers|finalize|cleanup|protection|controller|operator|manager|kubernetes|cluster|resource|resources|foreground|delete|deletion|apps|batch|core|policy|storage|networking|authorization|sigs|x-k8s|example|examples|test|tests|local|default|internal|cloud|alpha|beta|service|services|github|com|org|net|dev|app|k8s|the|and|for|sig)$/
