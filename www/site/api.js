/** Makes the reference of the HTTP API, as Markdown, from `docs/openapi.yaml`. */
import { parse } from "yaml";
import { pageOf } from "./pages.js";

const SOURCE = "docs/openapi.yaml";

/** Returns the page. @param {string} text the document of OpenAPI */
export function apiPage(text) {
  const api = parse(text);
  const operations = Object.entries(api.paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  );
  const resolved = (value) => resolve(api, value);
  const markdown = [
    `# HTTP API`,
    `For developers who call the service without the [npm package](npm.md), or who want to see what it sends. ${api.info.summary}`,
    `The [contract](contract.md) explains the rules, and [openapi.yaml](openapi.yaml) is this page for programs. Version ${api.info.version}.`,
    api.info.description,
    "## Authentication",
    "Send your API key in the header `Authorization: Bearer …`.",
    api.components.securitySchemes.apiKey.description,
    ...operations.flatMap((it) => operationText(it, resolved)),
  ].map((block) => block.trim());
  return pageOf("api", SOURCE, `${markdown.join("\n\n")}\n`);
}

/** Replaces a reference by its target. Members beside the reference are kept. */
function resolve(api, value) {
  if (!value?.$ref) return value ?? {};
  const { $ref, ...own } = value;
  const target = $ref.slice(2).split("/");
  return { ...target.reduce((at, name) => at[name], api), ...own };
}

function operationText({ path, method, operation }, resolved) {
  const body = resolved(operation.requestBody);
  const parameters = (operation.parameters ?? []).map(resolved);
  return [
    `## ${operation.summary}`,
    `\`\`\`http\n${method.toUpperCase()} ${path}\n\`\`\``,
    `### Parameters of ${operation.operationId}`,
    table(["Parameter", "In", "Meaning"], parameters.map(parameterRow)),
    ...(body.content ? requestText(operation, body, resolved) : []),
    `### Answers to ${operation.operationId}`,
    table(["Status", "When", "Body"], answerRows(operation, resolved)),
    ...answerTexts(operation, resolved),
  ];
}

const parameterRow = ({ name, in: place, required, description }) => [
  `\`${name}\``,
  `${place}${required ? ", required" : ""}`,
  description,
];

function requestText({ operationId }, body, resolved) {
  const { schema, examples } = body.content["application/json"];
  return [
    `### Request body of ${operationId}`,
    body.description,
    membersTable(schema, resolved),
    ...exampleTexts(examples),
  ];
}

const answersOf = ({ responses }, resolved) =>
  Object.entries(responses).map(([status, response]) => {
    const answer = resolved(response);
    return { status, ...answer, ...answer.content["application/json"] };
  });

function answerRows(operation, resolved) {
  return answersOf(operation, resolved).map(({ status, description, headers, schema }) => {
    const names = Object.keys(headers ?? {}).map((name) => `\`${name}\``);
    const with_ = names.length > 0 ? ` Headers: ${names.join(", ")}.` : "";
    const error = resolved(schema).properties?.error?.const;
    return [status, description + with_, bodyOf(status, error)];
  });
}

function bodyOf(status, error) {
  if (status === "200") return "the transaction, see below";
  return error ? `\`error\` is \`"${error}"\`` : "`error`, `message`";
}

function answerTexts(operation, resolved) {
  const [{ schema, examples }] = answersOf(operation, resolved);
  return [
    `### The transaction that ${operation.operationId} answers with`,
    resolved(schema).description,
    membersTable(schema, resolved),
    ...exampleTexts(examples),
    "An error has these members. [Answers of the API](errors/api.md) says what each means, and what to do.",
    membersTable({ $ref: "#/components/schemas/Error" }, resolved),
  ];
}

const exampleTexts = (examples) =>
  Object.values(examples).flatMap(({ summary, value }) => [
    `Example: ${summary.charAt(0).toLowerCase()}${summary.slice(1)}.`,
    `\`\`\`json\n${JSON.stringify(value, null, 2)}\n\`\`\``,
  ]);

/** Returns a table of a schema's members, those of its objects and arrays included. */
const membersTable = (schema, resolved) =>
  table(["Member", "Type", "Meaning"], members(resolved(schema), "", resolved));

function members(schema, prefix, resolved) {
  return Object.entries(schema.properties).flatMap(([name, member]) => {
    const value = resolved(member);
    const items = resolved(value.items);
    const path = `${prefix}${name}`;
    const isNeeded = schema.required?.includes(name);
    const own = [
      `\`${path}\``,
      `${typeOf(value, items)}${isNeeded ? "" : ", optional"}`,
      meaning(value, items),
    ];
    if (value.properties) return [own, ...members(value, `${path}.`, resolved)];
    if (items.properties) return [own, ...members(items, `${path}[].`, resolved)];
    return [own];
  });
}

function typeOf({ type, format, properties }, items) {
  if (properties) return "object";
  if (type === "array") return `array of ${items.properties ? "objects" : `${items.type}s`}`;
  return [type].flat().join(" or ") + (format ? ` (${format})` : "");
}

function meaning(
  { description = "", enum: values, const: only, minItems, maxItems, pattern },
  items,
) {
  const allowed = values ?? items.enum ?? (only && [only]);
  return [
    description.trim().replaceAll(/\s+/g, " "),
    allowed && `One of ${allowed.map((it) => `\`${it}\``).join(", ")}.`,
    minItems && `At least ${minItems}.`,
    maxItems && `At most ${maxItems}.`,
    pattern && `Pattern: \`${pattern}\`.`,
  ]
    .filter(Boolean)
    .join(" ");
}

const cell = (text) => text.trim().replaceAll(/\s+/g, " ").replaceAll("|", "\\|");

const table = (heads, rows) =>
  [heads, heads.map(() => "---"), ...rows]
    .map((row) => `| ${row.map(cell).join(" | ")} |`)
    .join("\n");
