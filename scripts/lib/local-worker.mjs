/**
 * The Worker in the local runtime. Commands send requests to this Worker, and each request calls one of its
 * functions. Commands do not use miniflare's proxies for bindings, because a proxy would block the command
 * until the runtime answers, which may never happen.
 */

/** @type {Record<string, (env: any, asked: any) => Promise<unknown>>} */
const ACTS = {
  list: ({ PLEDGES }, options) => PLEDGES.list(options),
  read: async ({ PLEDGES }, names) => Object.fromEntries(await PLEDGES.getWithMetadata(names)),
  bytes: async ({ PLEDGES }, name) => {
    const value = await PLEDGES.get(name, "arrayBuffer");
    return value && new Uint8Array(value).toBase64();
  },
  object: async (env, { binding, name }) => {
    const object = await env[binding].get(name);
    return object && new Uint8Array(await object.arrayBuffer()).toBase64();
  },
  keep: async (env, { binding, name, base64 }) => {
    await env[binding].put(name, Uint8Array.fromBase64(base64));
  },
  put: async ({ PLEDGES }, { key, value, base64, ...options }) => {
    await PLEDGES.put(key, base64 ? Uint8Array.fromBase64(value) : value, options);
  },
  delete: async ({ PLEDGES }, name) => {
    await PLEDGES.delete(name);
  },
  batch: ({ LEDGER_DB }, statements) =>
    LEDGER_DB.batch(statements.map(({ sql, params }) => LEDGER_DB.prepare(sql).bind(...params))),
  script: ({ LEDGER_DB }, sql) => LEDGER_DB.prepare(sql).run(),
};

export default {
  /**
   * Calls the function that a request names.
   * @param {Request} request its path is the function's name, and its body is JSON
   * @param {any} env
   */
  async fetch(request, env) {
    const act = new URL(request.url).pathname.slice(1);
    try {
      return Response.json((await ACTS[act](env, await request.json())) ?? null);
    } catch ({ message }) {
      return Response.json(message, { status: 500 });
    }
  },
};
