/** `impact-pledge/validate`: what a storefront imports. */
export { ready } from "./engine.js";
export { createPledgeTransactionSchema } from "./standard.js";
export { validate, validateAt, validateBytes } from "./validate.js";
