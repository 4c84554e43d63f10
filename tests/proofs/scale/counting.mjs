/** Bindings that count their calls, for Workers under measurement. */

/** The numbers of calls and rows since the last {@link taken}, by name. @type {Record<string, number>} */
let counts = {};
/** The messages that were sent to the ledger's queue. @type {unknown[]} */
let messages = [];

const add = (name, number = 1) => {
  counts[name] = (counts[name] ?? 0) + number;
};

/** Returns the counts and messages so far, and starts again. */
export function taken() {
  const answer = { counts, messages };
  counts = {};
  messages = [];
  return answer;
}

/** Returns a Worker's bindings, with counted Workers KV, database and queues. */
export const counted = (env) => ({
  ...env,
  PLEDGES: countedKv(env.PLEDGES),
  ...(env.LEDGER_DB && { LEDGER_DB: countedDatabase(env.LEDGER_DB) }),
  LEDGER: { send: async (message) => void messages.push(message) },
});

/** A read of several names counts once for each name, as Cloudflare bills it. */
const countedKv = (kv) => {
  const read =
    (method) =>
    (names, ...more) => {
      add("kvReads", [names].flat().length);
      return kv[method](names, ...more);
    };
  const call =
    (method, name) =>
    (...args) => {
      add(name);
      return kv[method](...args);
    };
  return {
    get: read("get"),
    getWithMetadata: read("getWithMetadata"),
    put: call("put", "kvWrites"),
    delete: call("delete", "kvDeletes"),
    list: call("list", "kvLists"),
  };
};

const countedDatabase = (database) => ({
  prepare: (sql) => database.prepare(sql),
  batch: async (statements) => {
    const results = await database.batch(statements);
    add("ledgerCalls");
    for (const { meta } of results) {
      add("rowsRead", meta.rows_read);
      add("rowsWritten", meta.rows_written);
    }
    return results;
  },
});
