/** The smoke test: the calls that every environment makes to the package's entries, and their expected results. */

export const REQUEST = {
  reference: "order-1",
  recipient: { email: "ada@example.org" },
  pledges: [{ impact: { amount: 1, offeringId: "tree" } }],
};

/**
 * Makes the calls of the smoke test, and returns their results.
 * @param {{main: any, validator: any, form: any, badge: any, testing: any}} entries
 * @param {{baseUrl: string, fetch?: Function}} options the client's options
 */
export async function smoke({ main, validator, form, badge, testing }, options) {
  const client = new main.PledgeClient({ apiKey: "service_sk_test_x", ...options });
  const { id, charge } = await client.createPledgeTransaction(REQUEST);
  const refused = await client
    .createPledgeTransaction({})
    .catch((error) => [error.name, error instanceof main.ValidationError, error.issues.length]);
  const standard = validator.createPledgeTransactionSchema["~standard"].validate(REQUEST);
  return {
    created: [id, charge.amount],
    refused,
    valid: [main, validator].map(({ validate }) => validate(REQUEST).length),
    problems: [main, validator].map(({ validate }) =>
      validate({ ...REQUEST, pledges: [], größe: 1 }).map(problemOf),
    ),
    field: validator.validateAt("/recipient/email", "ädä@").map(problemOf),
    bytes: validator.validateBytes(new Uint8Array([0x7b, 0x7d])).map(problemOf),
    standard: standard.value === REQUEST,
    posted: posted(form.readForm(new URLSearchParams(POSTED))),
    said: badge.impactText({ amount: 22, lang: "pl", few: "{} drzewa", other: "trees" }),
    tested: await tested(main, testing),
  };
}

/**
 * Creates a transaction in a test service of the same process. The first answer is lost, so the client
 * retries.
 */
async function tested({ PledgeClient }, { createTestService }) {
  const service = createTestService({ now: 0 });
  const client = new PledgeClient({
    apiKey: "service_sk_test_dev_unit",
    baseUrl: service.baseUrl,
    fetch: service.fetch,
    retryCreates: true,
  });
  service.fail({ operation: "create", fault: "lost answer" });
  const { id, createdAt } = await client.createPledgeTransaction(REQUEST);
  const { reference } = await client.getPledgeTransaction(id);
  return [
    createdAt,
    reference,
    service.transactions().length,
    service.requests().map(({ status }) => status),
  ];
}

const POSTED = {
  reference: "Größe 1",
  "recipient.email": "ada@",
  "pledges.0.impact.amount": "1",
  "pledges.0.impact.offeringId": "tree",
};

const posted = ({ payload, issues }) => [
  payload,
  issues.map((issue) => `${issue.name}: ${problemOf(issue)}`),
];

const problemOf = ({ pointer, code }) => `${pointer} ${code}`;

const PROBLEMS = ["/pledges too_few_items", "/größe unknown_member"];

export const EXPECTED = {
  created: ["ptran_1", "0.50"],
  refused: ["ValidationError", true, 3],
  valid: [0, 0],
  problems: [PROBLEMS, PROBLEMS],
  field: ["/recipient/email invalid_email"],
  bytes: ["/reference required", "/recipient required", "/pledges required"],
  standard: true,
  posted: [
    { ...REQUEST, reference: "Größe 1", recipient: { email: "ada@" } },
    ["recipient.email: /recipient/email invalid_email"],
  ],
  said: "22 drzewa",
  tested: ["1970-01-01T00:00:00.000Z", "order-1", 1, [200, 200, 200]],
};

/** Fills in and sends a form with a badge and a choice beside it, as a shopper does. Requires a document. */
export async function smokeForm({ bindForm, ready }, document) {
  const container = document.body.appendChild(document.createElement("div"));
  container.innerHTML = `<form>
    <input name="reference" value="order-1"><input type="hidden" name="pledges.0.impact.offeringId" value="tree">
    <input name="pledges.0.impact.amount" type="number" value="1"><input id="email" name="recipient.email">
    <button>Send</button></form><impact-badge amount="1" one="tree" other="trees" lang="en">a tree</impact-badge>
    <impact-choice other="trees" lang="en"><input type="number" value="2"></impact-choice>`;
  const [form, email] = [container.querySelector("form"), container.querySelector("#email")];
  const badge = container.querySelector("impact-badge").shadowRoot.textContent;
  const { shadowRoot } = container.querySelector("impact-choice");
  shadowRoot.querySelectorAll("button")[1].click();
  const choice = shadowRoot.querySelector("output").textContent;
  const sent = new Promise((resolve) => bindForm(form, { onSubmit: resolve }));
  await ready();
  type(email, "ada@");
  const invalid = email.getAttribute("aria-invalid");
  form.requestSubmit();
  const focused = document.activeElement === email;
  type(email, "ada@example.org");
  form.requestSubmit();
  return {
    badge,
    choice,
    invalid,
    focused,
    corrected: email.getAttribute("aria-invalid"),
    sent: await sent,
  };
}

function type(input, text) {
  const { Event } = input.ownerDocument.defaultView;
  input.value = text;
  for (const name of ["input", "focusout"]) input.dispatchEvent(new Event(name, { bubbles: true }));
}

export const EXPECTED_FORM = {
  badge: "1 tree",
  choice: "3 trees",
  invalid: "true",
  focused: true,
  corrected: null,
  sent: REQUEST,
};
