/** `impact-pledge/validate`: what a storefront imports. */
export { createPledgeTransactionSchema, createSchema } from "./standard.js";
export { validate, validateAt, validateBytes } from "./validate.js";
export { ready } from "./wasm.js";
