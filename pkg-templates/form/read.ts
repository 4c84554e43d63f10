/*
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
import { REQUEST } from "../generated/fields.ts";
import { coder } from "../platform.ts";
import type { Issue } from "../validate/index.ts";
import { mostOf } from "../validate/options.ts";
import type { NewIssue } from "../validate/types.ts";
import { checkJson } from "../validate/wasm.ts";
import { dateTimeOf } from "./dates.ts";
import { MAX_STEPS, type Shape, shapeWithin } from "./shape.ts";
import { messageOf } from "./texts.ts";

/** A decimal as people type it: `007`, `+1`, `.5`, `1e3`. */
const DECIMAL = /^[ \t\n\f\r]*(?:\+|(-))?((?:\d*\.)?\d+(?:e[-+]?\d+)?)[ \t\n\f\r]*$/i;

/** A name with a text. */
export interface Control {
  readonly name: string;
  readonly value: string;
  readonly hidden?: boolean;
}

interface Options {
  readonly maxIssues?: number | undefined;
  readonly messages?: object | undefined;
  readonly optional?: boolean | undefined;
  readonly timeZone?: string | undefined;
}

/** What a form is; `member` of the control that an issue belongs to is that member of the issue. */
export interface Reading<C, Member extends keyof C> {
  readonly valid: boolean;
  readonly payload?: unknown;
  readonly issues: (Issue & { readonly [M in Member]: C[M] | null })[];
  /** The same member of the control that a path with dots belongs to. */
  readonly ownerAt: (path: string) => C[Member] | null;
}

/**
 * Reads a form and checks it, in time that is linear in the length of its names and values, but for the sort of items.
 * @param member of a control: each issue gets that of the control that it belongs to, or null
 */
export function read<C extends Control, Member extends keyof C & string>(
  controls: readonly C[],
  member: Member,
  { messages, optional, timeZone, ...limits }: Options = {},
): Reading<C, Member> {
  const { request, unknown, others } = byPlace(controls, timeZone);
  const owners = new Map(others.reverse().map((control) => [control.name, control])); // of two, the first
  const isChosen = !optional || choose(request.parts.get("pledges"), unknown);
  const strays = unknown.map(
    ({ name, value }) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  );
  const json = `{${[...membersOf(request, "", owners), ...strays]}}`;
  const memberOf = (control: Read | undefined) =>
    controls[control?.index as number]?.[member] ?? null;
  const ownerAt = (path: string) => memberOf(owners.get(path));
  if (!isChosen) return { valid: true, payload: null, issues: [], ownerAt };
  const issues: (NewIssue & Partial<Record<string, unknown>>)[] = checkJson(
    coder("TextEncoder").encode(json),
    false,
    mostOf(limits),
  );
  let unknowns = 0; // they are reported in the order in which they were written
  for (const issue of issues) {
    issue[member] =
      issue.code === "unknown_member"
        ? memberOf(unknown[unknowns++])
        : ownerAt(issue.path.join("."));
    issue.message = messageOf(issue, messages);
  }
  return {
    valid: issues.length === 0,
    payload: JSON.parse(json),
    issues: issues as never,
    ownerAt,
  };
}

/** What the form has at a place of the request: controls named as the place, all that are in it, and its parts by name or index. */
interface Node {
  readonly shape: Shape;
  readonly own: Read[];
  readonly all: Read[];
  readonly parts: Map<string, Node>;
}

/** A control as it is read, and its number. */
interface Read {
  readonly name: string;
  value: string;
  readonly hidden: boolean | undefined;
  readonly index: number;
}

/** The JSON places that were written, by their paths with dots. */
type Owners = Map<string, Read | undefined>;

const nodeOf = (shape?: Shape): Node => ({
  shape: shape as Shape,
  own: [],
  all: [],
  parts: new Map(),
});

function byPlace(controls: readonly Control[], timeZone: string | undefined) {
  const request = nodeOf(REQUEST),
    unknown: Read[] = [],
    others: Read[] = [];
  controls.forEach(({ name, value, hidden }, index) => {
    const control = { name: wellFormed(name), value: wellFormed(value), hidden, index };
    const steps = control.name.split(".", MAX_STEPS),
      shape = steps.reduce<Shape | undefined>(shapeWithin, REQUEST);
    if (shape?.format === "date-time") control.value = dateTimeOf(control.value, timeZone);
    if (shape) insert(request, steps, control);
    else if (!shapeWithin(REQUEST, steps[0]!)) control.name && others.push(control);
    else if (isFilled(control)) unknown.push(control);
  });
  return { request, unknown, others };
}

/** Half of a surrogate pair is sent by no browser, nor is NUL contained in any document of HTML. */
const wellFormed = (text: string) => text.replace(/[\0\ud800-\udfff]/gu, "\uFFFD");

function insert(node: Node, steps: readonly string[], control: Read): void {
  for (const step of steps) {
    if (!node.parts.has(step)) node.parts.set(step, nodeOf(shapeWithin(node.shape, step)));
    node = node.parts.get(step)!;
    node.all.push(control);
  }
  node.own.push(control);
}

const isFilled = ({ value }: Read) => value !== "";
const isVisible = ({ hidden }: Read) => !hidden;

/** Whether an item is there: something that the shopper sees is filled in, or nothing of it can be seen. */
function isPresent({ all }: Node): boolean {
  const visible = all.filter(isVisible);
  return (visible.length > 0 ? visible : all).some(isFilled);
}

/**
 * Leaves out the items of an optional pledge that have amounts, none of which is more than zero. @returns whether
 * anything is left, be it under a misspelt name
 */
function choose(pledges = nodeOf(), unknown: readonly Read[]): boolean {
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

const isNothing = ({ value }: Read) => value === "" || (DECIMAL.test(value) && Number(value) === 0);

/** The control that an issue about a place belongs to: that of the very place, else the first in it, visible ones first. */
const ownerOf = ({ own, all }: Node) =>
  own.find(isVisible) ?? all.find(isVisible) ?? own[0] ?? all[0];

// The request as JSON. Each function enters into `owners` the control of every place that it writes, by the place's path with dots.

/** An object's members as JSON, in the contract's order. */
function membersOf({ shape, parts }: Node, path: string, owners: Owners): string[] {
  const present = Object.keys(shape.members!).filter((name) => parts.has(name));
  return present.flatMap((name) =>
    valuesOf(parts.get(name)!, path + name, owners).map((json) => `"${name}":${json}`),
  );
}

/** A place's value as JSON: none where it is left out, and several where it was filled in more than once. */
function valuesOf(node: Node, path: string, owners: Owners): string[] {
  const { shape, own, all, parts } = node;
  owners.set(path, ownerOf(node));
  const values = shape.item
    ? [arrayOf(node, `${path}.`, owners)]
    : own.filter(isFilled).map(({ value }) => textOf(value, shape));
  if (shape.members && parts.size > 0) values.push(`{${membersOf(node, `${path}.`, owners)}}`);
  return shape.isRequired || all.some(isFilled) ? values : [];
}

/** Controls named as the array itself are one item each; behind them come the items that have an index. */
function arrayOf({ shape, own, parts }: Node, path: string, owners: Owners): string {
  const unnumbered = own
    .filter(isFilled)
    .map((control) => ({ ...nodeOf(shape.item), own: [control], all: [control] }));
  const numbered = [...parts]
    .sort(([a], [b]) => (a as never) - (b as never))
    .map(([, item]) => item);
  const items = [...unnumbered, ...numbered.filter(isPresent)];
  return `[${items.map((item, index) => valuesOf(item, path + index, owners)[0])}]`;
}

/** A number loses its plus sign and zeros at its head, which JSON has not. */
function textOf(value: string, { isNumber }: Shape): string {
  const [, sign = "", digits] = (isNumber && value.match(DECIMAL)) || ([] as string[]);
  if (digits === undefined) return JSON.stringify(value);
  return sign + digits.replace(/^0*(?=\d)/, "").replace(/^\./, "0.");
}
