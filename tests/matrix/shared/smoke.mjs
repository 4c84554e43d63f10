/** What every environment does with the package's three entries, and what must come of it. */

export const REQUEST = { reference: "order-1", recipient: { email: "ada@example.org" }, pledges: [{ impact: { amount: 1, offeringId: "tree" } }] };

/**
 * @param {{main: any, validator: any, form: any}} entries
 * @param {{baseUrl: string, fetch?: Function}} options of the client
 */
export async function smoke({ main, validator, form }, options) {
  const client = new main.PledgeClient({ apiKey: "service_sk_test_x", ...options });
  const { id, charge } = await client.createPledgeTransaction(REQUEST);
  const refused = await client.createPledgeTransaction({}).catch((error) => [error.name, error instanceof main.ValidationError, error.issues.length]);
  const standard = validator.createPledgeTransactionSchema["~standard"].validate(REQUEST);
  return {
    created: [id, charge.amount],
    refused,
    valid: [main, validator].map(({ validate }) => validate(REQUEST).length),
    problems: [main, validator].map(({ validate }) => validate({ ...REQUEST, pledges: [], "größe": 1 }).map(problemOf)),
    field: validator.validateAt("/recipient/email", "ädä@").map(problemOf),
    bytes: validator.validateBytes(new Uint8Array([0x7b, 0x7d])).map(problemOf),
    standard: standard.value === REQUEST,
    posted: posted(form.readForm(new URLSearchParams(POSTED))),
  };
}

const POSTED = { reference: "Größe 1", "recipient.email": "ada@", "pledges.0.impact.amount": "1", "pledges.0.impact.offeringId": "tree" };

const posted = ({ payload, issues }) => [payload, issues.map((issue) => `${issue.name}: ${problemOf(issue)}`)];

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
  posted: [{ ...REQUEST, reference: "Größe 1", recipient: { email: "ada@" } }, ["recipient.email: /recipient/email invalid_email"]],
};

/** What a shopper does with a bound form, where there is a document. */
export async function smokeForm({ bindForm }, document) {
  const place = document.body.appendChild(document.createElement("div"));
  place.innerHTML = `<form>
    <input name="reference" value="order-1"><input type="hidden" name="pledges.0.impact.offeringId" value="tree">
    <input name="pledges.0.impact.amount" type="number" value="1"><input id="email" name="recipient.email">
    <button>Send</button></form>`;
  const [form, email] = [place.querySelector("form"), place.querySelector("#email")];
  const sent = new Promise((resolve) => bindForm(form, { onSubmit: resolve }));
  type(email, "ada@");
  const invalid = email.getAttribute("aria-invalid");
  form.requestSubmit();
  const focused = document.activeElement === email;
  type(email, "ada@example.org");
  form.requestSubmit();
  return { invalid, focused, corrected: email.getAttribute("aria-invalid"), sent: await sent };
}

function type(input, text) {
  const { Event } = input.ownerDocument.defaultView;
  input.value = text;
  for (const name of ["input", "focusout"]) input.dispatchEvent(new Event(name, { bubbles: true }));
}

export const EXPECTED_FORM = { invalid: "true", focused: true, corrected: null, sent: REQUEST };
