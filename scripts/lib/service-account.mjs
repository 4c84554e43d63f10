/**
 * Handles the KV namespaces and queues of a service's account: finds them for a deploy, and removes queue consumers
 * that are no longer configured.
 */
import { copyWith } from "./config-copy.mjs";
import { log } from "./output.mjs";

/**
 * @typedef {{worker: string, bindings: any[], settings: import("wrangler").Unstable_Config}} Service `bindings`: the bindings of the deployed Worker; empty if no Worker is deployed
 */

/**
 * Returns the configuration to deploy: this file, or a copy with the IDs of existing namespaces that the
 * Worker is not bound to. Such namespaces remain after a failed deploy, or after the Worker was deleted.
 * Without their IDs, wrangler would try to create them again, and Cloudflare refuses a second namespace with
 * the same title.
 * @param {import("./places.mjs").OperatorTools} tools
 * @param {import("./cloudflare.mjs").Cloudflare} cloudflare
 * @param {Service} service
 * @param {{file: string, environment: string}} where
 * @returns {Promise<string>}
 */
export async function connected(tools, cloudflare, service, { file, environment }) {
  const ids = await unboundNamespaces(cloudflare, service);
  if (ids.size === 0) return file;
  const change = (own) => {
    for (const namespace of own.kv_namespaces) namespace.id ??= ids.get(namespace.binding);
  };
  const { account } = cloudflare;
  return copyWith(tools, { file, environment, folder: "deploy", account, change });
}

/**
 * Returns the IDs, by binding, of namespaces that an earlier deploy created. Leaves out the namespaces that
 * the Worker is bound to.
 */
async function unboundNamespaces(cloudflare, { worker, bindings, settings }) {
  const ids = new Map();
  const isBound = (binding) =>
    bindings.some(({ name, type }) => name === binding && type === "kv_namespace");
  const unbound = settings.kv_namespaces.filter(({ binding, id }) => !id && !isBound(binding));
  if (unbound.length === 0) return ids;
  const namespaces = await cloudflare.all("list the KV namespaces", "/storage/kv/namespaces");
  for (const { binding } of unbound) {
    const title = titleOf(worker, binding);
    const id = namespaces.find((namespace) => namespace.title === title)?.id;
    if (!id) continue;
    ids.set(binding, id);
    log(
      `the account already has the KV namespace \`${title}\` (${id}): this deploy binds the Worker to this namespace, with its records`,
    );
  }
  return ids;
}

/** Returns the title that wrangler gives to a namespace that it creates. */
const titleOf = (worker, binding) => `${worker}-${binding.toLowerCase().replaceAll("_", "-")}`;

/**
 * Removes the Worker as a consumer of queues that the configuration no longer names. wrangler does not do this,
 * so the Worker would still receive messages after e-mails were switched off.
 * @param {import("./cloudflare.mjs").Cloudflare} cloudflare
 * @param {Service} service `bindings`: the Worker's bindings before the deploy
 */
export async function leaveQueues(cloudflare, { worker, bindings, settings }) {
  const consumed = (settings.queues.consumers ?? []).map(({ queue }) => queue);
  const bound = bindings.flatMap(
    ({ type, name, queue_name: queue }) => (type === "queue" && name !== "LEDGER" ? queue : []), // the dashboard consumes that one
  );
  const own = [`${worker}-notifications`, `${worker}-notifications-dead`];
  const left = [...new Set([...bound, ...own])].filter((name) => !consumed.includes(name));
  if (left.length === 0) return;
  try {
    for (const { queue_id, queue_name, consumers } of await queuesNamed(cloudflare, left))
      for (const { consumer_id } of consumers.filter((consumer) => isOf(consumer, worker))) {
        const path = `/queues/${encodeURIComponent(queue_id)}/consumers/${encodeURIComponent(consumer_id)}`;
        await cloudflare.call(`remove the Worker from the queue \`${queue_name}\``, "DELETE", path);
        log(
          `the queue \`${queue_name}\` no longer delivers to ${worker}. Its messages wait until the queue is bound again or they expire`,
        );
      }
  } catch ({ message }) {
    const names = left.filter((name) => bound.includes(name)); // else there is nothing to remove
    if (names.length > 0)
      log(
        [message, "Remove the Worker from the queue by hand:", ...names.map(byHand(worker))].join(
          "\n",
        ),
      );
  }
}

async function queuesNamed(cloudflare, names) {
  const query = new URLSearchParams(names.map((name) => ["name", name]));
  const { result } = await cloudflare.call("list the queues", "GET", `/queues?${query}`);
  return result ?? [];
}

const isOf = ({ script, service }, worker) => script === worker || service === worker;

const byHand = (worker) => (name) => `  npx wrangler queues consumer remove ${name} ${worker}`;
