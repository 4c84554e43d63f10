/**
 * The tools of the MCP server, made from the table of operations: a tool for each operation that changes nothing and shows
 * no personal data unmasked.
 */
import { UserError } from "./output.mjs";
import { operations } from "./operations.mjs";

/**
 * @typedef {import("./operations.mjs").Spec} Spec
 * @typedef {import("./operations.mjs").Listed} Listed
 * @typedef {{name: string, title: string, description: string, inputSchema: any, annotations: object}} Tool a tool as MCP lists it
 * @typedef {{tool: Tool, spec: Spec, arguments: Listed[]}} Offered a tool, its operation, and the arguments that the tool has
 */

const ANNOTATIONS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

const MONTH = "^\\d{4}-\\d{2}$";
const DAY = "^\\d{4}-\\d{2}-\\d{2}$";

/** The JSON Schema of each kind of argument. @type {Record<string, (argument: any) => object>} */
const SCHEMAS = {
  text: () => ({ type: "string" }),
  flag: () => ({ type: "boolean" }),
  choice: ({ choices }) => ({ type: "string", enum: choices }),
  month: () => ({ type: "string", pattern: MONTH }),
  day: () => ({ type: "string", pattern: DAY }),
  time: () => ({ type: "string" }),
  number: ({ least, most }) => ({ type: "integer", minimum: least, maximum: most }),
  duration: () => ({ type: "string" }),
  input: () => ({ type: "string" }),
};

/** What a schema cannot say about a kind. @type {Record<string, string>} */
const NOTES = {
  time: "a day or a date-time, such as 2026-11-05 or 2026-11-05T14:30:00+01:00",
  duration: "such as 90s, 30m, 24h or 7d",
};

/**
 * Returns the tools.
 * @param {string[]} [groups] only those of these groups of operations
 * @returns {Map<string, Offered>} by the name of the tool
 */
export function mcpTools(groups) {
  const wanted = operations.filter(({ group }) => groups?.includes(group) ?? true);
  const offered = wanted.filter(isOffered).map(offer);
  return new Map(offered.map((one) => [one.tool.name, one]));
}

/** Whether an operation changes nothing, writes no file, and shows no personal data unmasked. @param {Spec} spec */
const isOffered = (spec) =>
  !(spec.changes || spec.corrects || spec.reveals || spec.confirms || spec.queues) &&
  spec.arguments.every(({ kind }) => kind !== "output");

/** @param {Spec} spec @returns {Offered} */
function offer(spec) {
  const offered = spec.arguments.filter(({ reveals }) => !reveals);
  const tool = {
    name: `${spec.group}_${spec.name.replaceAll("-", "_")}`,
    title: `${spec.group} ${spec.name}`,
    description: describe(spec),
    inputSchema: {
      type: "object",
      properties: Object.fromEntries(offered.map((one) => [one.name, schemaOf(one)])),
      required: offered.filter(({ isRequired }) => isRequired).map(({ name }) => name),
      additionalProperties: false,
    },
    annotations: { title: `${spec.group} ${spec.name}`, ...ANNOTATIONS },
  };
  return { tool, spec, arguments: offered };
}

/** Returns what the tool does, and which members its structured content has. @param {Spec} spec */
function describe({ about, answers, note }) {
  const parts = [about, answers && `structured content: ${answers}`].filter(Boolean);
  const text = parts.map((part) => `${part[0]?.toUpperCase()}${part.slice(1)}.`);
  return withoutLinks([...text, note].filter(Boolean).join("\n\n"));
}

const withoutLinks = (markdown) => markdown.replaceAll(/\[([^\]]+)\]\([^)]+\)/g, "$1");

/** @param {Listed} argument */
function schemaOf(argument) {
  const { kind, help, isRepeatable } = argument;
  const one = SCHEMAS[kind]?.(argument) ?? { type: "string" };
  const description = withoutLinks([inTool(kind, help), NOTES[kind]].filter(Boolean).join("; "));
  const value = isRepeatable ? { type: "array", items: one, minItems: 1 } : one;
  return { ...value, description, ...defaultOf(argument) };
}

/** An assistant passes the content of a file, not its name. */
const inTool = (kind, help) =>
  kind === "input"
    ? `the content, as text: ${help.replace(/^a file with /, "").replace(/; `-` is standard input$/, "")}`
    : help;

/** @param {Listed} argument */
function defaultOf({ kind, default: value }) {
  if (!value) return {};
  return { default: kind === "number" ? Number(value) : value };
}

/**
 * Returns the arguments of a call in the form that the operation takes: each as text, and a flag as `true`.
 * @param {Offered} offered
 * @param {Record<string, unknown>} given
 * @returns {string} JSON
 */
export function argumentsOf({ tool, arguments: known }, given) {
  for (const name of Object.keys(given))
    if (!known.some((one) => one.name === name)) throw unknownArgument(tool.name, name, known);
  const entries = known.map(({ name, kind }) => [name, asText(kind, given[name])]);
  return JSON.stringify(Object.fromEntries(entries));
}

const asText = (kind, value) =>
  kind === "number" && typeof value === "number" ? String(value) : value;

function unknownArgument(tool, name, known) {
  const names = known.map((one) => `\`${one.name}\``).join(", ") || "none";
  const message = `\`${tool}\` has no argument \`${name}\`; its arguments are: ${names}`;
  const refused = { field: name, code: "not_allowed", message };
  return Object.assign(new UserError(message), { refused });
}
