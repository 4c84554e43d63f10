/** The same request as code for three tools. */

/** The command `npx impact-pledge serve` listens here, and knows this key. */
export const LOCAL = { origin: "http://127.0.0.1:8787", apiKey: "service_sk_test_dev_unit" };

/** @typedef {{origin: string, apiKey: string, request: object, idempotencyKey: string}} Call */

/** @type {Record<string, (call: Call) => string>} */
export const SAMPLES = { curl, JavaScript: javaScript, Python: python };

const pretty = (value) => JSON.stringify(value, null, 2);
/** Quotes a text for a POSIX shell. */
const shell = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** @param {Call} call @returns {[string, string][]} */
const headersOf = ({ apiKey, idempotencyKey }) => [
  ["Authorization", `Bearer ${apiKey}`],
  ["Content-Type", "application/json"],
  ...(idempotencyKey
    ? [/** @type {[string, string]} */ (["Idempotency-Key", idempotencyKey])]
    : []),
];

/** @param {Call} call */
function curl(call) {
  const headers = headersOf(call).map(([name, value]) => `  -H ${shell(`${name}: ${value}`)} \\\n`);
  return `curl -sS ${shell(`${call.origin}/v2/pledge-transaction`)} \\
${headers.join("")}  --data-raw ${shell(pretty(call.request))}`;
}

/** @param {Call} call */
function javaScript({ origin, apiKey, request, idempotencyKey }) {
  const options = idempotencyKey
    ? `, {\n  idempotencyKey: ${JSON.stringify(idempotencyKey)},\n}`
    : "";
  return `import { PledgeClient } from "impact-pledge";

const client = new PledgeClient({
  apiKey: ${JSON.stringify(apiKey)},
  baseUrl: ${JSON.stringify(origin)},
});
const request = ${pretty(request)};
const transaction = await client.createPledgeTransaction(request${options});
console.log(transaction.timelineUrl);`;
}

/** JSON without `true`, `false` and `null`, which no valid request has, is also a literal of Python. @param {Call} call */
function python(call) {
  const headers = headersOf(call).map(
    (pair) => `        ${pair.map((text) => JSON.stringify(text)).join(": ")},\n`,
  );
  return `import json
import urllib.request

body = ${pretty(call.request)}
request = urllib.request.Request(
    ${JSON.stringify(`${call.origin}/v2/pledge-transaction`)},
    data=json.dumps(body).encode(),
    headers={
${headers.join("")}    },
)
with urllib.request.urlopen(request) as response:
    print(json.load(response)["timelineUrl"])`;
}
