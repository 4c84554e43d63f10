/** A namespace of Workers KV, in memory. */
import { profiles, secret } from "../../src/operator/development.json";
import { coder } from "../platform.js";

const MOST_BYTES = 256 * 1024 * 1024;
const TRANSACTION = "transaction:";

/** @param {{key: string, record: object}[]} keys @param {object} catalogue */
export function newStore(keys, catalogue) {
  const records = new Map();
  let bytes = 0;
  // A key whose record lacks the namespace's secret can't create.
  const known = new Map(keys.map(({ key, record }) => [key, { ...record, secret }]));

  function put(name, value, metadata = null) {
    bytes += value.length - (records.get(name)?.value.length ?? 0);
    records.set(name, { value, metadata });
  }
  for (const mode of ["test", "live"]) put(`catalogue:${mode}`, encode(catalogue));
  for (const [unit, profile] of Object.entries(profiles)) put(`profile:${unit}`, encode(profile));

  return {
    /**
     * The binding for one request. A key's record is not found by the hash in its name, which takes an asynchronous
     * function on most platforms: the service asks for no other key than the request's.
     */
    bind: (token, { readFails = false, writeFails = false } = {}) => ({
      async getWithMetadata(name) {
        if (readFails) throw new Error("reads are made to fail");
        const record = name.startsWith("key:")
          ? known.has(token) && { value: encode(known.get(token)) }
          : records.get(name);
        return record ? { metadata: null, ...record } : { value: null, metadata: null };
      },
      async put(name, value, { metadata }) {
        if (writeFails || bytes + value.length > MOST_BYTES) throw new Error("writes fail");
        put(name, value, metadata);
      },
    }),
    labelOf: (token) => known.get(token)?.label,
    transactions: () =>
      [...records].filter(([name]) => name.startsWith(TRANSACTION)).map(transactionOf),
  };
}

function transactionOf([
  name,
  {
    value,
    metadata: { mode, unit },
  },
]) {
  return {
    id: name.slice(TRANSACTION.length),
    unitId: unit,
    mode,
    ...JSON.parse(coder("TextDecoder").decode(value)),
  };
}

const encode = (value) => coder("TextEncoder").encode(JSON.stringify(value));
