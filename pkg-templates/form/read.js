/**
 * A plain HTML form as a create request: names are paths, values are text. A control named `recipient.email` or
 * `pledges.0.impact.amount` is that member of the request; those named `notifications` are its items. Names that begin
 * with no member of the request belong to the shop and are ignored; any other name that leads nowhere becomes a member
 * of the request, which the rules refuse. Empty controls are left out, and so are items in which nothing that a
 * shopper can see is filled in; the items behind them move up. Text that reads as a number is one where the contract
 * wants one, and a date or a local time is a date-time where it wants that. All other text goes into the payload
 * unchanged: the rules find what is wrong with it.
 * The request is written as JSON text instead of being built as an object, because two filled controls of one name are
 * a member twice: the rules report it, and no object can hold it.
 */
import { REQUEST } from "../generated/fields.js";
import { coder } from "../platform.js";
import { mostOf } from "../validate/options.js";
import { checkJson } from "../validate/wasm.js";
import { dateTimeOf } from "./dates.js";
import { MAX_STEPS, shapeWithin } from "./shape.js";
import { messageOf } from "./texts.js";

/** A decimal as people type it: `007`, `+1`, `.5`, `1e3`. */
const DECIMAL = /^[ \t\n\f\r]*(?:\+|(-))?((?:\d*\.)?\d+(?:e[-+]?\d+)?)[ \t\n\f\r]*$/i;

/**
 * Reads a form and checks it, in time that is linear in the length of its names and values, but for the sort of items.
 * @param {{name: string, value: string, hidden: boolean}[]} controls
 * @param {string} member of a control: each issue gets that of the control that it belongs to, or null
 * @param {{maxIssues?: number, messages?: object | Function, optional?: boolean, timeZone?: string}} [options]
 * @returns the reading, and the same member of the control that a path with dots belongs to, or null
 */
export function read(controls, member, { messages, optional, timeZone, ...limits } = {}) {
  const { request, unknown, others } = byPlace(controls, timeZone);
  const owners = new Map(others.reverse().map((control) => [control.name, control])); // of two, the first
  const isChosen = !optional || choose(request.parts.get("pledges"), unknown);
  const strays = unknown.map(
    ({ name, value }) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  );
  const json = `{${[...membersOf(request, "", owners), ...strays]}}`;
  const memberOf = (control) => controls[control?.index]?.[member] ?? null;
  const ownerAt = (path) => memberOf(owners.get(path));
  if (!isChosen) return { valid: true, payload: null, issues: [], ownerAt };
  const issues = checkJson(coder("TextEncoder").encode(json), false, mostOf(limits));
  let unknowns = 0; // they are reported in the order in which they were written
  for (const issue of issues) {
    issue[member] =
      issue.code === "unknown_member"
        ? memberOf(unknown[unknowns++])
        : ownerAt(issue.path.join("."));
    issue.message = messageOf(issue, messages);
  }
  return { valid: issues.length === 0, payload: JSON.parse(json), issues, ownerAt };
}

/** What the form has at a place of the request: controls named as the place, all that are in it, and its parts by name or index. */
const nodeOf = (shape) => ({ shape, own: [], all: [], parts: new Map() });

function byPlace(controls, timeZone) {
  const request = nodeOf(REQUEST),
    unknown = [],
    others = [];
  controls.forEach(({ name, value, hidden }, index) => {
    const control = { name: wellFormed(name), value: wellFormed(value), hidden, index };
    const steps = control.name.split(".", MAX_STEPS),
      shape = steps.reduce(shapeWithin, REQUEST);
    if (shape?.format === "date-time") control.value = dateTimeOf(control.value, timeZone);
    if (shape) insert(request, steps, control);
    else if (!shapeWithin(REQUEST, steps[0])) control.name && others.push(control);
    else if (isFilled(control)) unknown.push(control);
  });
  return { request, unknown, others };
}

/** Half of a surrogate pair is sent by no browser, nor is NUL contained in any document of HTML. */
const wellFormed = (text) => text.replace(/[\0\ud800-\udfff]/gu, "\uFFFD");

function insert(node, steps, control) {
  for (const step of steps) {
    if (!node.parts.has(step)) node.parts.set(step, nodeOf(shapeWithin(node.shape, step)));
    node = node.parts.get(step);
    node.all.push(control);
  }
  node.own.push(control);
}

const isFilled = ({ value }) => value !== "";
const isVisible = ({ hidden }) => !hidden;

/** Whether an item is there: something that the shopper sees is filled in, or nothing of it can be seen. */
function isPresent({ all }) {
  const visible = all.filter(isVisible);
  return (visible.length > 0 ? visible : all).some(isFilled);
}

/**
 * Leaves out the items of an optional pledge that have amounts, none of which is more than zero. @returns whether
 * anything is left, be it under a misspelt name
 */
function choose(pledges = nodeOf(), unknown) {
  for (const [index, item] of pledges.parts) {
    const amounts = item.parts.get("impact")?.parts.get("amount")?.own;
    if (!isPresent(item) || amounts?.every(isNothing)) pledges.parts.delete(index);
  }
  return (
    pledges.parts.size > 0 ||
    pledges.own.some(isFilled) ||
    unknown.some(({ name }) => name.startsWith("pledges."))
  );
}

const isNothing = ({ value }) => value === "" || (DECIMAL.test(value) && Number(value) === 0);

/** The control that an issue about a place belongs to: that of the very place, else the first in it, visible ones first. */
const ownerOf = ({ own, all }) => own.find(isVisible) ?? all.find(isVisible) ?? own[0] ?? all[0];

// The request as JSON. Each function enters into `owners` the control of every place that it writes, by the place's path with dots.

/** An object's members as JSON, in the contract's order. */
function membersOf({ shape, parts }, path, owners) {
  const present = Object.keys(shape.members).filter((name) => parts.has(name));
  return present.flatMap((name) =>
    valuesOf(parts.get(name), path + name, owners).map((json) => `"${name}":${json}`),
  );
}

/** A place's value as JSON: none where it is left out, and several where it was filled in more than once. */
function valuesOf(node, path, owners) {
  const { shape, own, all, parts } = node;
  owners.set(path, ownerOf(node));
  const values = shape.item
    ? [arrayOf(node, `${path}.`, owners)]
    : own.filter(isFilled).map(({ value }) => textOf(value, shape));
  if (shape.members && parts.size > 0) values.push(`{${membersOf(node, `${path}.`, owners)}}`);
  return shape.isRequired || all.some(isFilled) ? values : [];
}

/** Controls named as the array itself are one item each; behind them come the items that have an index. */
function arrayOf({ shape, own, parts }, path, owners) {
  const unnumbered = own
    .filter(isFilled)
    .map((control) => ({ ...nodeOf(shape.item), own: [control], all: [control] }));
  const numbered = [...parts].sort(([a], [b]) => a - b).map(([, item]) => item);
  const items = [...unnumbered, ...numbered.filter(isPresent)];
  return `[${items.map((item, index) => valuesOf(item, path + index, owners)[0])}]`;
}

/** A number loses its plus sign and zeros at its head, which JSON has not. */
function textOf(value, { isNumber }) {
  const [, sign = "", digits] = (isNumber && value.match(DECIMAL)) || [];
  if (digits === undefined) return JSON.stringify(value);
  return sign + digits.replace(/^0*(?=\d)/, "").replace(/^\./, "0.");
}
