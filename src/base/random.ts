/** Chance by injection. */
export interface Random {
  /** Uniform in [0, 1). */
  float(): number
  /** RFC 4122 version 4, lower case. */
  uuid(): string
  /** `length` characters of Kubernetes' alphabet for generated names (no vowels, no look-alikes). */
  suffix(length: number): string
  bytes(length: number): Uint8Array
}
