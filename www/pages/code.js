/** Generates the code that a shop can copy to create an order. */
import { fieldAttributes } from "impact-pledge/form";
import { waysOf } from "../shared/thanks.js";

/** The order that the code shows before the first order is placed. */
const EXAMPLE = {
  reference: "order-1001",
  recipient: { email: "ada@example.org", firstName: "Ada" },
  pledges: [{ impact: { amount: 3, offeringId: "tree" } }],
};
const EXAMPLE_KEY = "a1b2c3d4-0000-4000-8000-000000001001";

const LABELS = {
  "recipient.email": "E-mail address",
  "recipient.firstName": "First name",
};

/**
 * Returns the code that the page for developers shows.
 * @param {{payload: object | null, exchange: object | null}} trace the payload and the HTTP exchange of the
 *   last order; null before the first order
 */
export function codeOf({ payload, exchange }) {
  const call = exchange?.calls?.at(-1)?.request;
  const key = exchange?.key ?? EXAMPLE_KEY;
  return {
    form: form(payload ?? EXAMPLE),
    server: server(),
    curl: curl(
      call?.url ?? `${location.origin}/v2/pledge-transaction`,
      key,
      call?.body ?? JSON.stringify(payload ?? EXAMPLE),
    ),
  };
}

function form(payload) {
  return `<form method="post" action="/order">
${fieldsOf(payload, "").map(field).join("\n")}
  <button>Place order</button>
</form>
<script type="module">
  import { bindForm } from "impact-pledge/form";
  bindForm(document.querySelector("form"), { optional: true });
</script>`;
}

/** Returns the names and values of a payload's fields. */
function fieldsOf(value, name) {
  if (typeof value !== "object") return [[name, value]];
  return Object.entries(value).flatMap(([key, part]) =>
    fieldsOf(part, name ? `${name}.${key}` : key),
  );
}

/** Whether the field with this name is hidden. */
const isHidden = (name) =>
  name === "reference" || name.startsWith("trigger.") || name.endsWith(".offeringId");

function field([name, value]) {
  if (name.startsWith("notifications.")) {
    const attributes = { name: "notifications", type: "checkbox", value, checked: true };
    return `  <label>${input(attributes)} Notify me ${waysOf([value])}</label>`;
  }
  if (isHidden(name)) return `  ${input({ name, type: "hidden", value })}`;
  const label = LABELS[name] ?? (name.endsWith(".amount") ? "How many" : name);
  const attributes = { ...fieldAttributes(name, { optional: true }), value };
  return `  <label>${label}\n    ${input(attributes)}</label>`;
}

const input = (attributes) =>
  `<input ${Object.entries(attributes)
    .map(([key, value]) => (value === true ? key : `${key}="${escaped(String(value))}"`))
    .join(" ")}>`;
const escaped = (text) =>
  text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");

function server() {
  return `import { PledgeClient } from "impact-pledge";
import { readForm } from "impact-pledge/form";

const client = new PledgeClient({
  apiKey: process.env.PLEDGE_API_KEY,
  baseUrl: "${location.origin}",
});

export async function order(request) {
  const data = await request.formData();
  const { valid, payload, issues } = readForm(data, { optional: true });
  if (!valid) return Response.json({ issues }, { status: 422 });
  // An order without a pledge.
  if (payload === null) return Response.redirect("${location.origin}/", 303);
  // With this key, the order is recorded once, even if it is sent several times.
  const options = { idempotencyKey: "web:shop.example.org:" + payload.reference };
  const { timelineUrl } = await client.createPledgeTransaction(payload, options);
  return Response.redirect(timelineUrl, 303);
}`;
}

function curl(url, key, body) {
  return `curl ${quoted(url)} \\
  -H "Authorization: Bearer $PLEDGE_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -H ${quoted(`Idempotency-Key: ${key}`)} \\
  -d ${quoted(body)}`;
}

/** Puts a text into single quotes, so that a shell reads it as one word. */
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
