/** What expressions of users may cost, in CEL's units of cost (KEP-2876, KEP-3488): numbers that Kubernetes has, wherever CEL is used. */

/** One evaluation of one expression. */
export const CALL_COST_LIMIT = 1_000_000
/** One evaluation of one selector over one device (KEP-4381). */
export const DEVICE_COST_LIMIT = 1_000_000
/** All rules of a custom resource in one write; all expressions of one policy for one request. */
export const REQUEST_COST_LIMIT = 10_000_000
/** A rule of a definition, as it is estimated from the bounds in the schema. */
export const RULE_ESTIMATE_LIMIT = 10_000_000
/** All rules of one schema of a definition, estimated. */
export const SCHEMA_ESTIMATE_LIMIT = 100_000_000
/** What a mutation makes, in parts (weight.ts): no object may be as big. */
export const RESULT_LIMIT = 1_000_000

/** Why an expression was stopped. */
export const OVER_LIMIT = 'operation cancelled: actual cost limit exceeded'
