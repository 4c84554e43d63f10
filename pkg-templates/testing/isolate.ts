/* An instance of the compiled Worker, on a simulated platform. */
import { compile } from "#module";
import { instantiate } from "#worker";
import type { Clock } from "./clock.ts";
import type { Random } from "./random.ts";

/** The objects that the Worker uses in place of the platform's globals. */
export interface Platform {
  readonly module: WebAssembly.Module;
  readonly Date: { readonly now: () => number };
  readonly setTimeout: Clock["setTimeout"];
  readonly clearTimeout: Clock["clearTimeout"];
  readonly crypto: { readonly getRandomValues: Random };
  readonly queueMicrotask: (task: () => void) => void;
  readonly console: { log(): void; error(): void };
  readonly Headers: MapConstructor;
  readonly Response: typeof Answer;
}

/** The Worker's `fetch`. It ignores the context. */
export type WorkerFetch = (request: object, env: object, context: object) => Promise<Answer>;

/**
 * Stands in for the class `Response` in the Worker. `http.ts` creates the platform's `Response` from the
 * parts of an `Answer`.
 */
export class Answer {
  declare readonly status: number;
  declare readonly headers: Map<string, string>;
  declare readonly body: Uint8Array | undefined;

  constructor(body: unknown, { status = 200, headers = new Map<string, string>() } = {}) {
    Object.assign(this, { status, headers: new Map(headers), body }); // a copy: the Worker reuses the headers
  }

  /** Returns the body. It consists of bytes already, because the test store returns no streams. */
  async arrayBuffer() {
    return this.body;
  }
}

/** Serves a request with this ID. Rejects if the instance breaks. */
export type Isolate = (request: object, env: object, id: string) => Promise<Answer>;

export function startIsolate({ clock, random }: { clock: Clock; random: Random }): Isolate {
  const waiting = new Set<(cause: unknown) => void>(),
    resolved = Promise.resolve();
  const broke = (cause: unknown) => {
    for (const reject of waiting) reject(cause);
  };
  const fetch = instantiate({
    module: compile(),
    Date: { now: clock.now },
    setTimeout: clock.setTimeout,
    clearTimeout: clock.clearTimeout,
    crypto: { getRandomValues: random },
    queueMicrotask: (task) => void resolved.then(task).catch(broke),
    console: { log() {}, error() {} }, // tests have their own output
    Headers: Map,
    Response: Answer,
  });
  return (request, env, id) =>
    new Promise((resolve, reject) => {
      waiting.add(reject);
      fetch(request, env, { id })
        .then(resolve, reject)
        .finally(() => waiting.delete(reject));
    });
}
