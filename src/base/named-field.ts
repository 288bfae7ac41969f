/** Reading the fields that a loop over an object's names comes to. */

/**
 * `object[name]`, for loops of `for (const name in object)` that see objects of many makes. Read in place in such a loop, what V8 compiles
 * of it (Node 24) has learned nothing about the read, gives up soon (`--trace-deopt`: insufficient type feedback for generic keyed
 * access), is compiled again, and so on: a thousand times for the walk of 6,000 pods' writes. Of a read in a function of its own it learns.
 */
export function namedField<T>(object: { readonly [name: string]: T }, name: string): T | undefined {
  return object[name]
}
