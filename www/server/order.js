/** `POST /shop/order`: processes the checkout's form, sent by the page's script or by a browser without JavaScript. */
import { readForm } from "impact-pledge/form";
import { added, notificationsOf, unknownOffers, vouched } from "./offers.js";
import { filled, freshOrder } from "./page.js";
import { record } from "./pledges.js";
import { thanked } from "./thanked.js";

const MOST_BYTES = 64 * 1024;
/** The format of the idempotency keys that the page generates. */
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Processes a posted order.
 * @param {Request} request
 * @param {object} env
 * @param {ExecutionContext} executionContext the request's execution context
 * @param {() => Promise<Response>} checkout the static page
 */
export async function order(request, env, executionContext, checkout) {
  const refusal = refused(request);
  if (refusal) return json({ message: refusal.message }, refusal.status);
  const data = await request.formData().catch(() => null);
  if (!data) return json({ message: "Send the order as a form." }, 415);
  const values = valuesOf(data);
  const outcome = await outcomeOf(data, {
    env,
    executionContext,
    origin: new URL(request.url).origin,
    idempotencyKey: values.get("attempt"),
  });
  const isScript = request.headers.get("accept") === "application/json";
  return isScript ? inJson(outcome) : asPage(outcome, values, checkout);
}

/** Returns the values of the form's fields. Checkboxes with the same name give a list. @param {FormData} data */
function valuesOf(data) {
  /** @type {Map<string, any>} */
  const values = freshOrder();
  for (const [name, value] of data) if (typeof value === "string") values.set(name, value);
  return values.set("notifications", data.getAll("notifications"));
}

function refused(request) {
  const { origin } = new URL(request.url);
  if (request.method !== "POST") return { status: 405, message: "Send orders by POST." };
  if (![null, origin].includes(request.headers.get("origin")))
    return { status: 403, message: "Orders must come from the shop’s own page." };
  if (!request.headers.has("content-length"))
    return { status: 411, message: "An order must have a Content-Length." };
  if (Number(request.headers.get("content-length")) > MOST_BYTES)
    return { status: 413, message: "This order is too large." };
  return null;
}

/**
 * @typedef {object} Outcome
 * @property {number} status
 * @property {string} [location] the recipient's page, if something was pledged
 * @property {object} [payload] the order with its pledges, if something was pledged
 * @property {readonly object[]} [issues]
 * @property {string} [failure]
 * @property {object} [trace]
 */

/** @returns {Promise<Outcome>} */
async function outcomeOf(data, context) {
  const { payload, issues } = readForm(data, { optional: true });
  if (issues.length > 0) return { status: 422, issues };
  return payload === null ? { status: 200 } : place(payload, context);
}

/** @param {Outcome} outcome */
function inJson({ status, location, issues, failure, trace }) {
  const message = issues ? "Please correct the marked fields." : failure;
  return json({ message, issues, timelineUrl: location, trace }, status);
}

/**
 * Responds to a browser without JavaScript: with the checkout page and its errors, or with the thank-you page.
 * If the shopper reloads the thank-you page, the browser sends the order again, with the same idempotency key.
 * @param {Outcome} outcome
 */
async function asPage({ status, issues, failure, ...placed }, values, checkout) {
  const page = await checkout();
  if (issues || failure) return again(page, status, { values, issues, failure });
  const [reference, name] = ["reference", "recipient.firstName"].map((field) => values.get(field));
  return unstored(thanked(page, { reference, name, ...thanksOf(placed) }), 200);
}

/**
 * Returns what the thank-you page says about the pledges of an order; undefined if nothing was pledged.
 * @param {{location?: string, payload?: any}} placed
 */
const thanksOf = ({ location, payload }) =>
  payload && { location, added: added(payload), notifications: notificationsOf(payload) };

/** Responds with the checkout page, filled in with what was sent. */
const again = (page, status, state) => unstored(filled(page, state), status);

/** Makes a response that caches must not store, because the page contains data of the shopper. */
function unstored({ body, headers }, status) {
  const response = new Response(body, { status, headers });
  response.headers.set("cache-control", "no-store");
  return response;
}

/** @returns {Promise<Outcome>} */
async function place(payload, context) {
  if (!UUID.test(context.idempotencyKey))
    return {
      status: 400,
      failure: "This order was not sent by the shop’s page. Please reload the page and try again.",
    };
  const [unknown] = unknownOffers(payload);
  if (unknown !== undefined) return { status: 422, failure: `We do not offer “${unknown}”.` };
  const { transaction, error, trace } = await record(vouched(payload, context.origin), context);
  if (transaction) return { status: 200, location: transaction.timelineUrl, payload, trace };
  console.error("the pledge service did not record an order:", error);
  return { ...explained(error), trace };
}

/** Returns the HTTP status and the message for the shopper, for an error of the pledge service. */
function explained({ name, status }) {
  if (status === 422)
    return {
      status: 409,
      failure:
        "This order was already placed, with different contents. Reload the page to place a new order.",
    };
  if (name === "AuthenticationError" || name === "ValidationError")
    return {
      status: 500,
      failure: "The shop is not set up correctly. Nothing was charged. Please contact us.",
    };
  const what = status === undefined ? "did not answer" : `answered with an error (${status})`;
  return {
    status: 502,
    failure: `We could not confirm your pledge, because the pledge service ${what}. Please try again. You will not pledge twice.`,
  };
}

const json = (body, status = 200) =>
  Response.json(body, { status, headers: { "cache-control": "no-store" } });
