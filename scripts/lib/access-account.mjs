/**
 * Protects a deployed dashboard with Cloudflare Access, if the login may do so. What it uses of the API is documented at
 * https://developers.cloudflare.com/workers/configuration/cloudflare-access/. An application that protects the Worker already,
 * by itself, by its addresses, or with all Workers of the account, stays as it is.
 */

/**
 * A deployed dashboard. `hosts`: the names under which it is reached, as far as they are known.
 * @typedef {{worker: string, hosts: string[]}} Dashboard
 */

/**
 * Returns the host names of a Worker: its own domains, and its name under `workers.dev`.
 * @param {import("./cloudflare.mjs").Cloudflare} cloudflare
 * @param {Pick<import("wrangler").Unstable_Config, "name" | "routes" | "workers_dev">} settings
 * @returns {Promise<string[]>} empty if none is known
 */
export async function hostsOf(cloudflare, { name, routes = [], workers_dev = true }) {
  const own = routes.flatMap((route) =>
    typeof route === "object" && route.custom_domain ? [route.pattern] : [],
  );
  if (!workers_dev) return own;
  const purpose = "find the account's address at workers.dev";
  const { result } = await cloudflare
    .call(purpose, "GET", "/workers/subdomain")
    .catch(() => ({ result: null }));
  return isText(result?.subdomain) ? [...own, `${name}.${result.subdomain}.workers.dev`] : own;
}

/**
 * Finds the application of Access that protects a dashboard. If there is none, creates one that admits one person.
 * @param {import("./cloudflare.mjs").Cloudflare} cloudflare
 * @param {Dashboard} dashboard
 * @param {string | undefined} operator the e-mail address of the person; without it, nothing is created
 * @returns {Promise<{found: string} | {created: string} | {problem: string}>} the application's name, or why there is none
 */
export async function protectedBy(cloudflare, dashboard, operator) {
  try {
    const id = await idOf(cloudflare, dashboard.worker);
    const apps = await cloudflare.all("list the applications of Cloudflare Access", "/access/apps");
    const found = covering(apps.filter(isApp), id, dashboard.hosts);
    if (found) return { found: isText(found.name) ? found.name : "without a name" };
    if (!operator) return { problem: "nobody is named who may sign in" };
    return { created: await create(cloudflare, dashboard.worker, id, operator) };
  } catch (error) {
    return { problem: reason(error) };
  }
}

/** Returns the ID by which Access knows a Worker. It stays the same when the Worker gets another name. */
async function idOf(cloudflare, worker) {
  const path = `/workers/workers/${encodeURIComponent(worker)}`;
  const { result } = await cloudflare.call("find the Worker's ID", "GET", path);
  if (!isText(result?.id)) throw new Error("Cloudflare's API does not say the Worker's ID");
  return result.id;
}

/** Not repeated after a failure: the application may have been created although the answer was lost. */
async function create(cloudflare, worker, worker_id, email) {
  await cloudflare.callOnce("create the application of Cloudflare Access", "POST", "/access/apps", {
    type: "self_hosted",
    name: worker,
    destinations: [{ type: "worker", worker_id }],
    policies: [{ decision: "allow", include: [{ email: { email } }] }],
  });
  return worker;
}

// ---- What an application protects ----------------------------------------------------------------

const isText = (value) => typeof value === "string" && value !== "";
const isApp = (app) => app?.type === "self_hosted";
const listOf = (value) => (Array.isArray(value) ? value : []);

/** Returns an application that protects the whole Worker; else one that protects a host, if all hosts are protected. */
function covering(apps, id, hosts) {
  const isOfWorker = ({ destinations }) =>
    listOf(destinations).some(
      (it) => it?.type === "all_workers" || (it?.type === "worker" && it.worker_id === id),
    );
  const ofHosts = hosts.map((host) => apps.find((app) => protects(app, host)));
  return apps.find(isOfWorker) ?? (ofHosts.every(Boolean) ? ofHosts[0] : undefined);
}

/** Whether an application protects each path of a host. */
function protects({ domain, self_hosted_domains, destinations }, host) {
  const uris = listOf(destinations).map((destination) => destination?.uri);
  return [domain, ...listOf(self_hosted_domains), ...uris]
    .filter(isText)
    .some((pattern) => matches(pattern.replace(/\/\*?$/, ""), host));
}

/** Whether a host name with at most one `*` matches a host. A pattern with a path matches none. */
function matches(pattern, host) {
  const [start, end, ...more] = pattern.split("*");
  if (end === undefined) return pattern === host;
  const isLong = host.length >= start.length + end.length;
  return more.length === 0 && isLong && host.startsWith(start) && host.endsWith(end);
}

const reason = ({ status, said, message }) =>
  status === 401 || status === 403
    ? `this login may not see or change Cloudflare Access${said ? `: ${said}` : ""}. An API token with the permission \`Access: Apps and Policies: Edit\` may`
    : message;
