/** Checks the settings of a service before its deploy. Each error says what to write, and where. */
import { UserError } from "./output.mjs";

/** @typedef {(name: string) => string} Variables returns the text of a variable, empty if it is not set */

/**
 * Throws if the settings cannot work in this environment. Otherwise returns notes for the operator.
 * @param {import("wrangler").Unstable_Config} settings
 * @param {string} environment empty for none
 * @param {string[]} others options for wrangler
 * @returns {string[]}
 */
export function checkSettings({ vars, queues, send_email, services }, environment, others) {
  const given = givenVariables(others);
  const all = { ...vars, ...given };
  const variable = (name) => `${all[name] ?? ""}`.trim();
  const isProduction = environment === "production" || variable("ENVIRONMENT") === "production";
  const isQueued = (queues.producers ?? []).some(({ binding }) => binding === "NOTIFICATIONS");
  const isGiven = "PUBLIC_ORIGIN" in given;
  if (isProduction || isQueued) checkPublicOrigin(variable, environment, isProduction);
  if (isProduction) checkProduction(variable, environment);
  checkAllowedOrigins(variable("ALLOWED_ORIGINS"));
  const addresses = addressesOf(all, services);
  checkMessaging(variable, addresses, isQueued);
  checkMail(variable, isQueued, addresses.length > 0);
  const hasSender = variable("MAIL_FROM") !== "";
  const isByResend = isQueued && hasSender && !send_email.some(({ name }) => name === "EMAIL");
  return [
    ...(isGiven ? [givenOrigin(environment, isProduction)] : []),
    ...(isByResend ? [BY_RESEND] : []),
  ];
}

const BY_RESEND =
  "Resend sends the e-mails, because `send_email` binds no `EMAIL`. The Worker needs the secret RESEND_API_KEY: /healthz shows if the secret is missing";

/** Returns the variables that wrangler's option `--var` sets. */
function givenVariables(others) {
  const given = others.flatMap((option) => [...option.matchAll(/^(?:--var=)?([A-Z_]+):(.*)$/gs)]);
  return Object.fromEntries(given.map(([, name, text]) => [name, text]));
}

const varsOf = (environment) => (environment ? `[env.${environment}.vars]` : "[vars]");

/**
 * Returns a warning that `--var PUBLIC_ORIGIN` applies to this deploy only, because other ways to upload a
 * version read only wrangler.toml.
 */
const givenOrigin = (environment, isProduction) =>
  `\`--var PUBLIC_ORIGIN:…\` holds for this deploy only: the next \`wrangler versions upload\` is without it${isProduction ? ", and that version rejects every create" : ""}. Set \`PUBLIC_ORIGIN\` in wrangler.toml, under \`${varsOf(environment)}\`, and deploy without \`--var\``;

/**
 * Throws if `PUBLIC_ORIGIN` is not a usable origin. All timeline addresses begin with this origin, including
 * those in records and e-mails. In production, the origin must use https.
 * @param {Variables} variable
 */
function checkPublicOrigin(variable, environment, isProduction) {
  const origin = variable("PUBLIC_ORIGIN");
  const problem = problemOf(origin) ?? (isProduction ? insecurityOf(origin) : null);
  if (!problem) return;
  const place = environment && ` of the environment ${environment}`;
  const otherwise = `each timeline address ${isProduction ? "would begin" : "begins"} permanently with the host that received its create request`;
  const without = isProduction
    ? `Without a valid origin, the service records nothing: ${otherwise}`
    : `Without a valid origin, ${otherwise}, and no e-mail is sent`;
  throw new UserError(
    `\`PUBLIC_ORIGIN\`${place} ${problem}. ${without}. Set it in wrangler.toml, under \`${varsOf(environment)}\`, to an origin such as https://pledges.example`,
  );
}

/** @param {string} origin @returns {string | null} */
function problemOf(origin) {
  if (origin === "") return "is not set";
  const isOrigin = /^https?:\/\/([\w-]+\.)*[\w-]+(:\d+)?\/*$/.test(origin) && URL.canParse(origin);
  return isOrigin ? null : `is not an origin: \`${origin}\``;
}

/** @param {string} origin */
const insecurityOf = (origin) =>
  origin.startsWith("https:") ? null : `is \`${origin}\`, but must begin with \`https://\``;

/** @param {Variables} variable */
function checkProduction(variable, environment) {
  if (variable("ENVIRONMENT") !== "production")
    throw new UserError(
      `\`ENVIRONMENT\` is \`${variable("ENVIRONMENT")}\`: set it to \`production\` in wrangler.toml, under \`${varsOf(environment)}\`. The service then requires \`PUBLIC_ORIGIN\` and ignores the host of a request`,
    );
  if (variable("ALLOW_PLAIN_HTTP") !== "")
    throw new UserError(
      "`ALLOW_PLAIN_HTTP` is set: remove it from wrangler.toml. In production, live keys are refused over plain HTTP, where others can read them",
    );
}

function checkAllowedOrigins(list) {
  const entries = list.split(",").map((entry) => entry.trim().replace(/\/+$/, ""));
  const useless = entries.find((entry) => entry !== "" && !isSentOrigin(entry));
  if (useless === undefined) return;
  const meant = URL.canParse(useless) ? new URL(useless).origin : "null";
  const example = isSentOrigin(meant) && meant !== "null" ? meant : "https://shop.example";
  throw new UserError(
    `\`ALLOWED_ORIGINS\` has an entry that no browser sends as its origin: \`${useless}\`. Write each origin as browsers send it, such as \`${example}\`: scheme, host in lower case, and the port unless it is the scheme's default. Separate origins by commas. Wildcards are not supported`,
  );
}

/**
 * Whether a browser may send this text as the header `Origin`. `/healthz` applies the same rule:
 * `is_sent_origin` in `src/pledges/http/origin.rs`.
 * @param {string} text
 */
export function isSentOrigin(text) {
  if (/^https?:/.test(text))
    return (
      /^https?:\/\/(\[[\da-f:]+\]|[a-z\d_-]+(\.[a-z\d_-]+)*\.?)(:\d+)?$/.test(text) &&
      URL.canParse(text) &&
      new URL(text).origin === text
    );
  const [, scheme] = text.match(/^([a-z][a-z\d+.-]*):\/\/[^\s/?#@*A-Z]+$/) ?? []; // of an app or an extension
  return text === "null" || (scheme !== undefined && !/^(ftp|wss?|file)$/.test(scheme));
}

/**
 * Returns the names of the bindings and variables that connect adapters of messaging services.
 * @param {Record<string, unknown>} vars @param {import("wrangler").Unstable_Config["services"]} services
 */
const addressesOf = (vars, services) =>
  [...(services ?? []).map(({ binding }) => binding), ...Object.keys(vars)].filter((name) =>
    /^MESSAGING_SERVICE_[ABC](_TEST)?(_URL)?$/.test(name),
  );

/**
 * Throws if the URL of an adapter of a messaging service is invalid. Also throws if an adapter is connected,
 * but the queue of notifications is not bound. `src/buyer/adapters/address.rs` has the same rule for URLs. Secrets
 * are not checked, because only Cloudflare can read them.
 * @param {Variables} variable @param {string[]} addresses names of the bindings and variables that connect
 *   adapters @param {boolean} isQueued
 */
function checkMessaging(variable, addresses, isQueued) {
  for (const name of addresses.filter((address) => address.endsWith("_URL"))) {
    const url = variable(name);
    const isSecure = /^https:\/\/[^@/?#]+([/?#]|$)/.test(url) && URL.canParse(url);
    if (url !== "" && !isSecure)
      throw new UserError(
        `\`${name}\` is not an https URL without a user name: \`${url}\`. Set it in wrangler.toml to the URL of the adapter`,
      );
  }
  if (addresses.length > 0 && !isQueued)
    throw new UserError(
      `\`${addresses[0]}\` is set, but the queue \`NOTIFICATIONS\` is not bound: no message would be sent. Remove the \`#\` from the lines of wrangler.toml that bind this queue`,
    );
}

/** @param {Variables} variable @param {boolean} isQueued @param {boolean} hasMessaging */
function checkMail(variable, isQueued, hasMessaging) {
  for (const name of ["MAIL_FROM", "MAIL_TEST_TO"])
    if (variable(name) !== "" && !ADDRESS.test(variable(name)))
      throw new UserError(
        `\`${name}\` is not an e-mail address: \`${variable(name)}\`. Set it in wrangler.toml as \`pledges@shop.example\``,
      );
  const hasSender = variable("MAIL_FROM") !== "";
  if (isQueued && !hasSender && !hasMessaging)
    throw new UserError(
      "e-mails are queued, but `MAIL_FROM` is not set, so no e-mail would be sent. Set `MAIL_FROM` in wrangler.toml, or remove the queue `NOTIFICATIONS` there",
    );
  if (hasSender && !isQueued)
    throw new UserError(
      "`MAIL_FROM` is set, but the queue `NOTIFICATIONS` is not bound, so no e-mail would be sent. Remove the `#` from the lines of wrangler.toml that bind this queue",
    );
}

/** Matches an e-mail address without a name. */
export const ADDRESS = /^[^\s@<>,;]+@[\w-]+(\.[\w-]+)+$/;
