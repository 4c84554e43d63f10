/** Sets up, after the deploy of a dashboard, who may sign in. Says what is left to do by hand; its failures end no deploy. */
import { hostsOf, protectedBy } from "./access-account.mjs";
import { ask } from "./command.mjs";
import { DASHBOARD } from "./configuration.mjs";
import { ADDRESS } from "./deploy-settings.mjs";
import { UserError } from "./output.mjs";
import { calledAs } from "./places.mjs";

const LISTS = ["OPERATORS", "SUPPORT", "ACCOUNTS"];

/** Returns an e-mail address without blanks around it. Throws if the text is none. @param {string} text */
export function operatorIn(text) {
  if (ADDRESS.test(text.trim())) return text.trim();
  throw new UserError(`\`${text}\` is not an e-mail address. Write it as \`ada@shop.example\``);
}

/**
 * Protects a dashboard with Cloudflare Access, and names its first operator, as far as the login may do so. Changes neither an
 * application nor a list of people that exists.
 * @param {import("./cloudflare.mjs").Cloudflare} cloudflare
 * @param {import("wrangler").Unstable_Config} settings the dashboard's
 * @param {{environment: string, operator?: string, terminal: import("./output.mjs").Terminal}} work `environment`: empty for none
 * @returns {Promise<string>} what was found, done, and is left to do
 */
export async function setUpSignIn(cloudflare, settings, { environment, operator, terminal }) {
  const { name: worker = "" } = settings;
  const set = (await cloudflare.bindings(worker)).map(({ name }) => name);
  const hasList = set.includes("OPERATORS");
  const person = operator ?? (hasList ? undefined : await askedFor(terminal));
  const hosts = await hostsOf(cloudflare, settings);
  const access = await protectedBy(cloudflare, { worker, hosts }, person);
  const isNamed = person && !hasList && (await nameOperator(cloudflare, worker, person));
  const missing = LISTS.filter((list) => !set.includes(list) && !(list === "OPERATORS" && isNamed));
  const put = (list) =>
    `  npx wrangler secret put ${list} --config ${DASHBOARD} --env "${environment}"`;
  return [
    "",
    ...aboutAccess(access, { worker, person, hosts, account: cloudflare.account, environment }),
    ...(isNamed ? ["", `${person} is the first operator: set the secret OPERATORS.`] : []),
    ...(person && hasList ? ["", listStays(person), "", put("OPERATORS")] : []),
    ...(missing.length > 0 ? ["", NOT_SET, "", ...missing.map(put)] : []),
  ].join("\n");
}

const listStays = (person) =>
  `The secret OPERATORS is set already, and was not changed. If it lacks ${person}, set it to the whole list:`;

const NOT_SET =
  "These secrets are not set yet. Set each to a list of e-mail addresses, separated by commas:";

/** Asks for the first operator, if there is a terminal. @param {import("./output.mjs").Terminal} terminal */
async function askedFor(terminal) {
  const question =
    "E-mail address of the first operator, who may do everything (leave empty to skip): ";
  const answer = terminal.input.isTTY ? await ask(question, terminal) : "";
  if (answer === "") return undefined;
  try {
    return operatorIn(answer);
  } catch ({ message }) {
    terminal.err(`${message}. No operator was set\n`);
    return undefined;
  }
}

/** Sets the list of operators, which is not set. Returns whether it was set. */
async function nameOperator(cloudflare, worker, text) {
  const path = `/workers/scripts/${encodeURIComponent(worker)}/secrets`;
  const secret = { name: "OPERATORS", text, type: "secret_text" };
  return cloudflare.call("set the secret `OPERATORS`", "PUT", path, secret).then(
    () => true,
    () => false,
  );
}

// ---- What the deploy says ------------------------------------------------------------------------

function aboutAccess(access, { worker, person, hosts, account, environment }) {
  const open = hosts[0] ? ` Open https://${hosts[0]} and sign in.` : "";
  if ("created" in access)
    return [
      `Sign-in: created the application \`${access.created}\` of Cloudflare Access. It admits ${person}, at each address of the Worker.${open}`,
    ];
  if ("found" in access)
    return [
      `Sign-in: the application \`${access.found}\` of Cloudflare Access protects the dashboard. It was not changed.${person ? ` See that one of its policies admits ${person}.` : ""}${open}`,
    ];
  return [
    `Could not confirm that Cloudflare Access protects the dashboard: ${access.problem}. Until it is, every page answers 403.`,
    "",
    ...steps({ worker, person, host: hosts[0], account, environment }),
  ];
}

/** Returns the steps that set up the sign-in by hand, with the values of this dashboard. */
function steps({ worker, person, host, account, environment }) {
  const domain = person?.split("@").at(-1);
  const again = `${calledAs("deploy")} --dashboard${environment && ` --env ${environment}`} --operator ${person ?? "ada@shop.example"}`;
  return [
    "In Cloudflare's dashboard:",
    "",
    `  1. Open https://dash.cloudflare.com/${account}/workers-and-pages, the Worker ${worker}, and its tab Access. If the account has no Zero Trust yet, set that up first.`,
    '  2. Select "Protect this Worker behind Access", then "All traffic".',
    `  3. As the policy, select "Email domain" with ${domain ? `\`${domain}\`, the domain of ${person}` : "the domain of your e-mail addresses"}, or "Cloudflare account" for members of this account. Select "Apply Access".`,
    `  4. Open ${host ? `https://${host}` : "the address of the Worker"} and sign in${person ? ` as ${person}` : ""}.`,
    "",
    `With an API token that has the permission \`Access: Apps and Policies: Edit\`, this does the first three: ${again}`,
  ];
}
