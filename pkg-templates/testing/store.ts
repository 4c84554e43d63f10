/* A Workers KV namespace in memory. */
import { profiles, secret } from "../../src/office/demo/development.json";
import { LANGUAGES, PREFIXES } from "../generated/service.ts";
import { coder } from "../platform.ts";
import type { RecordedTransaction } from "./types.ts";

const MOST_BYTES = 256 * 1024 * 1024;

/** An API key, its record in the form that `src/pledges/auth.rs` reads, and the units of its team. */
export interface KeyRecord {
  readonly key: string;
  readonly record: { readonly team?: string; readonly label?: string };
  readonly units: readonly string[];
}

/** Which calls of the store fail. */
export interface Failing {
  readonly readFails?: boolean;
  readonly writeFails?: boolean;
}

interface Kept {
  readonly value: Uint8Array;
  readonly metadata: { readonly mode: "test" | "live"; readonly unit: string } | null;
}

export type Store = ReturnType<typeof newStore>;

export function newStore(keys: readonly KeyRecord[], catalogue: object) {
  const records = new Map<string, Kept>();
  let bytes = 0;
  // A key can create transactions only if its record has the namespace's secret.
  const known = new Map(keys.map(({ key, record }) => [key, { ...record, secret }]));

  function put(name: string, value: Uint8Array, metadata: Kept["metadata"] = null): void {
    bytes += value.length - (records.get(name)?.value.length ?? 0);
    records.set(name, { value, metadata });
  }
  for (const mode of ["test", "live"]) put(PREFIXES.catalogue + mode, encode(catalogue));
  for (const { record, units } of keys)
    for (const unit of units) put(`${PREFIXES.member}${record.team}:${unit}`, encode({}));
  put(PREFIXES.secret, encode({ secret }));
  for (const [unit, profile] of Object.entries(profiles)) {
    put(PREFIXES.profile + unit, encode(profile));
    for (const language of LANGUAGES)
      put(`${PREFIXES.profile}${unit}_${language}`, encode({ ...profile, language }));
  }

  return {
    /**
     * Returns the KV binding for one request, which has the API key `token`. Every read of a key record returns
     * the record of `token`, because the request looks up no other key.
     *
     * The name of a key record contains a hash of the key. This hash is not checked, because most platforms can
     * compute it only with an asynchronous function.
     */
    bind: (token: string | undefined, { readFails = false, writeFails = false }: Failing = {}) => ({
      async getWithMetadata(name: string) {
        if (readFails) throw new Error("a test makes reads fail");
        const record = name.startsWith(PREFIXES.key)
          ? known.has(token!) && { value: encode(known.get(token!)) }
          : records.get(name);
        return record ? { metadata: null, ...record } : { value: null, metadata: null };
      },
      async put(name: string, value: Uint8Array, { metadata }: Pick<Kept, "metadata">) {
        if (writeFails || bytes + value.length > MOST_BYTES) throw new Error("writes fail");
        put(name, value, metadata);
      },
      async list({ prefix }: { readonly prefix: string }) {
        return {
          keys: [...records.keys()]
            .filter((name) => name.startsWith(prefix))
            .map((name) => ({ name })),
        };
      },
    }),
    labelOf: (token: string) => known.get(token)?.label,
    transactions: () =>
      [...records].filter(([name]) => name.startsWith(PREFIXES.transaction)).map(transactionOf),
  };
}

function transactionOf([name, { value, metadata }]: [string, Kept]): RecordedTransaction {
  const { mode, unit } = metadata!;
  return {
    id: name.slice(PREFIXES.transaction.length),
    unitId: unit,
    mode,
    ...JSON.parse(coder("TextDecoder").decode(value)),
  };
}

const encode = (value: unknown) => coder("TextEncoder").encode(JSON.stringify(value));
