/**
 * The script of the checkout page: it updates the total of the chosen amounts, shows errors while the
 * shopper types, and sends the order.
 */
import "impact-pledge/badge";
import { bindForm } from "impact-pledge/form";
import { MESSAGES } from "../shared/messages.js";
import { waysOf } from "../shared/thanks.js";
import { startTrace, tracePart, traceTyped } from "./trace.js";

const GOODS = 30.5;
const TIMEOUT_MS = 30_000;
const SLOW_MS = 6_000;

/** Finds an element by a selector. @returns {any} an existing element of the page */
const find = (selector) => document.querySelector(selector);
const form = find("#checkout");
const amounts = [...form.querySelectorAll("input[data-price]")];
const dollars = new Intl.NumberFormat("en-US", { style: "currency", currency: "USD" });

// ---- Amounts ----

const offerOf = (input) => input.closest("[data-offer]");

function chosen() {
  const filled = amounts.filter(({ value, valueAsNumber }) => value !== "" && valueAsNumber > 0);
  return filled.map((input) => {
    const {
      valueAsNumber: count,
      dataset: { price, noun, nouns },
    } = input;
    return {
      price: count * price,
      words: { amount: count, one: noun, other: nouns },
      picture: offerOf(input).querySelector("img"),
    };
  });
}

function showTotal() {
  const impact = chosen();
  const sum = impact.reduce((total, { price }) => total + price, 0);
  find("[data-what]").replaceChildren(...impact.map(badge));
  find("[data-impact]").textContent = impact.length > 0 ? dollars.format(sum) : "none yet";
  find("[data-total]").textContent = dollars.format(GOODS + sum);
  for (const input of amounts) offerOf(input).classList.toggle("chosen", input.valueAsNumber > 0);
}

/** Returns a badge. It shows the chosen amount with the plural and number format of the page's language. */
function badge({ words }) {
  const made = document.createElement("impact-badge");
  for (const [name, value] of Object.entries(words)) made.setAttribute(name, String(value));
  return made;
}

function step({ currentTarget: button }) {
  const input = find(`#${button.getAttribute("aria-controls")}`);
  const count = Math.max(0, (input.valueAsNumber || 0) + Number(button.dataset.step));
  input.value = count === 0 ? "" : String(count);
  for (const type of ["input", "change"]) input.dispatchEvent(new Event(type, { bubbles: true }));
}

for (const button of form.querySelectorAll("button[data-step]")) {
  button.hidden = false;
  button.addEventListener("click", step);
}
form.addEventListener("input", showTotal);
showTotal();

// ---- Errors while typing ----

let lastInput = { at: 0, field: "" };
addEventListener(
  "input",
  ({ target }) => {
    const field = target instanceof HTMLInputElement ? target.name : "";
    lastInput = { at: performance.now(), field };
  },
  { capture: true },
);

function trace(issues) {
  const now = performance.now();
  traceTyped({
    at: Math.round(now),
    field: lastInput.field,
    ms: lastInput.at ? now - lastInput.at : 0,
    issues: issues.map(({ pointer, code }) => `${pointer || "/"} ${code}`),
  });
}

// ---- Sending the order ----

const button = form.querySelector("button[type=submit]");
const label = find("[data-label]");
const progress = find("[data-progress]");
const failure = find("#failure");
let attempt = { body: "", key: form.elements.attempt.value || crypto.randomUUID() };

/**
 * Returns an order's idempotency key. All attempts to send one order have the same key. Another order has
 * another key.
 * @param {FormData} data
 */
function keyOf(data) {
  const body = JSON.stringify([...data]);
  if (attempt.body && attempt.body !== body) attempt = { body, key: crypto.randomUUID() };
  attempt.body = body;
  return attempt.key;
}

function working(isWorking) {
  button.setAttribute("aria-disabled", String(isWorking));
  if (isWorking) label.textContent = "Placing your order…";
  progress.textContent = isWorking ? "Recording your pledge…" : "";
}

async function send(data) {
  const response = await fetch(form.action, {
    method: "POST",
    headers: { accept: "application/json" },
    body: data,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  });
  const answer = await response
    .json()
    .catch(() => ({ message: `The shop answered with an error (${response.status}).` }));
  return { ok: response.ok, status: response.status, ...answer };
}

/**
 * Sends the order to the shop's server.
 * @param {object | null} payload null for an order without a pledge
 * @param {{data: FormData}} submission all fields of the order
 */
async function placeOrder(payload, { data }) {
  const key = keyOf(data);
  data.set("attempt", key);
  failure.replaceChildren();
  working(true);
  const patience = setTimeout(
    () =>
      (progress.textContent =
        "This is taking longer than usual. Your order is safe. Please stay on this page."),
    SLOW_MS,
  );
  const started = performance.now();
  const answer = await send(data).catch((error) => ({
    ok: false,
    message: unreachable(error),
  }));
  clearTimeout(patience);
  working(false);
  if (payload)
    tracePart({
      payload,
      exchange: {
        key,
        ms: performance.now() - started,
        status: answer.status,
        message: answer.message,
        calls: answer.trace?.calls ?? [],
      },
    });
  if (!answer.ok) return failed(answer);
  if (answer.timelineUrl) thankFor(answer.timelineUrl, data.getAll("notifications"));
  sent();
}

const unreachable = ({ name }) =>
  name === "TimeoutError"
    ? "The shop did not answer in time."
    : "The shop can’t be reached. Are you online?";

function failed({ message, issues = [] }) {
  const heading = document.createElement("h3");
  heading.textContent = "Something went wrong";
  const text = document.createElement("p");
  text.textContent = [
    message,
    ...issues.map(({ pointer, message }) => `${pointer} ${message}`),
  ].join(" ");
  failure.replaceChildren(heading, text);
  label.textContent = "Try again";
  failure.scrollIntoView({ block: "nearest" });
}

function sent() {
  const name = form.elements["recipient.firstName"].value.trim();
  find("[data-name]").textContent = name ? `, ${name}` : "";
  find("#sent .reference").textContent = form.elements.reference.value;
  form.hidden = true;
  const section = find("#sent");
  section.hidden = false;
  section.focus();
  scrollTo(0, 0);
}

/** Shows what was pledged, a link to the timeline, and how the buyer will be notified. */
function thankFor(timelineUrl, notifications) {
  for (const element of document.querySelectorAll("[data-pledge-only]"))
    element.removeAttribute("hidden");
  find("[data-pledged]").replaceChildren(...chosen().map(leaf));
  find("[data-timeline]").href = timelineUrl;
  find("[data-notified]").hidden = notifications.length === 0;
  find("[data-ways]").textContent = waysOf(notifications);
}

function leaf(offer) {
  const item = document.createElement("li");
  item.append(badge(offer), offer.picture.cloneNode());
  return item;
}

// After going back from the timeline, a browser may show this page from its cache, with the finished order.
addEventListener("pageshow", ({ persisted }) => persisted && location.reload());

startTrace();
bindForm(form, { optional: true, messages: MESSAGES, onSubmit: placeOrder, onIssues: trace });
