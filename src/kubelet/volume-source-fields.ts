/** Fields of a PersistentVolume's spec that are objects and no volume source. */
export const FIELDS_WITHOUT_SOURCE: ReadonlySet<string> = new Set([
  'capacity',
  'claimRef',
  'nodeAffinity',
  'accessModes',
  'mountOptions',
])
