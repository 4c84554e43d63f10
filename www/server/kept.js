/**
 * Keeps the last notifications of local development in KV for seven days. The page for developers shows
 * them.
 */
const MOST = 20;
const KEPT_SECONDS = 7 * 24 * 60 * 60;
const NAME = /^\d{16}-[0-9a-f-]{36}$/;
const LATER_THAN_ALL = 9e15; // milliseconds: names count down from it, so that the newest notification is listed first

/**
 * Stores a notification. If there are now more than the maximum number, deletes the oldest ones.
 * @param {KVNamespace} kept
 * @param {object} notification
 * @param {string} [id] the ID of the message, by which {@link isKept} finds the notification
 * @returns {Promise<string>} the name under which it is stored
 */
export async function keep(kept, notification, id) {
  const name = `${LATER_THAN_ALL - Date.now()}-${crypto.randomUUID()}`;
  const value = JSON.stringify({ ...notification, at: new Date().toISOString() });
  await kept.put(name, value, { expirationTtl: KEPT_SECONDS, metadata: { id } });
  const { keys } = await kept.list();
  await Promise.all(keys.slice(MOST).map((old) => kept.delete(old.name)));
  return name;
}

/** Whether one of the last notifications has this ID. @param {KVNamespace} kept @param {string} id */
export async function isKept(kept, id) {
  const { keys } = await kept.list({ limit: MOST });
  return keys.some(({ metadata }) => /** @type {any} */ (metadata)?.id === id);
}

/** Returns the last notifications, newest first. @param {KVNamespace} kept */
export async function listKept(kept) {
  const { keys } = await kept.list({ limit: MOST });
  const read = async ({ name }) => ({ name, .../** @type {any} */ (await kept.get(name, "json")) });
  return Promise.all(keys.map(read));
}

/** Returns one notification; null if it is not kept. @param {KVNamespace} kept @param {string} name @returns {Promise<any>} */
export const readKept = async (kept, name) => (NAME.test(name) ? kept.get(name, "json") : null);
