/*
 * Reads a plain HTML form as a create request: names are paths, values are text.
 *
 * - A control named `recipient.email` or `pledges.0.impact.amount` is that member of the request. Controls named
 *   `notifications` are its items.
 * - A name whose first step is not a member of the request belongs to the shop and is ignored. Any other unknown name becomes an
 *   unknown member, which the rules report.
 * - Empty controls are left out, and so are pledges with an empty amount. The items after them move up.
 * - If the contract requires a number or a date-time, text that can be read as one is converted. Other text goes into the
 *   payload unchanged, and the rules report it.
 *
 * The request is written as JSON text, which keeps the digits of numbers and members such as `__proto__`. `check.ts` has the
 * checks. Of two filled controls of the same name, the first is checked and the second is a duplicate.
 */
import { REQUEST } from "../generated/fields.ts";
import { DUPLICATE_MEMBER, REQUIRED_MEMBER } from "../generated/tables.ts";
import type { Issue } from "../validate/index.ts";
import { withCount } from "../validate/issues.ts";
import { mostOf } from "../validate/options.ts";
import type { NewIssue } from "../validate/types.ts";
import { DECIMAL, checkCount, checkText, issueAt, issueOfUnknown } from "./check.ts";
import { dateTimeOf } from "./dates.ts";
import { MAX_STEPS, type Shape, shapeWithin } from "./shape.ts";
import { messageOf } from "./texts.ts";

/** A form control: its name and its text value, from a field or from posted data. */
export interface Control {
  readonly name: string;
  readonly value: string;
  readonly hidden?: boolean;
  /**
   * Whether the control posts nothing. The payload then leaves out the control's value, but an issue may
   * still belong to the control.
   */
  readonly isSilent?: boolean;
  /** The control's position in the document. Default: its position in the list. */
  readonly rank?: number | undefined;
}

interface Options {
  readonly maxIssues?: number | undefined;
  readonly messages?: object | undefined;
  readonly optional?: boolean | undefined;
  readonly timeZone?: string | undefined;
}

/**
 * The result of reading a form. `Member` is the name of a property of controls. Each issue also has this
 * property, copied from the control that the issue belongs to.
 */
export interface Reading<C, Member extends keyof C> {
  readonly valid: boolean;
  readonly payload?: unknown;
  readonly issues: (Issue & { readonly [M in Member]: C[M] | null })[];
}

/**
 * The type of a function that takes the dotted path of a value. It finds the control that the path belongs to,
 * and returns the control's property named `Member`. It returns null if no control belongs to the path.
 */
export type OwnerAt<C, Member extends keyof C> = (path: string) => C[Member] | null;

/**
 * Reads and checks a form. Apart from sorting the items, the time grows linearly with the total length of
 * names and values.
 * @param member the name of a property of controls. Each issue gets the property's value from its control, or
 *   null if the issue has no control.
 */
export function read<C extends Control, Member extends keyof C & string>(
  controls: readonly C[],
  member: Member,
  { maxIssues, messages, optional, timeZone }: Options = {},
): [Reading<C, Member>, OwnerAt<C, Member>] {
  const { request, unknown, others } = nodesOf(controls, timeZone);
  const owners = new Map(others.reverse().map((control) => [control.name, control])); // of several with one name, the first
  const isChosen = !optional || choose(request.parts.get("pledges"), unknown);
  const strays = unknown.map(
    ({ name, value }) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
  );
  const { json: members, issues: found } = membersOf(request, "", owners);
  const json = `{${[...members, ...strays]}}`;
  const memberOf = (control: Read | undefined) =>
    controls[control?.index as number]?.[member] ?? null;
  const ownerAt = (path: string) => memberOf(owners.get(path));
  if (!isChosen) return [{ valid: true, payload: null, issues: [] }, ownerAt];
  const all: NewIssue[] = [...found, ...unknown.map(({ name }) => issueOfUnknown(name))],
    beyond = all.splice(mostOf(maxIssues)).length;
  const issues: (NewIssue & Partial<Record<string, unknown>>)[] = withCount(all, beyond);
  let unknowns = 0; // their issues are in the same order
  for (const issue of issues) {
    issue[member] =
      issue.code === "unknown_member"
        ? memberOf(unknown[unknowns++])
        : ownerAt(issue.path.join("."));
    issue.message = messageOf(issue, messages);
  }
  const valid = issues.length === 0;
  return [{ valid, payload: JSON.parse(json), issues: issues as never }, ownerAt];
}

/**
 * A node of the request, with its controls. `own`: the controls with the node's name. `all`: these, and the
 * controls of the nodes within it. `parts`: its child nodes, by name or index.
 */
interface Node {
  readonly shape: Shape;
  readonly own: Read[];
  readonly all: Read[];
  readonly parts: Map<string, Node>;
}

/** A control and its position in the form. */
interface Read {
  readonly name: string;
  value: string;
  readonly hidden: boolean | undefined;
  readonly isSilent: boolean | undefined;
  readonly rank: number;
  readonly index: number;
}

/** The control that each value came from, by the dotted path of the value. */
type Owners = Map<string, Read | undefined>;

const nodeOf = (shape?: Shape): Node => ({
  shape: shape as Shape,
  own: [],
  all: [],
  parts: new Map(),
});

function nodesOf(controls: readonly Control[], timeZone: string | undefined) {
  const request = nodeOf(REQUEST),
    unknown: Read[] = [],
    others: Read[] = [];
  controls.forEach(({ rank, hidden, isSilent, ...each }, index) => {
    const [name, value] = [each.name, each.value].map(wellFormed) as [string, string],
      control = { name, value, hidden, isSilent, rank: rank ?? index, index };
    const steps = control.name.split(".", MAX_STEPS),
      shape = steps.reduce<Shape | undefined>(shapeWithin, REQUEST);
    if (shape?.format === "date-time") control.value = dateTimeOf(value, timeZone);
    else if (shape?.format) control.value = value.trim(); // trims addresses, as `type=email` and `type=url` do
    if (shape) insert(request, steps, control);
    else if (!shapeWithin(REQUEST, steps[0]!)) control.name && others.push(control);
    else if (isFilled(control)) unknown.push(control);
  });
  return { request, unknown, others };
}

/**
 * Normalises a text. Converts line breaks to LF, because browsers post CRLF but scripts in the page read LF.
 * Replaces lone surrogates, which browsers never send, and NUL, which HTML documents never contain.
 */
const wellFormed = (text: string) =>
  text.replace(/\r\n?/g, "\n").replace(/[\0\ud800-\udfff]/gu, "\uFFFD");

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
const isPosted = ({ isSilent }: Read) => !isSilent;

/**
 * Returns the controls that decide whether an item is chosen: a pledge's amount, and controls whose name is the
 * item's. Other controls, such as hidden fields or fields with an initial value, are always posted, so
 * they do not decide.
 */
const choosing = ({ own, parts }: Node): Read[] => [
  ...own,
  ...(parts.get("impact")?.parts.get("amount")?.own ?? []),
];

/**
 * Removes pledges that are not chosen, and pledges whose amount is 0.
 * @returns whether the form still has a pledge, or a field with an unknown name below `pledges`
 */
function choose(pledges = nodeOf(), unknown: readonly Read[]): boolean {
  for (const [index, item] of pledges.parts)
    if (choosing(item).every(isNothing)) pledges.parts.delete(index);
  return (
    pledges.parts.size > 0 ||
    pledges.own.some(isFilled) ||
    unknown.some(({ name }) => name.startsWith("pledges."))
  );
}

const isNothing = ({ value }: Read) => value === "" || (DECIMAL.test(value) && Number(value) === 0);

/**
 * Returns the control to which the issues of a node belong. It is the control with the node's own name, or
 * else the first control within the node. Prefers visible controls.
 */
const ownerOf = ({ own, all }: Node) =>
  firstOf(own.filter(isVisible)) ?? firstOf(all.filter(isVisible)) ?? firstOf(own) ?? firstOf(all);

const firstOf = ([first, ...others]: Read[]) =>
  others.reduce((a, b) => (b.rank < a!.rank ? b : a), first);

// The request as JSON, and its issues in the order of the contract. For every value that it writes, each function adds the
// control to `owners`, by dotted path.

/**
 * A part of the request: its JSON texts and its issues. If a value was filled in several times, it has
 * several texts, and only the first one is checked.
 */
interface Written {
  readonly json: string[];
  readonly issues: NewIssue[];
}

/** Returns an object's members as JSON, in the order of the contract. */
function membersOf({ shape, parts }: Node, path: string, owners: Owners): Written {
  const members = Object.entries(shape.members!).map(([name, shape]) => {
    const part = parts.get(name),
      { json, issues } = part ? valuesOf(part, path + name, owners) : absent(shape, path + name);
    return { json: json.map((value) => `"${name}":${value}`), issues };
  });
  return joined(members);
}

const absent = ({ isRequired }: Shape, path: string): Written => ({
  json: [],
  issues: isRequired ? [issueAt(path, REQUIRED_MEMBER)] : [],
});

const joined = (all: readonly Written[]): Written => ({
  json: all.flatMap(({ json }) => json),
  issues: all.flatMap(({ issues }) => issues),
});

/**
 * Returns the JSON texts of a value. The list is empty if the value is left out. The list has several texts
 * if the value was filled in several times.
 */
function valuesOf(node: Node, path: string, owners: Owners): Written {
  const { shape, all, parts } = node;
  owners.set(path, ownerOf(node));
  // Checks are functions, because only the first value is checked.
  const values: [json: string, check: () => NewIssue[]][] = shape.item
    ? [arrayOf(node, `${path}.`, owners)]
    : filledIn(node).map(({ value }) => [
        textOf(value, shape),
        () => checkText(value, shape, path),
      ]);
  if (shape.members) {
    const { json, issues } = membersOf(node, `${path}.`, owners);
    if ([...parts.values()].some((part) => part.all.some(isPosted)))
      values.push([`{${json}}`, () => issues]);
  }
  const isLeft = !all.some(shape.isRequired ? isPosted : isFilled) || values.length === 0;
  if (isLeft) return absent(shape, path);
  const [[, check], ...others] = values as [[string, () => NewIssue[]]];
  const duplicates = others.map(() => issueAt(path, DUPLICATE_MEMBER));
  return { json: values.map(([json]) => json), issues: [...check(), ...duplicates] };
}

/**
 * Returns the controls that are filled in. Ignores a 0 if another control has an amount, because pages post 0
 * for an unticked checkbox.
 */
function filledIn({ shape, own }: Node): Read[] {
  const filled = own.filter(isFilled),
    counting = filled.filter((control) => !(shape.isNumber && isNothing(control)));
  return counting.length > 0 ? counting : filled;
}

/**
 * Returns an array as JSON. First come the controls that have the array's own name, one item each. The items
 * with an index follow.
 */
function arrayOf(
  node: Node,
  path: string,
  owners: Owners,
): [json: string, check: () => NewIssue[]] {
  const { shape, parts } = node;
  const unnumbered = filledIn(node).map((control) => ({
    ...nodeOf(shape.item),
    own: [control],
    all: [control],
  }));
  const numbered = [...parts]
    .sort(([a], [b]) => (a as never) - (b as never))
    .map(([, item]) => item);
  const items = [...unnumbered, ...numbered.filter((item) => choosing(item).some(isFilled))];
  const written = items.map((item, index) => valuesOf(item, path + index, owners));
  const issues = written.flatMap(({ issues }) =>
    issues.filter(({ code, path }) => code !== "duplicate_member" || path.length > 2),
  );
  return [
    `[${written.map(({ json }) => json[0])}]`,
    () => [...checkCount(items.length, shape, path.slice(0, -1)), ...issues],
  ];
}

/** Returns a text as JSON. Removes the plus sign and leading zeros of a number, which JSON does not allow. */
function textOf(value: string, { isNumber }: Shape): string {
  const [, sign = "", digits] = (isNumber && value.match(DECIMAL)) || ([] as string[]);
  if (digits === undefined) return JSON.stringify(value);
  return sign + digits.replace(/^0*(?=\d)/, "").replace(/^\./, "0.");
}
